import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { Checked, Execution, PipelineNow, Plugin, PluginList, Version, Workflow } from "../api/types";
import { keyOf, type Board, type Placing } from "../composer/board";
import { add, duplicate, freeID, move, partsAt, put, read, remove, type Part, type Point } from "../composer/document";
import { Form } from "../composer/form";
import { Graph, figureLine } from "../composer/graph";
import { useHistory } from "../composer/history";
import { defaults, schemaOf, servedBy, shortName } from "../composer/kinds";
import { List } from "../composer/list";
import { Palette } from "../composer/palette";
import { call, Problem } from "../lib/api";
import { plain, plural } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { at, enc, go, useParams } from "../lib/route";
import cassiopeia from "../samples/cassiopeia.yml?raw";
import postings from "../samples/postings.yml?raw";
import { Act } from "../ui/act";
import { DryRun } from "../ui/dryrun";
import type { ListOf } from "../ui/more";
import { EditPreview } from "../ui/preview";
import { Head } from "../ui/shell";
import { Failure, Notice, Skeleton, StateDot } from "../ui/state";
import "../composer/composer.css";

const samples = [
  { name: "Cassiopeia's crawler", text: "Seed, normalizer, seen, domain, downloader, MIME, store, links: as in the paper.", source: cassiopeia },
  { name: "Job postings", text: "The same, and behind the parser what recognises postings, takes their fields and leaves addresses out.", source: postings },
  { name: "Empty", text: "The stages alone.", source: 'seeds: ["https://example.com/"]\nmax_pages: 1000\n' },
];

const views = ["graph", "list", "yaml"] as const;
const terminal = ["succeeded", "partial", "stopped", "failed", "cancelled"];

/** The pipeline of a workflow, or of one that is being made. */
export default function ComposerPage({ slug }: { slug?: string }) {
  const w = useGet<Workflow>(slug ? `/workflows/${enc(slug)}` : null);
  const v = useGet<Version>(w.data ? `/workflows/${enc(slug!)}/versions/${w.data.current}` : null);
  const plugins = useGet<PluginList>("/plugins");
  const [sample, setSample] = useState<string | null>(null);
  const error = w.error ?? v.error ?? plugins.error;
  if (error) return <Failure problem={error} retry={() => [w, v, plugins].forEach((q) => q.reload())} />;
  if (!plugins.data || (slug && !v.data)) return <Skeleton />;
  if (!slug && sample === null) {
    return (
      <>
        <Head where={<a href="#/w">Workflows</a>} title="Compose a crawl" />
        <p className="sub">Begin with one that works. All of it can be changed before it runs.</p>
        <ul className="c-samples">
          {samples.map((s) => (
            <li key={s.name}>
              <button type="button" onClick={() => setSample(s.source)}>
                <strong>{s.name}</strong>
                <span className="muted">{s.text}</span>
              </button>
            </li>
          ))}
        </ul>
      </>
    );
  }
  return <Composer key={slug ?? ""} w={w.data} saved={slug ? v.data!.source : sample!} plugins={plugins.data.items} />;
}

interface Props {
  w: Workflow | undefined;
  saved: string;
  plugins: Plugin[];
}

