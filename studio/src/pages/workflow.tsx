import { useEffect, useState } from "react";
import type { Checked, Execution, Version, VersionDiff, Workflow } from "../api/types";
import { forget, keep, kept } from "../composer/draft";
import { Later } from "../composer/save";
import { call, Problem } from "../lib/api";
import { count, duration, plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { at, enc, go, useParams } from "../lib/route";
import { Act } from "../ui/act";
import { useList } from "../ui/more";
import { Panel } from "../ui/panel";
import { Head } from "../ui/shell";
import { Schedules } from "./schedules";
import { Empty, Failure, Shown, Skeleton, StateDot } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

/** A workflow: its executions, two of which can be compared, and its versions. */
export default function WorkflowPage({ slug }: { slug: string }) {
  const path = `/workflows/${enc(slug)}`;
  const w = useGet<Workflow>(path, {}, { topic: "workflows", every: 5000 });
  const [params, set] = useParams();
  const run = async () => {
    const x = await call<Execution>("POST", path + ":run", { body: {} });
    renew("/executions");
    go(at.execution(x.id).slice(1));
  };
  if (!w.data) {
    return (
      <>
        <Head where={<a href="#/w">Workflows</a>} title={slug} />
        {w.error ? <Failure problem={w.error} retry={w.reload} /> : <Skeleton />}
      </>
    );
  }
  return (
    <Shown of={w}>
      {(w) => (
        <>
          <Head where={<a href="#/w">Workflows</a>} title={plain(w.name)} state={w.archived ? <StateDot state="archived" /> : undefined}>
            <Act
              role="user"
              run={async () => {
                await call("PATCH", path, { lock: w.lock, body: { archived: !w.archived } });
                renew("/workflows");
              }}
            >
              {w.archived ? "Take out of the archive" : "Archive"}
            </Act>
            <a className="button" href={at.composer(w.slug)}>
              Compose
            </a>
            <a className="button" href={at.dryRun({ workflow: w.slug })}>
              Dry run
            </a>
            <button type="button" onClick={() => set({ edit: "1" }, true)}>
              Edit
            </button>
            <Act role="user" kind="primary" run={run} disabled={!!w.archived}>
              Run
            </Act>
          </Head>
          <p className="sub">
            {w.slug} · version {w.current} · {w.executions ? `run ${w.executions === 1 ? "once" : `${count(w.executions)} times`}` : "never run"}
          </p>
          <Schedules w={w} />
          <Executions w={w} />
          <Versions w={w} />
          {params.get("edit") && <Editor w={w} close={() => set({ edit: undefined })} />}
          {params.get("version") && <One w={w} n={Number(params.get("version"))} close={() => set({ version: undefined })} />}
        </>
      )}
    </Shown>
  );
}

function Executions({ w }: { w: Workflow }) {
  const list = useList<Execution>("/executions", { workflow: w.slug }, { topic: "executions", every: 5000 });
  const [chosen, setChosen] = useState<string[]>([]);
  const choose = (id: string) => setChosen((c) => (c.includes(id) ? c.filter((i) => i !== id) : [...c.slice(-1), id]));
  const byNumber = [...chosen].sort((a, b) => Number(a.split("-").pop()) - Number(b.split("-").pop()));
  const columns: Column<Execution>[] = [
    {
      key: "id",
      label: "Execution",
      grow: true,
      cell: (x) => (
        <span style={{ display: "flex", gap: "var(--s-3)", alignItems: "center" }}>
          <input type="checkbox" aria-label={`Choose ${x.id} to compare`} checked={chosen.includes(x.id)} onChange={() => choose(x.id)} />
          <a href={at.execution(x.id)} style={{ color: "var(--text)", fontWeight: 500 }}>
            {x.id}
          </a>
          {x.note && <span className="muted clip">{plain(x.note)}</span>}
        </span>
      ),
    },
    { key: "state", label: "State", cell: (x) => <StateDot state={x.state} /> },
    { key: "version", label: "Version", num: true, cell: (x) => x.version },
    { key: "pages", label: "Pages", num: true, cell: (x) => count(x.stats?.pages) },
    { key: "records", label: "Records", num: true, cell: (x) => count(x.stats?.records) },
    { key: "took", label: "Took", num: true, cell: (x) => (x.stats ? duration(x.stats.duration_s * 1000) : "") },
    { key: "when", label: "When", num: true, cell: (x) => <When at={x.created} /> },
  ];
  return (
    <section>
      <div className="section-head">
        <h2>Executions</h2>
        <span className="right">
          {byNumber.length === 2 ? (
            <a className="button" href={at.compare(byNumber[0]!, byNumber[1]!)}>
              Compare {byNumber[0]} with {byNumber[1]}
            </a>
          ) : (
            <span className="muted small">Choose two to compare what they found</span>
          )}
        </span>
      </div>
      <Shown of={list.first}>
        {() =>
          list.rows.length ? (
            <>
              <Table label="Executions" rows={list.rows} columns={columns} id={(x) => x.id} />
              {list.more}
            </>
          ) : (
            <Empty title={w.executions ? "No execution is left" : "Never run"}>
              <p>{w.executions ? "Those there were have been deleted. " : ""}Run it, and each execution stands here with what it found.</p>
            </Empty>
          )
        }
      </Shown>
    </section>
  );
}

function Versions({ w }: { w: Workflow }) {
  const list = useList<Version>(`/workflows/${enc(w.slug)}/versions`, {}, { topic: "workflows" }, 100);
  return (
    <section>
      <div className="section-head">
        <h2>Versions</h2>
      </div>
      <Shown of={list.first} lines={3}>
        {() => (
          <>
            <ol>
              {list.rows.map((v) => (
                <li
                  key={v.number}
                  style={{ display: "flex", flexWrap: "wrap", gap: "0 var(--s-4)", alignItems: "center", minHeight: "var(--row)", borderBottom: "1px solid var(--line)" }}
                >
                  <a href={`${at.workflow(w.slug)}?version=${v.number}`} style={{ minWidth: "10ch" }}>
                    Version {v.number}
                  </a>
                  <span style={{ flex: 1 }}>{plain(v.message) || <span className="muted">no message</span>}</span>
                  {v.number === w.current && <span className="dot live">current</span>}
                  <span className="muted small">{v.author}</span>
                  <span className="muted small">
                    <When at={v.created} />
                  </span>
                </li>
              ))}
            </ol>
            {list.first.data?.next && list.more}
          </>
        )}
      </Shown>
    </section>
  );
}

function One({ w, n, close }: { w: Workflow; n: number; close: () => void }) {
  const path = `/workflows/${enc(w.slug)}/versions/${n}`;
  const v = useGet<Version>(path);
  const diff = useGet<VersionDiff>(n > 1 ? path + "/diff" : null, { from: n - 1 });
  const changes = diff.data?.changes ?? [];
  return (
    <Panel title={`${w.slug}, version ${n}`} close={close}>
      <Shown of={v}>
        {(v) => (
          <>
            <p className="sub">
              {plain(v.message) || "no message"} · {v.author} · <When at={v.created} />
            </p>
            {diff.data && changes.length === 0 && <p className="muted">It does the same as version {n - 1}: only its text differs.</p>}
            {changes.length > 0 && (
              <section>
                <div className="section-head">
                  <h3>What differs from version {n - 1}</h3>
                </div>
                {changes.map((c) => (
                  <div key={c.key} style={{ overflowWrap: "anywhere" }}>
                    <code>{c.key}</code> <del>{plain(c.from)}</del> <ins>{plain(c.to)}</ins>
                  </div>
                ))}
              </section>
            )}
            <section>
              <pre className="source" tabIndex={0}>
                {plain(v.source, 100_000)}
              </pre>
            </section>
            {n !== w.current && (
              <p style={{ marginTop: "var(--s-4)" }}>
                <Act
                  role="user"
                  run={async () => {
                    await call("POST", path + ":restore", { body: { message: `as version ${n}` } });
                    renew("/workflows");
                    close();
                  }}
                >
                  Make it the next version
                </Act>
              </p>
            )}
          </>
        )}
      </Shown>
    </Panel>
  );
}

/** The definition as text; what it will do is told beside it while one types. */
function Editor({ w, close }: { w: Workflow; close: () => void }) {
  const [draft] = useState(() => kept(`text:${w.slug}`));
  const [parent, setParent] = useState(draft?.version ?? w.current); // the version that is edited, whatever is saved meanwhile
  const current = useGet<Version>(`/workflows/${enc(w.slug)}/versions/${parent}`);
  const [text, setText] = useState<string | null>(draft?.source ?? null);
  const [message, setMessage] = useState("");
  const [checked, setChecked] = useState<Checked | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const source = text ?? current.data?.source ?? "";
  const base = current.data?.source;
  useEffect(() => {
    if (base !== undefined) keep(`text:${w.slug}`, text !== null && text !== base ? { version: parent, base, source: text } : null);
  }, [text, base, parent, w.slug]);

  async function check(s: string) {
    try {
      setChecked(await call<Checked>("POST", "/workflows:validate", { body: { source: s } }));
      setProblem(null);
    } catch (e) {
      setProblem(e as Problem);
    }
  }

  async function save() {
    await call("POST", `/workflows/${enc(w.slug)}/versions`, { body: { source, message, parent } });
    forget(`text:${w.slug}`);
    renew("/workflows");
    close();
  }

  return (
    <Panel title={`Edit ${w.slug}`} close={close}>
      <Shown of={current}>
        {() => (
          <>
            {w.current > parent && (
              <Later w={w} since={parent} changed={text !== null && text !== base} mine={(v) => setParent(v.number)} theirs={(v) => (setText(null), setParent(v.number))} />
            )}
            <label className="field" style={{ marginTop: "var(--s-4)" }}>
              <span>Definition (YAML); comments are kept</span>
              <textarea rows={18} spellCheck={false} value={source} onChange={(e) => setText(e.target.value)} onBlur={() => void check(source)} />
            </label>
            <div aria-live="polite" style={{ minHeight: 48, margin: "var(--s-3) 0" }}>
              {checked?.faults.map((f, i) => (
                <div key={i} className="word-bad">
                  {f.line ? `Line ${f.line}: ` : ""}
                  {f.key && !f.message.startsWith(f.key) ? <code>{f.key} </code> : null}
                  {f.message}
                </div>
              ))}
              {checked?.warnings.map((m, i) => (
                <div key={i} className="word-wait">
                  {m}
                </div>
              ))}
              {checked && checked.faults.length === 0 && checked.words.map((m, i) => <div key={i}>{m}</div>)}
            </div>
            {problem && <Failure problem={problem} />}
            <label className="field">
              <span>What changes, in a few words</span>
              <input value={message} onChange={(e) => setMessage(e.target.value)} />
            </label>
            <p className="bar" style={{ marginTop: "var(--s-4)" }}>
              <button type="button" onClick={() => void check(source)}>
                Check
              </button>
              <Act role="user" kind="primary" run={save} disabled={text === null || text === base || w.current > parent}>
                Save as version {parent + 1}
              </Act>
            </p>
          </>
        )}
      </Shown>
    </Panel>
  );
}
