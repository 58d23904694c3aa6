import type { Workflow } from "../api/types";
import { count, plain } from "../lib/format";
import { at, useParams } from "../lib/route";
import { Chips, Search } from "../ui/filter";
import { useList } from "../ui/more";
import { Head } from "../ui/shell";
import { Empty, Shown, StateDot } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

const columns: Column<Workflow>[] = [
  {
    key: "name",
    label: "Workflow",
    grow: true,
    cell: (w) => (
      <a className="clip" style={{ display: "block", color: "var(--text)", fontWeight: 500 }} href={at.workflow(w.slug)}>
        <bdi>{plain(w.name)}</bdi> {w.name !== w.slug && <span className="muted">{w.slug}</span>}
      </a>
    ),
  },
  { key: "current", label: "Version", num: true, cell: (w) => w.current },
  { key: "executions", label: "Runs", num: true, cell: (w) => count(w.executions) },
  {
    key: "last",
    label: "Last",
    cell: (w) => (w.last ? <a href={at.execution(w.last.id)}>{<StateDot state={w.last.state} />}</a> : <span className="muted">never run</span>),
  },
  { key: "pages", label: "Pages", num: true, cell: (w) => count(w.last?.stats?.pages) },
  { key: "when", label: "When", num: true, cell: (w) => <When at={w.last?.created ?? w.created} /> },
];

export default function Workflows() {
  const [params] = useParams();
  const list = useList<Workflow>("/workflows", { q: params.get("q") ?? "", archived: params.get("archived") ?? "" }, { topic: "workflows", every: 10_000 });
  return (
    <>
      <Head title="Workflows">
        <a className="button" href="#/plugins">
          Plug-ins
        </a>
        <a className="button" href="#/compose">
          Compose
        </a>
        <a className="button primary" href="#/?new=1">
          New crawl
        </a>
      </Head>
      <section>
        <div className="bar">
          <Search name="q" label="Search workflows" hint="Part of a name" />
          <Chips name="archived" label="Archived" of={[{ value: "true", word: "archived too" }]} />
        </div>
        <Shown of={list.first}>
          {() =>
            list.rows.length ? (
              <>
                <Table label="Workflows" rows={list.rows} columns={columns} id={(w) => w.id} />
                {list.more}
              </>
            ) : (
              <Empty title={params.get("q") ? "No such workflow" : "No workflow yet"}>
                <p>A workflow is a crawl that can be run again: its definition with all versions, and every execution. Each new crawl makes one.</p>
                <a className="button primary" href="#/?new=1">
                  New crawl
                </a>
              </Empty>
            )
          }
        </Shown>
      </section>
    </>
  );
}