function Composer({ w, saved, plugins }: Props) {
  const [params, set] = useParams();
  const draftKey = `composer:${w?.slug ?? "new"}`;
  const [base, setBase] = useState({ source: saved, version: w?.current ?? 0 });
  const history = useHistory(saved);
  const [restored, setRestored] = useState(false);
  const [placing, setPlacing] = useState<Placing | null>(null);
  const [told, setTold] = useState("");
  const [applied, setApplied] = useState<Applied | null>(null);
  const focusNext = useRef("");
  const source = history.now;
  const { parts, fault } = useMemo(() => read(source), [source]);
  const checked = useChecked(source);
  const view = views.find((v) => v === params.get("view")) ?? "graph";
  const side = params.get("side"); // add, or nothing
  const addPoint = params.get("point") as Point | null;
  const byUse = useMemo(() => new Map(plugins.map((p) => [p.use, p])), [plugins]);
  const running = useRunning(w?.slug);
  const now = useGet<PipelineNow>(running ? `/executions/${enc(running.id)}/pipeline` : null, {}, { every: 2000 });
  const selected = params.get("node") ?? "";
  const part = parts.find((p) => keyOf(p) === selected);
  const changed = source !== base.source;

  // What is not saved survives a reload.
  useEffect(() => {
    const kept = localStorage.getItem(draftKey);
    if (kept === null || !w) return;
    const draft = JSON.parse(kept) as { version: number; source: string };
    if (draft.version === w.current && draft.source !== saved) {
      history.set(draft.source);
      setRestored(true);
    }
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  useEffect(() => {
    if (!w) return;
    if (changed) localStorage.setItem(draftKey, JSON.stringify({ version: base.version, source }));
    else localStorage.removeItem(draftKey);
  }, [source, changed, base.version, draftKey, w]);

  useLayoutEffect(() => {
    if (!focusNext.current) return;
    const el = document.querySelector<HTMLElement>(focusNext.current);
    focusNext.current = "";
    el?.focus();
  });
  const focusNode = (id: string) => (focusNext.current = `[data-node="${CSS.escape(id)}"]`);
  const close = () => {
    focusNext.current = selected ? `[data-node="${CSS.escape(selected)}"]` : addPoint ? `[data-point="${addPoint}"]` : "[data-add]";
    set({ node: undefined, side: undefined, point: undefined });
  };

  function placeNew(p: Plugin, at: Point, place = Infinity) {
    const id = freeID(parts, shortName(p.use).replace(/^.*\//, "").replace(/@.*$/, ""));
    history.set(add(source, { id, at, use: p.use, digest: p.digest || undefined, with: defaults(schemaOf(p)) }, place));
    setPlacing(null);
    setTold(`${id} added at ${at}`);
    focusNext.current = ".c-side :is(textarea, input, select)";
    set({ side: undefined, point: undefined, node: id });
  }
  const board: Board = {
    parts,
    plugins: byUse,
    faults: checked?.faults ?? [],
    figures: new Map((now.data?.nodes ?? []).map((n) => [n.node, n])),
    waiting: now.data?.waiting ?? {},
    live: !!running && !!now.data,
    selected,
    placing,
    open: (p) => {
      focusNext.current = ".c-side :is(textarea, input, select)";
      set({ node: keyOf(p), side: undefined, point: undefined });
    },
    addAt: (at) => set({ side: "add", point: at, node: undefined }),
    hold: (what) => {
      setPlacing(what);
      if (!what) return;
      setTold(`Choose where ${shortName(what.use)} shall stand: ${servedBy(byUse.get(what.use)).join(", ")}. Escape keeps it where it is`);
      focusNext.current = ".c-slot[data-target=true]";
    },
    put: (to, place) => {
      if (!placing) return;
      if (placing.from === undefined) {
        const p = byUse.get(placing.use);
        if (p) placeNew(p, to, place);
        return;
      }
      const p = parts.find((p) => p.index === placing.from)!;
      const mine = partsAt(parts, to).findIndex((m) => m.index === p.index);
      setPlacing(null);
      board.move(p, to, mine >= 0 && mine < place ? place - 1 : place);
    },
    move: (p, to, place) => {
      history.set(move(source, p.index, to, place));
      const n = partsAt(parts, to).filter((m) => m.index !== p.index).length + 1;
      setTold(`${p.id} at ${to}, ${Math.min(place + 1, n)} of ${n}`);
      focusNode(keyOf(p));
    },
    duplicate: (p) => {
      const [text, id] = duplicate(source, p.index);
      history.set(text);
      setTold(`${id} is a copy of ${p.id}`);
      focusNode(id);
    },
    remove: (p) => {
      const mine = partsAt(parts, p.at);
      const i = mine.findIndex((m) => m.index === p.index);
      const next = mine[i + 1] ?? mine[i - 1];
      history.set(remove(source, p.index));
      setTold(`${p.id} removed; Ctrl Z brings it back`);
      if (selected === keyOf(p)) set({ node: undefined });
      focusNext.current = next ? `[data-node="${CSS.escape(keyOf(next))}"]` : `[data-point="${p.at}"]`;
    },
  };

  function choose(p: Plugin) {
    const served = servedBy(p);
    if (addPoint) placeNew(p, addPoint);
    else if (served.length === 1) placeNew(p, served[0]!);
    else {
      set({ side: undefined });
      board.hold({ use: p.use });
    }
  }

  function keys(e: KeyboardEvent) {
    if (e.defaultPrevented) return;
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test((e.target as HTMLElement).tagName);
    const step = (back: boolean) => {
      const f = back ? history.undo : history.redo;
      if (!f) return;
      e.preventDefault();
      f();
      setTold(back ? "Undone" : "Done again");
    };
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "z" && !typing) step(!e.shiftKey);
    else if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "y" && !typing) step(false);
    else if (e.key === "Escape" && !document.querySelector("dialog[open]")) {
      if (placing) {
        setPlacing(null);
        setTold("Nothing was placed");
        const p = parts.find((p) => p.index === placing.from);
        focusNext.current = p ? `[data-node="${CSS.escape(keyOf(p))}"]` : "[data-add]";
      } else if (side || selected) close();
      else return;
      e.preventDefault();
    } else if (e.key === "a" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) {
      e.preventDefault();
      set({ side: "add", node: undefined, point: undefined });
    }
  }

  const pressed = useRef(keys);
  pressed.current = keys;
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => pressed.current(e);
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);

  const rename = (p: Part, id: string) => {
    history.set(put(source, p.index, ["id"], id), "id");
    set({ node: id || `#${p.index}` });
  };

  const open = side === "add" || part;
  return (
    <div className="c-page">
      <Head
        where={w ? <><a href="#/w">Workflows</a> / <a href={at.workflow(w.slug)}>{plain(w.name)}</a></> : <a href="#/w">Workflows</a>}
        title={w ? "Composer" : "Compose a crawl"}
        state={running ? <StateDot state={running.state} word={`${running.id} ${running.state}`} /> : undefined}
      >
        <button type="button" data-add="" onClick={() => set({ side: "add", node: undefined, point: undefined })}>
          Add <kbd>a</kbd>
        </button>
        <button type="button" onClick={history.undo} disabled={!history.undo} title="Ctrl Z">
          Undo
        </button>
        <button type="button" onClick={history.redo} disabled={!history.redo} title="Ctrl Shift Z">
          Redo
        </button>
        <button type="button" aria-pressed={params.get("try") === "1"} onClick={() => set({ try: params.get("try") ? undefined : "1" })}>
          Dry run
        </button>
        <Save w={w} source={source} base={base} bad={(checked?.faults.length ?? 0) > 0 || !!fault} running={running} saved={(version) => setBase({ source, version })} applied={setApplied} />
      </Head>
      <p className="hidden" role="status">
        {told}
      </p>
      <div className="c-bar">
        <div className="c-views" role="group" aria-label="Shown as">
          {views.map((v) => (
            <button key={v} type="button" className="chip" aria-pressed={view === v} onClick={() => set({ view: v === "graph" ? undefined : v })}>
              {v === "yaml" ? "YAML" : v[0]!.toUpperCase() + v.slice(1)}
            </button>
          ))}
        </div>
        <span className="muted small">
          {plural(parts.length, "node")}
          {changed ? " · not saved" : ""}
        </span>
        {restored && changed && (
          <span className="small">
            This is your draft.{" "}
            <button type="button" className="plain" onClick={() => (history.set(base.source), setRestored(false))}>
              Discard it
            </button>
          </span>
        )}
      </div>
      {applied && <Undo of={applied} done={() => setApplied(null)} />}
      {placing && (
        <div className="c-placing" role="note">
          <span>
            Where shall <strong>{shortName(placing.use)}</strong> stand?
          </span>
          <button type="button" onClick={() => (setPlacing(null), (focusNext.current = "[data-add]"))}>
            Cancel <kbd>Esc</kbd>
          </button>
        </div>
      )}
      <div className={open ? "c-work with-side" : "c-work"}>
        <div className="c-main">
          {fault && view !== "yaml" ? (
            <Notice tone="bad" action={<button type="button" onClick={() => set({ view: "yaml" })}>Mend it</button>}>
              <strong>The text is no YAML{fault.line ? `: line ${fault.line}` : ""}.</strong> {plain(fault.message)}. Graph and list show it again when it is mended.
            </Notice>
          ) : view === "graph" ? (
            <Graph b={board} />
          ) : view === "list" ? (
            <List b={board} />
          ) : (
            <label className="field">
              <span>Definition (YAML): graph and list show the same text</span>
              <textarea className="c-text" rows={28} spellCheck={false} value={source} onChange={(e) => history.set(e.target.value, "text")} />
            </label>
          )}
          <Faults checked={checked} fault={fault} open={(p) => board.open(p)} parts={parts} />
        </div>
        {side === "add" ? (
          <Side title={addPoint ? `Add at ${addPoint}` : "Add a node"} close={close}>
            <Palette plugins={plugins} at={addPoint} choose={choose} hold={setPlacing} />
          </Side>
        ) : part ? (
          <Side
            title={plain(part.id) || "no name"}
            sub={
              <>
                {plain(shortName(part.use))} · {plain(byUse.get(part.use)?.summary ?? "nobody knows this plug-in")}
                {figureLine(board, part) && <span className="num"> · {figureLine(board, part)}</span>}
              </>
            }
            close={close}
          >
            <Form
              key={part.index + part.use}
              part={part}
              plugin={byUse.get(part.use)}
              source={source}
              faults={board.faults}
              change={(s, kind) => history.set(s, `${part.index}.${kind}`)}
              rename={(id) => rename(part, id)}
              moveTo={(to) => board.move(part, to, Infinity)}
            />
            <p className="bar c-foot">
              <button type="button" onClick={() => board.hold({ use: part.use, from: part.index })}>
                Move
              </button>
              <button type="button" onClick={() => board.duplicate(part)}>
                Duplicate
              </button>
              <button type="button" className="bad" onClick={() => board.remove(part)}>
                Remove
              </button>
            </p>
          </Side>
        ) : null}
      </div>
      {params.get("try") === "1" && (
        <section aria-label="Dry run">
          <div className="section-head">
            <h2>Dry run</h2>
            <span className="muted small">of what stands here, saved or not; nothing is stored</span>
          </div>
          <DryRun of={running ? { source, execution: running.id } : { source }} url={params.get("url") ?? ""} onURL={(url) => set({ url })} />
        </section>
      )}
    </div>
  );
}

function Side({ title, sub, close, children }: { title: string; sub?: ReactNode; close: () => void; children: ReactNode }) {
  return (
    <aside className="c-side" aria-label={title}>
      <div className="c-side-head">
        <h2 className="clip">{title}</h2>
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      {sub && <p className="muted small">{sub}</p>}
      {children}
    </aside>
  );
}

/** What a definition says, asked a moment after one stops typing. */
function useChecked(source: string): Checked | null {
  const [checked, setChecked] = useState<Checked | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call<Checked>("POST", "/workflows:validate", { body: { source }, signal: stop.signal })
        .then(setChecked)
        .catch(() => {}); // it is asked again with the next change, and saving tells
    }, 300);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [source]);
  return checked;
}

