import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from "react";
import type { Checked, Execution, PipelineNow, Plugin, PluginList, Version, Workflow } from "../api/types";
import { keyOf, type Board, type Placing } from "../composer/board";
import { add, copied, duplicate, freeID, insert, move, partsAt, pasted, points, put, read, remove, type Part, type Point } from "../composer/document";
import { forget, keep, kept, type Draft } from "../composer/draft";
import { Form } from "../composer/form";
import { Graph, figureLine } from "../composer/graph";
import { useHistory } from "../composer/history";
import { defaults, schemaOf, servedBy, shortName } from "../composer/kinds";
import { List } from "../composer/list";
import { Palette } from "../composer/palette";
import { Later, Save, Undo, type Applied } from "../composer/save";
import { useChecked } from "../lib/checked";
import { plain, plural } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import cassiopeia from "../samples/cassiopeia.yml?raw";
import postings from "../samples/postings.yml?raw";
import { DryRun } from "../ui/dryrun";
import type { ListOf } from "../ui/more";
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
  const w = useGet<Workflow>(slug ? `/workflows/${enc(slug)}` : null, {}, { topic: "workflows", every: 5000 }); // what is saved while the stream opens is not told
  const [number, setNumber] = useState(0); // the version that was current when the page was opened
  const v = useGet<Version>(number ? `/workflows/${enc(slug!)}/versions/${number}` : null);
  const plugins = useGet<PluginList>("/plugins");
  const [sample, setSample] = useState<string | null>(null);
  const [draft] = useState(() => kept(slug ?? ""));
  const current = w.data?.current ?? 0;
  useEffect(() => setNumber((n) => n || current), [current]);
  const error = (!w.data && w.error) || (!v.data && v.error) || (!plugins.data && plugins.error); // what is there stays
  if (error) return <Failure problem={error} retry={() => [w, v, plugins].forEach((q) => q.reload())} />;
  if (!plugins.data || (slug && !(w.data && v.data))) return <Skeleton />;
  if (!slug && draft && sample === null) {
    return <Composer w={undefined} saved="" draft={draft} plugins={plugins.data.items} discarded={() => setSample("")} />;
  }
  if (!slug && !sample) {
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
  return <Composer key={slug ?? "sample"} w={w.data} saved={slug ? v.data!.source : sample!} draft={slug ? draft : null} plugins={plugins.data.items} discarded={() => setSample(null)} />;
}

interface Props {
  w: Workflow | undefined;
  saved: string;
  draft: Draft | null;
  discarded: () => void;
  plugins: Plugin[];
}

