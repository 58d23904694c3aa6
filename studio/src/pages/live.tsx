import { useEffect, useMemo, useRef, useState } from "react";
import type { Execution, Host, LogLine, Series, Status, Whirl } from "../api/types";
import { useNow } from "../lib/clock";
import { ago, count, duration, plural, rate, size } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Chart } from "../pictures/chart";
import { WhirlPicture } from "../pictures/whirl";
import { Figure, Figures } from "../ui/figure";
import { IndexNote, useCaughtUp, type ListOf } from "../ui/more";
import { Empty, Notice, Shown, Skeleton, StateDot } from "../ui/state";
import { Url, When } from "../ui/text";
import { isOver } from "./execution";
import { whyWords } from "./hosts";

/** What a crawl does at this moment. */
export default function Live({ x }: { x: Execution }) {
  const path = `/executions/${enc(x.id)}`;
  const over = isOver(x);
  const renewal = over ? {} : { topic: `execution:${x.id}`, every: 2000 };
  const status = useGet<Status>(path + "/status", {}, renewal);
  const answer = useGet<Series>(path + "/series", {}, renewal);
  const series = useMemo(() => (answer.data ? whole(answer.data) : undefined), [answer.data]);
  return (
    <>
      <Verdict x={x} />
      {x.state === "pending" ? (
        <Empty title="It waits for a free place">
          <p>{x.reason ?? "Others run. It starts by itself as soon as one of them ends; Settings has how many may run at once."}</p>
        </Empty>
      ) : (
        <Shown of={status}>
          {(s) => (
            <>
              <Now x={x} s={s} series={series} />
              <div className="cols" style={{ marginTop: "var(--s-6)" }}>
                <Rings x={x} over={over} />
                <Charts series={series} over={over} />
              </div>
              <div className="cols">
                <Waiting x={x} over={over} />
                <LeftOut x={x} s={s} />
              </div>
              <Tail x={x} over={over} />
            </>
          )}
        </Shown>
      )}
    </>
  );
}

/** Columns that are empty may be null. */
function whole(s: Series): Series {
  return Object.fromEntries(Object.entries(s).map(([k, v]) => [k, k === "step_s" ? v : (v ?? [])])) as unknown as Series;
}

/** What was made of it: the audit's verdict, or why it stands still. */
function Verdict({ x }: { x: Execution }) {
  if (x.state === "partial" || (x.audit && !x.audit.ok)) {
    return (
      <Notice tone="bad">
        <strong>Ended, and something is missing.</strong>{" "}
        {x.reason ?? ""} {x.audit?.faults?.slice(0, 3).map((f, i) => <div key={i}>{f}</div>)}
      </Notice>
    );
  }
  if (x.state === "failed") {
    return (
      <Notice tone="bad">
        <strong>It could not go on.</strong> {x.reason} What was found stays; Resume tries again.
      </Notice>
    );
  }
  if (x.braked_by) {
    return (
      <Notice tone="wait">
        <strong>Paused by {x.braked_by === "disk" ? "the disk guard" : x.braked_by}.</strong> {x.reason} It goes on by itself.
      </Notice>
    );
  }
  if (x.progress?.away) {
    return (
      <Notice tone="wait">
        <strong>The broker of {x.progress.away} does not answer.</strong> What waits there is not counted, and is fetched when it answers again.
      </Notice>
    );
  }
  if (x.state === "succeeded" && x.stats?.pages === 0) {
    return (
      <Notice tone="wait">
        <strong>Ended without a page.</strong> {x.reason} <a href={at.urls(x.id)}>Look at its URLs and their reasons</a>
      </Notice>
    );
  }
  if (x.state === "succeeded" && x.audit?.ok) {
    return (
      <Notice tone="good">
        <strong>Done.</strong> The audit found every URL in one state and every record as it was stored.{" "}
        <a href={at.records(x.id)}>Look at the records</a>
      </Notice>
    );
  }
  return null;
}

