import { useEffect, useState } from "react";
import type { Alert, Execution } from "../api/types";
import { count, duration, plain, plural, rate } from "../lib/format";
import { useTold } from "../lib/live";
import { useGet } from "../lib/query";
import { at, useParams } from "../lib/route";
import type { ListOf } from "../ui/more";
import { Head } from "../ui/shell";
import { Failure, Notice, Shown, Skeleton, StateDot } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";
import { NewCrawl } from "./newcrawl";

const alive = ["starting", "running", "pausing", "paused", "stopping", "cancelling", "finalizing"];

const ended = ["succeeded", "partial", "stopped", "failed", "cancelled"];
const waitingShown = 10;

const name: Column<Execution> = {
  key: "id",
  label: "Execution",
  grow: true,
  cell: (x) => (
    <a href={at.execution(x.id)} className="clip" style={{ display: "block", color: "var(--text)", fontWeight: 500 }}>
      {x.id}
    </a>
  ),
};

const state: Column<Execution> = {
  key: "state",
  label: "State",
  cell: (x) => <StateDot state={x.state} word={x.state + (x.braked_by ? ` by ${x.braked_by}` : "")} />,
};

const running: Column<Execution>[] = [
  name,
  state,
  { key: "pages", label: "Pages", num: true, cell: (x) => <Live id={x.id} of="pages" /> },
  { key: "rate", label: "Pages/s", num: true, cell: (x) => <Live id={x.id} of="rate" /> },
  { key: "queued", label: "Queued", num: true, cell: (x) => <Live id={x.id} of="queued" /> },
  { key: "left", label: "Left", num: true, cell: (x) => <Live id={x.id} of="left" /> },
  { key: "since", label: "Since", num: true, cell: (x) => <When at={x.started ?? x.created} /> },
];

interface Told {
  data: { execution: string; data: { pages: number; queued: number; pages_per_second: number; eta_s?: number } }[];
}

/** A live figure of a row. All rows are told of by one event. */
function Live({ id, of }: { id: string; of: "pages" | "rate" | "queued" | "left" }) {
  const told = useTold<Told>("executions", "progress");
  const p = told?.data.find((t) => t.execution === id)?.data;
  if (!p) return <span className="muted">–</span>;
  const text = {
    pages: () => count(p.pages),
    rate: () => rate(p.pages_per_second),
    queued: () => count(p.queued),
    left: () => (p.eta_s ? "~" + duration(p.eta_s * 1000) : "–"),
  }[of]();
  return <span style={{ display: "inline-block", minWidth: "6ch" }}>{text}</span>;
}

const recent: Column<Execution>[] = [
  name,
  state,
  { key: "pages", label: "Pages", num: true, cell: (x) => count(x.stats?.pages) },
  { key: "failed", label: "Failed", num: true, cell: (x) => failed(x) },
  { key: "took", label: "Took", num: true, cell: (x) => (x.stats ? duration(x.stats.duration_s * 1000) : "") },
  {
    key: "audit",
    label: "Audit",
    cell: (x) =>
      x.audit ? (
        <a href={at.events(x.id)} className={x.audit.ok ? "word-good" : "word-bad"}>
          {x.audit.ok ? "sound" : plural(x.audit.faults?.length ?? 0, "fault")}
        </a>
      ) : (
        ""
      ),
  },
  { key: "ended", label: "Ended", num: true, cell: (x) => <When at={x.ended} /> },
];

function failed(x: Execution) {
  const v = x.stats?.verdicts ?? {};
  const n = (v["failed"] ?? 0) + (v["gone"] ?? 0) + (v["refused"] ?? 0) + (v["blocked"] ?? 0);
  return n ? <a href={at.urls(x.id, { state: "failed" })}>{count(n)}</a> : "";
}

