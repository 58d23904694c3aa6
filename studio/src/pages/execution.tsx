import { lazy, Suspense, useEffect, useState } from "react";
import { call } from "../lib/api";
import { plural } from "../lib/format";
import { at, enc, go, usePath } from "../lib/route";
import { renew, useGet } from "../lib/query";
import type { Execution } from "../api/types";
import { Act } from "../ui/act";
import { Head, Tabs } from "../ui/shell";
import { Empty, Failure, Skeleton, StateDot } from "../ui/state";
import { When } from "../ui/text";
import { Cause } from "./schedules";

const Live = lazy(() => import("./live"));
const Hosts = lazy(() => import("./hosts"));
const Urls = lazy(() => import("./urls"));
const Explain = lazy(() => import("./explain"));
const Records = lazy(() => import("./records"));
const Clusters = lazy(() => import("./clusters"));
const Rendering = lazy(() => import("./rendering"));
const Freshness = lazy(() => import("./freshness"));
const EditPage = lazy(() => import("./edit"));
const Events = lazy(() => import("./events"));

const tabs: [string, string][] = [
  ["", "Live"],
  ["hosts", "Hosts"],
  ["urls", "URLs"],
  ["explain", "Explain"],
  ["records", "Records"],
  ["clusters", "Duplicates"],
  ["rendering", "Rendering"],
  ["freshness", "Freshness"],
  ["edit", "Settings"],
  ["events", "Events"],
];

/** The frame of all pages about one execution. */
export default function ExecutionPages({ id, tab }: { id: string; tab: string }) {
  const [gone, setGone] = useState(false); // never there, or deleted: a stream that names it is refused
  const ex = useGet<Execution>(`/executions/${enc(id)}`, {}, gone ? {} : { topic: `execution:${id}`, every: 5000 });
  useEffect(() => setGone(ex.error?.status === 404), [ex.error]);
  const [path] = usePath();
  const word = tabs.find(([t]) => t === tab)?.[1];
  const x = ex.data;
  if (!x || gone) {
    return (
      <>
        <Head where={<a href="#/">Overview</a>} title={id} />
        {ex.error ? <Failure problem={ex.error} retry={ex.reload} /> : <Skeleton />}
      </>
    );
  }
  return (
    <>
      <Head
        where={
          <>
            <a href="#/">Overview</a> / <a href={at.workflow(x.slug)}>{x.slug}</a>
          </>
        }
        title={x.id}
        tab={`${x.id}${tab && word ? `: ${word}` : ""} · Whirlpool`}
        state={<StateDot state={x.state} word={x.state + (x.braked_by ? ` by ${x.braked_by}` : "")} />}
      >
        <Actions x={x} />
      </Head>
      <p className="sub">
        Version {x.version}
        {x.epoch > 1 && `, settings revised ${x.epoch === 2 ? "once" : `${x.epoch - 1} times`}`} · {x.started ? "started " : "created "}
        <When at={x.started ?? x.created} />
        {x.ended && (
          <>
            {" "}
            · ended <When at={x.ended} />
          </>
        )}
        {" "}
        · <Cause cause={x.cause} slug={x.slug} />
        {isOver(x) && x.number > 1 && (
          <>
            {" "}
            · <a href={at.compare(`${x.slug}-${x.number - 1}`, x.id)}>compare with {x.slug}-{x.number - 1}</a>
          </>
        )}
        {x.reason && <> · {x.reason}</>}
      </p>
      <Tabs
        label="Pages of this execution"
        of={tabs.map(([t, word]) => ({ href: at.execution(id) + (t && "/" + t), word, on: path.split("/")[3] === (t || undefined) }))}
      />
      <Suspense fallback={<Skeleton />}>
        {tab === "" && <Live x={x} />}
        {tab === "hosts" && <Hosts x={x} />}
        {tab === "urls" && <Urls x={x} />}
        {tab === "explain" && <Explain x={x} />}
        {tab === "records" && <Records x={x} />}
        {tab === "clusters" && <Clusters x={x} />}
        {tab === "rendering" && <Rendering x={x} />}
        {tab === "freshness" && <Freshness x={x} />}
        {tab === "edit" && <EditPage x={x} />}
        {tab === "events" && <Events x={x} />}
        {!tabs.some(([t]) => t === tab) && <Empty title="There is no such page">The address may be cut: the tabs above lead on.</Empty>}
      </Suspense>
    </>
  );
}

const ended = ["succeeded", "partial", "stopped", "failed", "cancelled"];

export const isOver = (x: Execution) => ended.includes(x.state);

/** What can be done with it in its state. */
function Actions({ x }: { x: Execution }) {
  const wish = (verb: string) => async () => {
    await call("POST", `/executions/${enc(x.id)}:${verb}`, { body: {} });
    renew(`/executions`);
  };
  const over = isOver(x);
  const drop = async () => {
    await call("DELETE", `/executions/${enc(x.id)}`, { lock: x.lock });
    renew(`/executions`);
    go(at.workflow(x.slug).slice(1));
  };
  return (
    <>
      {over && (
        <Act
          role="user"
          run={drop}
          verb="Delete"
          sure={
            <>
              <h2>Delete {x.id}?</h2>
              <p style={{ marginTop: "var(--s-3)" }}>
                Its records, figures, logs and kept pages are removed for good: {plural(x.stats?.records ?? 0, "record")}. The workflow stays.
              </p>
            </>
          }
        >
          Delete
        </Act>
      )}
      {!over && !["finalizing", "cancelling"].includes(x.state) && (
        <Act
          role="user"
          run={wish("cancel")}
          verb="Cancel it"
          sure={
            <>
              <h2>Cancel {x.id}?</h2>
              <p style={{ marginTop: "var(--s-3)" }}>
                {x.progress ? `${plural(x.progress.queued, "queued URL")} will not be asked for. ` : ""}
                It cannot be resumed, and no audit is made of it. To keep that possible, stop it instead.
              </p>
            </>
          }
        >
          Cancel
        </Act>
      )}
      {!over && !["stopping", "finalizing", "cancelling"].includes(x.state) && (
        <Act
          role="user"
          run={wish("stop")}
          verb="Stop"
          sure={
            <>
              <h2>Stop {x.id}?</h2>
              <p style={{ marginTop: "var(--s-3)" }}>
                What is in flight is finished, figures and audit are made, and what was found stays. It can be resumed later.
              </p>
            </>
          }
        >
          Stop
        </Act>
      )}
      {["running", "starting", "pending"].includes(x.state) && (
        <Act role="user" run={wish("pause")}>
          Pause
        </Act>
      )}
      {["paused", "pausing"].includes(x.state) && (
        <Act role="user" kind="primary" run={wish("resume")}>
          Resume
        </Act>
      )}
      {over && x.state !== "cancelled" && (
        <Act role="user" run={wish("resume")}>
          Resume
        </Act>
      )}
    </>
  );
}