function sum(of: Record<string, number> | null | undefined, keys?: string[]): number {
  return Object.entries(of ?? {}).reduce((n, [k, v]) => n + (!keys || keys.includes(k) ? v : 0), 0);
}

const failures = ["failed", "gone", "refused", "blocked"];

function Now({ x, s, series }: { x: Execution; s: Status; series?: Series }) {
  const last = series ? series.at.length - 1 : -1;
  const before = series ? series.at.findIndex((t) => t >= (series.at[last] ?? 0) - 60) : -1;
  const young = (series?.at[last] ?? 0) - Date.parse(x.started ?? "") / 1000 < 60; // what came before the first sample is not told
  const gained = last > 0 && before >= 0 && !young ? (series!.pages[last] ?? 0) - (series!.pages[before] ?? 0) : undefined;
  const left = s.max_pages > 0 ? s.max_pages - s.pages : undefined;
  const rest = Math.min(s.queued + s.in_flight, left ?? Infinity); // as far as it is known
  const over = isOver(x);
  const pace = x.progress?.pages_per_second ?? s.pages_per_second;
  return (
    <Figures label="Figures of this execution">
      <Figure
        label="Pages"
        value={count(s.pages)}
        href={at.urls(x.id, { state: "done", kind: "page" })}
        diff={gained !== undefined && !over ? `+${count(gained)} in a minute` : left !== undefined ? `of ${count(s.max_pages)} at most` : ""}
      />
      <Figure
        label="Rate"
        value={over ? "–" : rate(pace)}
        unit="pages/s"
        width={11}
        diff={!over && rest && pace ? `~${duration((1000 * rest) / pace)} left` : ""}
      />
      <Figure label="Queued" value={count(s.queued)} href={at.urls(x.id, { state: "scheduled" })} diff={s.retries_waiting ? `${count(s.retries_waiting)} wait for a retry` : ""} />
      <Figure label="In flight" value={count(s.in_flight)} href={at.urls(x.id, { state: "active" })} diff={plural(s.active_hosts, "active host")} width={5} />
      <Figure label="Failed" value={count(sum(s.verdicts, failures))} href={at.urls(x.id, { state: "failed" })} diff={s.dead_letters ? `${plural(s.dead_letters, "dead letter")}` : ""} />
      <Figure label="Left out" value={count(sum(s.excluded))} href={at.urls(x.id, { state: "excluded" })} diff="each with its reason" />
    </Figures>
  );
}

function Rings({ x, over }: { x: Execution; over: boolean }) {
  const path = `/executions/${enc(x.id)}`;
  const renewal = over ? {} : { every: 3000 };
  const whirl = useGet<Whirl>(path + "/whirl", {}, renewal);
  useCaughtUp(whirl);
  const hosts = useGet<ListOf<Host>>(path + "/hosts", { sort: "-queued", limit: 200 }, renewal);
  return (
    <Shown of={whirl}>
      {(w) => (
        <div>
          <WhirlPicture id={x.id} whirl={w} hosts={over ? [] : (hosts.data?.items ?? [])} />
          {over && (
            <p className="small">
              <IndexNote index={w.index} />
            </p>
          )}
        </div>
      )}
    </Shown>
  );
}

const spans: Record<string, number> = { "5 min": 300, "1 h": 3600, all: 0 };

/** The last seconds of a series; 0: all of it. */
function since(s: Series, seconds: number): Series {
  const last = s.at[s.at.length - 1] ?? 0;
  const from = seconds ? s.at.findIndex((t) => t >= last - seconds) : 0;
  if (from <= 0) return s;
  const cut = Object.fromEntries(Object.entries(s).map(([k, v]) => [k, Array.isArray(v) ? v.slice(from) : v]));
  return { ...(cut as unknown as Series), gaps: (s.gaps ?? []).map((i) => i - from).filter((i) => i > 0) };
}