function Composer({ w, saved, draft, discarded, plugins }: Props) {
  const [params, set] = useParams();
  const [base, setBase] = useState(draft ? { source: draft.base, version: draft.version } : { source: saved, version: w?.current ?? 0 });
  const history = useHistory(base.source, draft?.source);
  const [restored, setRestored] = useState(!!draft);
  const [placing, setPlacing] = useState<Placing | null>(null);
  const [told, setTold] = useState("");
  const [line, setLine] = useState(0); // of the text, that is to be shown
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

  useEffect(() => keep(w?.slug ?? "", changed ? { version: base.version, base: base.source, source } : null), [source, changed, base, w?.slug]);

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
    if (e.defaultPrevented || document.querySelector("dialog:modal")) return; // it asks something: nothing moves behind it
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

  /** A node that has the focus is copied as its text, and such a text is pasted as nodes: into another workflow, too. */
  function clip(e: ClipboardEvent) {
    const on = document.activeElement as HTMLElement | null;
    if (!e.clipboardData || document.querySelector("dialog:modal") || /^(INPUT|TEXTAREA|SELECT)$/.test(on?.tagName ?? "")) return;
    if (e.type === "paste") {
      const nodes = pasted(e.clipboardData.getData("text/plain"));
      if (!nodes || fault) return;
      e.preventDefault();
      const [text, ids] = insert(source, nodes);
      history.set(text);
      setTold(`${ids.join(", ")} pasted`);
      return focusNode(ids[ids.length - 1]!);
    }
    const p = on?.dataset["node"] !== undefined && getSelection()?.isCollapsed !== false ? parts.find((p) => keyOf(p) === on.dataset["node"]) : undefined;
    if (!p) return;
    e.preventDefault();
    e.clipboardData.setData("text/plain", copied(source, p.index));
    if (e.type === "cut") board.remove(p);
    else setTold(`${p.id} copied; Ctrl V pastes it, in another workflow as well`);
  }

  const pressed = useRef({ keys, clip });
  pressed.current = { keys, clip };
  useEffect(() => {
    const onKey = (e: KeyboardEvent) => pressed.current.keys(e);
    const onClip = (e: ClipboardEvent) => pressed.current.clip(e);
    const clips = ["copy", "cut", "paste"] as const;
    addEventListener("keydown", onKey);
    clips.forEach((c) => document.addEventListener(c, onClip));
    return () => {
      removeEventListener("keydown", onKey);
      clips.forEach((c) => document.removeEventListener(c, onClip));
    };
  }, []);

  const rename = (p: Part, id: string) => {
    const text = put(source, p.index, ["id"], id);
    const next = read(text);
    history.set(text, "id");
    set({ node: next.parts[p.index]?.key });
  };

  const discard = () => {
    forget(w?.slug ?? "");
    setRestored(false);
    if (!w) return discarded();
    history.set(base.source);
    setTold("The draft is discarded; Undo brings it back");
  };
  const later = w && w.current > base.version ? w.current : 0; // somebody saved meanwhile

  const open = side === "add" || part;
  return (
    <div className="c-page">
      <Head
        where={w ? <><a href="#/w">Workflows</a> / <a href={at.workflow(w.slug)}>{plain(w.name)}</a></> : <a href="#/w">Workflows</a>}
        title={w ? "Composer" : "Compose a crawl"}
        tab={w && `${plain(w.name)}: Composer · Whirlpool`}
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
        <Save w={w} source={source} base={base} bad={(checked?.faults.length ?? 0) > 0 || !!fault} later={later} running={running} saved={(v) => setBase({ source: v.source, version: v.number })} applied={setApplied} tell={setTold} />
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
            <button type="button" className="plain" onClick={discard}>
              Discard it
            </button>
          </span>
        )}
      </div>
      {w && later > 0 && (
        <Later
          w={w}
          since={base.version}
          changed={changed}
          mine={(v) => (setBase({ source: v.source, version: v.number }), setTold(`Yours goes on from version ${v.number}`))}
          theirs={(v) => (history.set(v.source), setBase({ source: v.source, version: v.number }), setTold("Undo brings yours back"))}
        />
      )}
      {parts
        .filter((p) => !points.includes(p.at))
        .map((p) => (
          <Notice
            key={keyOf(p)}
            tone="bad"
            action={
              <button type="button" onClick={() => board.open(p)}>
                Open it
              </button>
            }
          >
            <strong>{plain(p.id) || "A node without a name"} stands nowhere:</strong> {p.at ? <>there is no point “{plain(p.at, 60)}”</> : "it names no point"}. Graph and list show it when it has one: {points.join(", ")}.
          </Notice>
        ))}
      {applied && <Undo of={applied} done={() => setApplied(null)} />}
      {placing && !placing.dragged && (
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
            <Notice tone="bad" action={<button type="button" onClick={() => (setLine(fault.line), set({ view: "yaml" }))}>Mend it</button>}>
              <strong>The text cannot be read{fault.line ? `: line ${fault.line}` : ""}.</strong> {plain(fault.message)}. Graph and list show it again when it is mended.
            </Notice>
          ) : view === "graph" ? (
            <Graph b={board} />
          ) : view === "list" ? (
            <List b={board} />
          ) : (
            <label className="field">
              <span>Definition (YAML): graph and list show the same text</span>
              <textarea ref={(t) => void (t && line > 0 && (showLine(t, line), setLine(0)))} className="c-text" rows={28} spellCheck={false} value={source} onChange={(e) => history.set(e.target.value, "text")} />
            </label>
          )}
          <Faults checked={checked} fault={fault} open={(p) => board.open(p)} show={(n) => (setLine(n), set({ view: "yaml" }))} parts={parts} />
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

/** Goes to a line of a text and marks it. */
function showLine(t: HTMLTextAreaElement, line: number) {
  const lines = t.value.split("\n");
  const start = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  t.focus();
  t.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  t.scrollTop = (t.scrollHeight * Math.max(0, line - 6)) / lines.length;
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

/** The execution of the workflow that runs. */
function useRunning(slug: string | undefined): Execution | undefined {
  const list = useGet<ListOf<Execution>>(slug ? "/executions" : null, { workflow: slug, limit: 5 }, { topic: "executions", every: 5000 });
  return list.data?.items.find((x) => !terminal.includes(x.state));
}

interface FaultsProps {
  checked: Checked | null;
  fault: { message: string; line: number } | null;
  parts: Part[];
  open: (p: Part) => void;
  show: (line: number) => void;
}

function Faults({ checked, fault, parts, open, show }: FaultsProps) {
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
              ) : f.line ? (
                <button type="button" className="c-link" onClick={() => show(f.line!)}>
                  line {f.line}
                </button>
              ) : (
                "the definition"
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
