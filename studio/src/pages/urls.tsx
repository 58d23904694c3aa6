import type { Execution, Task, TaskCounts } from "../api/types";
import { count, duration, size } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Chips, Search, Set } from "../ui/filter";
import { useCaughtUp, useList } from "../ui/more";
import { Empty, Shown, StateDot } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Copy, Url, When } from "../ui/text";

const states = ["scheduled", "active", "done", "failed", "timed_out", "interrupted", "excluded"];

const columns = (id: string): Column<Task>[] => [
  {
    key: "url",
    label: "URL",
    grow: true,
    cell: (t) => (
      <span style={{ display: "flex", alignItems: "center" }}>
        <Url url={t.url} href={at.explain(id, t.url)} />
        <Copy text={t.url} />
      </span>
    ),
  },
  { key: "state", label: "State", cell: (t) => <StateDot state={t.state} /> },
  { key: "status", label: "Status", num: true, cell: (t) => (t.status ? t.status : "") },
  { key: "reason", label: "Why", cell: (t) => <span className="muted nowrap">{t.reason ?? ""}</span> },
  { key: "depth", label: "Depth", num: true, cell: (t) => t.depth },
  { key: "bytes", label: "Size", num: true, cell: (t) => (t.bytes ? size(t.bytes) : "") },
  { key: "ms", label: "Took", num: true, cell: (t) => (t.ms ? duration(t.ms) : "") },
  { key: "at", label: "When", num: true, cell: (t) => (t.at ? <When at={t.at} /> : "") },
];

/** Every URL that was met, by what became of it. */
export default function Urls({ x }: { x: Execution }) {
  const [params] = useParams();
  const path = `/executions/${enc(x.id)}`;
  const topic = `execution:${x.id}`;
  const counts = useGet<TaskCounts>(path + "/task-counts", {}, { topic });
  useCaughtUp(counts);
  const query = Object.fromEntries(["state", "host", "verdict", "reason", "kind", "depth", "status", "q"].map((k) => [k, params.get(k) ?? ""]));
  const list = useList<Task>(path + "/tasks", query, { topic });
  const n = (s: string) => counts.data?.states?.find((c) => c.value === s)?.count ?? 0;
  return (
    <section>
      <div className="bar">
        <Search name="q" label="Search URLs" hint="Start of a URL, or a part of one" />
        <Chips name="state" label="State" of={states.filter((s) => n(s) > 0).map((s) => ({ value: s, word: s.replaceAll("_", " "), n: n(s) }))} />
      </div>
      {(params.get("state") === "excluded" || params.get("state") === "failed" || params.get("reason")) && (
        <div className="bar">
          <Chips name="reason" label="Reason" of={(counts.data?.reasons ?? []).slice(0, 12).map((c) => ({ value: c.value, n: c.count }))} />
        </div>
      )}
      <Set names={{ host: "host", verdict: "verdict", reason: "reason", kind: "kind", depth: "depth", status: "status" }} />
      <Shown of={list.first}>
        {() =>
          list.rows.length ? (
            <>
              <Table label="URLs" rows={list.rows} columns={columns(x.id)} id={(t) => t.key || t.url} />
              {list.more}
            </>
          ) : (
            <Empty title={Object.values(query).some(Boolean) ? "No such URL" : "No URL yet"}>
              <p>
                {Object.values(query).some(Boolean)
                  ? `${count(n("done"))} were answered so far. Take a filter back, or search for a part of the address.`
                  : "A URL stands here within seconds after it was asked for, or left out."}
              </p>
              {list.more}
            </Empty>
          )
        }
      </Shown>
    </section>
  );
}