/** What runs, what needs somebody, what ended lately; of an empty studio: one field. */
export function Overview() {
  const [params] = useParams();
  const renewal = { topic: "executions", every: 5000 };
  // Lists of their own: hundreds that wait for their turn would hide what runs, and what has ended.
  const list = useGet<ListOf<Execution>>("/executions", { limit: 100, state: ended.join(",") }, renewal);
  const living = useGet<ListOf<Execution>>("/executions", { limit: 200, state: alive.join(",") }, renewal);
  const waiting = useGet<ListOf<Execution>>("/executions", { limit: waitingShown, state: "pending" }, renewal);
  const alerts = useGet<ListOf<Alert>>("/alerts", {}, { every: 10_000 });
  const firing = (alerts.data?.items ?? []).filter((a) => a.state === "firing").slice(0, 5);
  const [open, setOpen] = useState(params.get("new") === "1");
  const over = list.data?.items ?? [];
  const now = living.data?.items ?? [];
  const next = waiting.data?.items ?? [];
  const nowAll = Math.max(now.length, living.data?.total ?? 0);
  const nextAll = Math.max(next.length, waiting.data?.total ?? 0);
  const braked = now.find((x) => x.braked_by && x.braked_by !== "quota")?.braked_by; // disk or memory: that concerns all
  const needs = over.filter((x) => x.state === "failed" || x.state === "partial").slice(0, 5);
  const tab = nowAll + nextAll ? `(${nowAll + nextAll}) Whirlpool` : "Whirlpool";
  useEffect(() => {
    document.title = tab; // where there is no head
  }, [tab]);
  const missing = [list, living, waiting].find((l) => !l.data); // "nothing runs" is not said before it is known
  if (missing) {
    return (
      <>
        <Head title="Overview" tab={tab} />
        {missing.error ? <Failure problem={missing.error} retry={missing.reload} /> : <Skeleton />}
      </>
    );
  }
  return (
    <Shown of={list}>
      {() =>
        over.length + now.length + next.length === 0 ? (
          <NewCrawl first />
        ) : (
          <>
            <Head title="Overview" tab={tab}>
              <button type="button" className="primary" aria-expanded={open} onClick={() => setOpen(!open)}>
                New crawl
              </button>
            </Head>
            {open && (
              <section>
                <NewCrawl first={false} />
              </section>
            )}
            <section>
              <div className="section-head">
                <h2>{nowAll ? plural(nowAll, "execution") + " under way" : "Nothing runs"}</h2>
                {nextAll > 0 && <span className="muted small">{count(nextAll)} {nowAll > 0 && "more "}{nextAll === 1 ? "waits for its" : "wait for their"} turn</span>}
              </div>
              {braked && (
                <div style={{ margin: "calc(-1 * var(--s-2)) 0 var(--s-4)" }}>
                  <Notice tone="wait">
                    Held by the {braked} guard; what is held goes on by itself when there is room again. <a href="#/nodes">See the node</a>
                  </Notice>
                </div>
              )}
              {now.length + next.length > 0 && <Table label="Executions under way" rows={[...now, ...next]} columns={running} id={(x) => x.id} />}
              {nowAll > now.length && <p className="muted small" style={{ marginTop: "var(--s-3)" }}>The {now.length} newest of them are shown.</p>}
              {nextAll > next.length && (
                <p className="muted small" style={{ marginTop: "var(--s-3)" }}>
                  And {count(nextAll - next.length)} more that wait. How many run at once: <a href="#/settings">max_running</a>
                </p>
              )}
            </section>
            {needs.length + firing.length > 0 && (
              <section>
                <div className="section-head">
                  <h2>Needs attention</h2>
                </div>
                <ul style={{ display: "grid", gap: "var(--s-2)" }}>
                  {firing.map((a) => (
                    <li key={a.rule + a.subject}>
                      <span className={`dot ${a.severity === "info" ? "wait" : "bad"}`}>{a.severity}</span> <a href="#/alerts">{plain(a.subject)}</a>{" "}
                      <span className="muted">{plain(a.text)}</span>
                    </li>
                  ))}
                  {needs.map((x) => (
                    <li key={x.id}>
                      <StateDot state={x.state} /> <a href={at.execution(x.id)}>{x.id}</a>{" "}
                      <span className="muted">{x.reason ?? (x.audit && !x.audit.ok ? x.audit.faults?.[0] : "")}</span>
                    </li>
                  ))}
                </ul>
              </section>
            )}
            {over.length > 0 && (
              <section>
                <div className="section-head">
                  <h2>Ended</h2>
                  <a className="right small" href="#/w">
                    All by workflow
                  </a>
                </div>
                <Table label="Executions that ended" rows={over.slice(0, 20)} columns={recent} id={(x) => x.id} />
              </section>
            )}
          </>
        )
      }
    </Shown>
  );
}
