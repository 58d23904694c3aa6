import type { Audited } from "../api/types";
import { plain } from "../lib/format";
import { useParams } from "../lib/route";
import { useList } from "../ui/more";
import { Head } from "../ui/shell";
import { Empty, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

/** Who did what, or tried to. */
export default function Audit() {
  const [params, set] = useParams();
  const refused = params.get("refused") === "true";
  const actor = params.get("actor") ?? "";
  const { first, rows, more } = useList<Audited>("/audit", { refused: refused || undefined, actor }, { every: 10_000 });
  const columns: Column<Audited>[] = [
    { key: "at", label: "When", cell: (a) => <When at={a.at} /> },
    {
      key: "who",
      label: "Who",
      cell: (a) => (
        <span className="nowrap">
          {a.actor ? plain(a.actor) : <span className="muted">nobody signed in</span>}
          <span className="small muted" style={{ display: "block" }}>
            {plain([a.role, a.via, a.from].filter(Boolean).join(" · "))}
          </span>
        </span>
      ),
    },
    {
      key: "what",
      label: "What",
      grow: true,
      cell: (a) => (
        <span style={{ overflowWrap: "anywhere" }}>
          <strong>{plain(a.action || "request")}</strong> <code className="small">{plain(`${a.method ?? ""} ${a.path ?? ""}`)}</code>
          {a.change !== undefined && (
            <code className="small muted clip" style={{ display: "block" }}>
              {plain(JSON.stringify(a.change))}
            </code>
          )}
        </span>
      ),
    },
    {
      key: "status",
      label: "Answer",
      num: true,
      cell: (a) => <span className={a.status === 401 || a.status === 403 || a.status === 429 ? "word-bad" : undefined}>{a.status}</span>,
    },
  ];
  return (
    <>
      <Head title="Audit log">
        <a href="#/access">Users and keys</a>
      </Head>
      <div className="bar" style={{ marginTop: "var(--s-4)" }}>
        <label className="field">
          <span>Who</span>
          <input value={actor} onChange={(e) => set({ actor: e.target.value })} placeholder="user or key:name" />
        </label>
        <label>
          <input type="checkbox" checked={refused} onChange={(e) => set({ refused: e.target.checked ? "true" : "" })} /> Refused only
        </label>
      </div>
      <Shown of={first}>
        {() => (
          <section>
            {rows.length ? <Table label="Audit log" rows={rows} columns={columns} id={(a) => String(a.id)} /> : <Empty title="Nothing here">Changes and refusals stand here from now on.</Empty>}
            {more}
          </section>
        )}
      </Shown>
    </>
  );
}