/** The execution of the workflow that runs. */
function useRunning(slug: string | undefined): Execution | undefined {
  const list = useGet<ListOf<Execution>>(slug ? "/executions" : null, { workflow: slug, limit: 5 }, { topic: "executions", every: 5000 });
  return list.data?.items.find((x) => !terminal.includes(x.state));
}

function Faults({ checked, fault, parts, open }: { checked: Checked | null; fault: { message: string; line: number } | null; parts: Part[]; open: (p: Part) => void }) {
  if (fault || !checked || checked.faults.length + checked.warnings.length === 0) return null;
  return (
    <ul className="c-faults" aria-label="What is wrong with it" aria-live="polite">
      {checked.faults.map((f, i) => {
        const p = f.node !== undefined ? parts.find((p) => f.key?.startsWith(`pipeline.nodes[${p.index}]`)) : undefined;
        return (
          <li key={i}>
            <span className="dot bad">
              {p ? (
                <button type="button" className="c-link" onClick={() => open(p)}>
                  {plain(p.id) || "no name"}
                </button>
              ) : (
                `line ${f.line ?? "?"}`
              )}
            </span>
            <span>{plain(f.message.replace(/^pipeline\.nodes\[\d+\]\./, ""))}</span>
          </li>
        );
      })}
      {checked.warnings.map((m, i) => (
        <li key={"w" + i} className="muted small">
          {plain(m)}
        </li>
      ))}
    </ul>
  );
}

