import type { Cluster, ClusterWhole, Execution } from "../api/types";
import { count, plain, plural } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Constellation } from "../pictures/constellation";
import { Chips } from "../ui/filter";
import { useList } from "../ui/more";
import { Panel } from "../ui/panel";
import { Empty, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Url } from "../ui/text";

const columns = (id: string): Column<Cluster>[] => [
  {
    key: "title",
    label: "Original",
    grow: true,
    cell: (c) => (
      <div style={{ minWidth: 0, padding: "4px 0" }}>
        <a className="clip" style={{ display: "block", color: "var(--text)", fontWeight: 500 }} href={at.clusters(id, c.id)}>
          {plain(c.title) || "Without a title"}
        </a>
        <span className="small">
          <Url url={c.url} />
        </span>
      </div>
    ),
  },
  { key: "size", label: "Pages", num: true, cell: (c) => count(c.size) },
  { key: "exact", label: "Exact", num: true, cell: (c) => (c.exact ? count(c.exact) : "") },
  { key: "near", label: "Near", num: true, cell: (c) => (c.near ? count(c.near) : "") },
  { key: "hosts", label: "Hosts", num: true, cell: (c) => count(c.hosts) },
];

/** Groups of pages that are copies of one another. */
export default function Clusters({ x }: { x: Execution }) {
  const [params, set] = useParams();
  const query = { similarity: params.get("similarity") ?? "", distance: params.get("distance") ?? "" };
  const list = useList<Cluster>(`/executions/${enc(x.id)}/clusters`, query, { topic: `execution:${x.id}` });
  const open = params.get("cluster");
  return (
    <section>
      <div className="bar">
        <Chips
          name="similarity"
          label="Similarity"
          of={[
            { value: "exact", word: "exact copies" },
            { value: "near", word: "near copies" },
          ]}
        />
        <label className="small muted">
          Bits that may differ
          <input
            type="range"
            min={0}
            max={7}
            value={query.distance || 0}
            onChange={(e) => set({ distance: e.target.value === "0" ? undefined : e.target.value, similarity: e.target.value === "0" ? undefined : "near" })}
          />
          <span className="num" style={{ minWidth: "3ch" }}>
            {query.distance || "all"}
          </span>
        </label>
      </div>
      <Shown of={list.first}>
        {() =>
          list.rows.length ? (
            <>
              <Table label="Groups of copies" rows={list.rows} columns={columns(x.id)} id={(c) => c.id} selected={open ?? undefined} />
              {list.more}
            </>
          ) : (
            <Empty title="No copies">
              <p>Pages with the same bytes, and pages whose texts hardly differ, stand here in groups, each with its original.</p>
              {list.more}
            </Empty>
          )
        }
      </Shown>
      {open && <One x={x} id={open} close={() => set({ cluster: undefined })} />}
    </section>
  );
}

function One({ x, id, close }: { x: Execution; id: string; close: () => void }) {
  const whole = useGet<ClusterWhole>(`/executions/${enc(x.id)}/clusters/${enc(id)}`, { limit: 200 });
  return (
    <Panel title={plain(whole.data?.title) || "Copies"} close={close}>
      <Shown of={whole}>
        {(c) => (
          <>
            <p style={{ marginTop: "var(--s-3)" }}>
              {plural(c.size, "page")} on {plural(c.hosts, "host")}: {count(c.exact)} exact, {count(c.near)} near. Choose one to see its text beside the
              original's.
            </p>
            <Constellation x={x} cluster={c} />
          </>
        )}
      </Shown>
    </Panel>
  );
}