/** How far back the charts reach. It stands in the address, and is offered when there is more than the shortest. */
function Spans({ at, span }: { at: number[]; span: string }) {
  const [, set] = useParams();
  if ((at[at.length - 1] ?? 0) - (at[0] ?? 0) <= 300) return null;
  return (
    <div className="chips" role="group" aria-label="How far back">
      {Object.keys(spans).map((name) => (
        <button key={name} type="button" className="chip" aria-pressed={name === span} onClick={() => set({ span: name === "all" ? "" : name })}>
          {name}
        </button>
      ))}
    </div>
  );
}

function Charts({ series, over }: { series?: Series; over: boolean }) {
  const [params] = useParams();
  const span = params.get("span") ?? "all";
  if (!series) return <Skeleton />;
  const none: Series = { ...series, at: [], pages_s: [], known: [], done: [] };
  const s = series.at.length > 1 ? since(series, spans[span] ?? 0) : none;
  const last = s.at.length - 1;
  const gaps = s.gaps ?? [];
  const mean = s.pages_s.length ? s.pages_s.reduce((a, b) => a + b, 0) / s.pages_s.length : 0;
  if (over && last < 0) return <p className="muted">Figures of its course are kept while it runs, and were not kept over a restart.</p>;
  const classes: [string, string, number[]][] = [
    ["2xx", "var(--c2)", s.c2xx],
    ["3xx", "var(--c3)", s.c3xx],
    ["4xx", "var(--c4)", s.c4xx],
    ["5xx", "var(--c5)", s.c5xx],
    ["none", "var(--c0)", s.none],
  ];
  const seen = classes.filter(([name, , v]) => name === "2xx" || (v[last] ?? 0) > 0);
  return (
    <div style={{ display: "grid", gap: "var(--s-6)", alignContent: "start", minWidth: 0 }}>
      <Spans at={series.at} span={span} />
      <Chart
        title="Pages a second"
        at={s.at}
        gaps={gaps}
        lines={[{ name: "pages/s", colour: "var(--accent)", values: s.pages_s }]}
        summary={`Pages a second: ${rate(s.pages_s[last])} now, ${rate(mean)} on average`}
      />
      <Chart
        title="Known and done"
        unit="URLs"
        whole
        at={s.at}
        gaps={gaps}
        lines={[
          { name: "known", colour: "var(--mark)", values: s.known },
          { name: "done", colour: "var(--accent)", values: s.done },
        ]}
        summary={`${count(s.known[last])} URLs known, ${count(s.done[last])} of them done`}
      />
      <Chart
        title="Answers by class"
        whole
        named
        at={s.at}
        gaps={gaps}
        lines={seen.map(([name, colour, values]) => ({ name, colour, values: last < 0 ? [] : values }))}
        summary={"Answers: " + seen.map(([name, , v]) => `${name} ${count(v[last])}`).join(", ")}
      />
    </div>
  );
}