interface SaveProps {
  w: Workflow | undefined;
  source: string;
  base: { source: string; version: number };
  bad: boolean;
  running: Execution | undefined;
  saved: (version: number) => void;
  applied: (a: Applied) => void;
}

interface Applied {
  execution: string;
  epoch: number;
}

/** What was applied to a running execution can be taken back. */
function Undo({ of, done }: { of: Applied; done: () => void }) {
  const path = `/executions/${enc(of.execution)}`;
  return (
    <Notice
      tone="good"
      action={
        <>
          <Act
            role="operator"
            run={async () => {
              await call("POST", `${path}/revisions/${of.epoch}:undo`, { body: { epoch: of.epoch } });
              renew(path);
              done();
            }}
          >
            Undo revision {of.epoch}
          </Act>
          <button type="button" className="plain" onClick={done}>
            Dismiss
          </button>
        </>
      }
    >
      {of.execution} crawls with it from its next page on: revision {of.epoch}.
    </Notice>
  );
}

/** Saving asks for a few words; where an execution runs, it can get the change at once. */
function Save({ w, source, base, bad, running, saved, applied }: SaveProps) {
  const box = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [patch, setPatch] = useState<{ pipeline: unknown } | null>(null); // that the running execution gets, too
  const [busy, setBusy] = useState(false);

  async function save(e: React.FormEvent) {
    e.preventDefault();
    setBusy(true);
    setProblem(null);
    try {
      if (!w) {
        const made = await call<Workflow>("POST", "/workflows", { body: { name: words, source } });
        renew("/workflows");
        box.current?.close();
        go(`/w/${enc(made.slug)}/compose`);
        return;
      }
      const v = await call<Version>("POST", `/workflows/${enc(w.slug)}/versions`, { body: { source, message: words, parent: base.version } });
      saved(v.number);
      if (patch && running) {
        const r = await call<{ epoch: number }>("POST", `/executions/${enc(running.id)}/revisions`, { body: { patch, message: words } });
        applied({ execution: running.id, epoch: r.epoch });
        renew(`/executions/${enc(running.id)}`);
        setPatch(null);
      }
      renew("/workflows");
      setWords("");
      box.current?.close();
    } catch (p) {
      setProblem(p as Problem);
    }
    setBusy(false);
  }

  /** What the running execution would get: the nodes as they were checked. */
  async function choose(yes: boolean) {
    setProblem(null);
    if (!yes) return setPatch(null);
    try {
      const { definition } = await call<Checked>("POST", "/workflows:validate", { body: { source } });
      setPatch({ pipeline: (definition as { pipeline?: unknown }).pipeline ?? null });
    } catch (p) {
      setProblem(p as Problem);
    }
  }

  return (
    <>
      <Act role="user" kind="primary" disabled={bad || (!!w && source === base.source)} run={async () => (setPatch(null), box.current?.showModal())}>
        {w ? `Save as version ${base.version + 1}` : "Save"}
      </Act>
      <dialog ref={box} aria-label="Save">
        <form onSubmit={(e) => void save(e)}>
          <h2>{w ? `Version ${base.version + 1} of ${plain(w.name)}` : "A new workflow"}</h2>
          <label className="field" style={{ margin: "var(--s-4) 0" }}>
            <span>{w ? "What changes, in a few words" : "Its name"}</span>
            <input value={words} required={!w} maxLength={200} autoFocus onChange={(e) => setWords(e.target.value)} />
          </label>
          {running && (
            <label>
              <input type="checkbox" checked={!!patch} onChange={(e) => void choose(e.target.checked)} /> Apply the pipeline to {running.id}, too, from its next page on
            </label>
          )}
          {running && patch && (
            <div className="c-preview">
              <EditPreview execution={running.id} edit={{ patch }} />
            </div>
          )}
          {problem && <Failure problem={problem} />}
          <div className="actions">
            <button type="button" onClick={() => box.current?.close()}>
              Go on composing
            </button>
            <button type="submit" className="primary" disabled={busy}>
              Save
            </button>
          </div>
        </form>
      </dialog>
    </>
  );
}