function Waiting({ x, over }: { x: Execution; over: boolean }) {
  const hosts = useGet<ListOf<Host>>(`/executions/${enc(x.id)}/hosts`, { sort: "-queued", limit: 200 }, over ? {} : { every: 3000 });
  const now = useNow();
  const rows = (hosts.data?.items ?? []).filter((h) => h.queued > 0).slice(0, 8);
  const by = new Map<string, number>();
  for (const h of hosts.data?.items ?? []) if (h.queued > 0 && h.why) by.set(h.why, (by.get(h.why) ?? 0) + 1);
  return (
    <section>
      <div className="section-head">
        <h2>Hosts and what they wait for</h2>
        <a className="right small" href={at.hosts(x.id)}>
          All hosts
        </a>
      </div>
      {by.size > 0 && (
        <p className="small muted" style={{ marginBottom: "var(--s-2)" }}>
          {[...by].map(([w, n]) => `${whyWords[w] ?? w}: ${count(n)}`).join(" · ")}
        </p>
      )}
      {rows.length === 0 ? (
        <p className="muted">{over ? "Nothing waits any more." : "No host waits."}</p>
      ) : (
        <ul style={{ display: "grid" }}>
          {rows.map((h) => (
            <li key={h.key} style={{ display: "grid", gridTemplateColumns: "minmax(8ch, 1fr) minmax(0, auto) 6ch", gap: "var(--s-3)", alignItems: "center", minHeight: "var(--row)", borderBottom: "1px solid color-mix(in oklch, var(--line) 55%, transparent)" }}>
              <a className="clip" style={{ color: "var(--text)" }} href={at.host(x.id, h.key)}>
                {h.key}
              </a>
              <span className="small muted clip" title={h.text}>
                {h.in_flight ? "being asked" : (whyWords[h.why ?? ""] ?? h.why)}
                {h.until && Date.parse(h.until) > now ? `, ${ago(h.until, now)}` : ""}
              </span>
              <span className="num">
                {count(h.queued)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function LeftOut({ x, s }: { x: Execution; s: Status }) {
  const reasons = Object.entries(s.excluded ?? {}).sort((a, b) => b[1] - a[1]);
  const most = reasons[0]?.[1] ?? 1;
  return (
    <section>
      <div className="section-head">
        <h2>Left out, by reason</h2>
      </div>
      {reasons.length === 0 ? (
        <p className="muted">Nothing was left out so far.</p>
      ) : (
        <ul>
          {reasons.slice(0, 8).map(([reason, n]) => (
            <li key={reason} style={{ display: "grid", gridTemplateColumns: "minmax(9ch, 16ch) 1fr 8ch", gap: "var(--s-3)", alignItems: "center", minHeight: "var(--row)" }}>
              <a className="clip" href={at.urls(x.id, { state: "excluded", reason })}>
                {reason}
              </a>
              <span aria-hidden="true" style={{ height: 6, width: `${Math.max(1, (100 * n) / most)}%`, background: "var(--mark)", borderRadius: 1 }} />
              <span className="num">{count(n)}</span>
            </li>
          ))}
        </ul>
      )}
      {s.files && s.files.length > 0 && (
        <p className="small muted" style={{ marginTop: "var(--s-3)" }}>
          On disk: {s.files.map((f) => `${f.name} ${size(f.bytes)}`).join(" · ")}
        </p>
      )}
    </section>
  );
}

/** The last lines of its log. It can be held, so that one can read. */
function Tail({ x, over }: { x: Execution; over: boolean }) {
  const [held, setHeld] = useState(false);
  const list = useGet<ListOf<LogLine>>("/logs", { execution: x.id, source: "crawl", limit: 12 }, over || held ? {} : { every: 1500 });
  const rows = useRef<LogLine[]>([]);
  useEffect(() => {
    if (!held && list.data) rows.current = list.data.items;
  });
  const items = held ? rows.current : (list.data?.items ?? []);
  return (
    <section>
      <div className="section-head">
        <h2>{over ? "Last of all" : "Now"}</h2>
        {!over && (
          <button type="button" className="plain small" aria-pressed={held} onClick={() => setHeld(!held)}>
            {held ? "Go on" : "Hold"}
          </button>
        )}
        <a className="right small" href={`#/logs?execution=${enc(x.id)}`}>
          The whole log
        </a>
      </div>
      <ul className="tail" style={{ minHeight: `calc(${over ? 4 : 12} * 28px)` }}>
        {items.slice(0, 12).map((l) => (
          <li key={l.id}>
            <span className="muted small">
              <When at={l.at} form="time" />
            </span>
            <Url url={l.url ?? l.message} href={l.url ? at.explain(x.id, l.url) : undefined} />
            <span className="clip">
              <StateDot state={l.verdict ?? ""} word={word(l)} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function word(l: LogLine): string {
  const reason = (l.fields as Record<string, unknown> | undefined)?.["reason"];
  if (l.status) return `${l.status}${typeof reason === "string" && reason ? " " + reason : ""}`;
  return typeof reason === "string" && reason ? reason : (l.verdict ?? "");
}
