import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent } from "react";
import type { Outline, OutlineNode, Proposal, Proposed } from "../api/types";
import { call, Problem } from "../lib/api";
import { count, plain, plural } from "../lib/format";
import { Failure, Notice, Skeleton } from "./state";
import "./picker.css";

/** A page: its HTML, or that of a stored one. */
export interface PageOf {
  html?: string;
  execution?: string;
  url?: string;
}

/** What was picked: a field of a site rule. */
export interface Picked {
  name: string;
  css: string;
  attr: string;
}

/**
 * An element picked from the outline of a page, and the selectors that the server proposes for it. The outline is text
 * alone: nothing of the page runs, and nothing is asked of its site.
 */
export function Picker({ of, onPick }: { of: PageOf; onPick: (p: Picked) => void }) {
  const [outline, setOutline] = useState<Outline | null>(null);
  const [proposed, setProposed] = useState<Proposed | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [picked, setPicked] = useState(-1);
  const asked = useRef<AbortController | null>(null);
  const page = JSON.stringify(of);

  useEffect(() => {
    const mine = new AbortController();
    setOutline(null);
    setProposed(null);
    setProblem(null);
    setPicked(-1);
    call<Outline>("POST", "/page-outlines", { body: JSON.parse(page), signal: mine.signal }).then(setOutline, (e) => !mine.signal.aborted && setProblem(e as Problem));
    return () => {
      mine.abort();
      asked.current?.abort();
    };
  }, [page]);

  async function pick(index: number) {
    asked.current?.abort();
    const mine = (asked.current = new AbortController());
    setPicked(index);
    setProblem(null);
    try {
      const p = await call<Proposed>("POST", "/selector-proposals", { body: { ...of, index }, signal: mine.signal });
      if (!mine.signal.aborted) setProposed(p);
    } catch (e) {
      if (!mine.signal.aborted) setProblem(e as Problem);
    }
  }

  return (
    <div className="picker">
      <div>
        {outline ? <Tree o={outline} picked={picked} pick={(i) => void pick(i)} /> : !problem && <Skeleton lines={8} />}
        {outline?.cut && <p className="muted small">The page has more elements than are shown: {count(outline.nodes.length)}.</p>}
      </div>
      <div aria-live="polite">
        {problem && <Failure problem={problem} />}
        {proposed ? (
          <Proposals key={proposed.path + proposed.proposals[0]?.css} p={proposed} onPick={onPick} />
        ) : (
          !problem && <Notice tone="none">Pick the element whose text shall be a field: selectors for it stand here then, with what each of them matches.</Notice>
        )}
      </div>
    </div>
  );
}

interface Row extends OutlineNode {
  at: number; // in the list of all nodes
  parent: number;
  inner: boolean; // it has elements within
}

function rowsOf(nodes: OutlineNode[]): Row[] {
  const open: number[] = []; // the last node of each depth
  return nodes.map((n, at) => {
    let d = n.depth - 1;
    while (d >= 0 && open[d] === undefined) d--;
    open.length = n.depth;
    const row = { ...n, at, parent: d >= 0 ? open[d]! : -1, inner: (nodes[at + 1]?.depth ?? 0) > n.depth };
    open[n.depth] = at;
    return row;
  });
}

/** The elements of a page as a tree: arrows move and fold, Enter picks, letters are found. */
function Tree({ o, picked, pick }: { o: Outline; picked: number; pick: (index: number) => void }) {
  const rows = useMemo(() => rowsOf(o.nodes), [o]);
  const [folded, setFolded] = useState<Set<number>>(() => new Set(rows.filter((r) => r.inner && r.tag === "head").map((r) => r.at)));
  const [at, setAt] = useState(() => Math.max(rows.findIndex((r) => r.tag === "body"), 0));
  const [query, setQuery] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => {
    const hidden = new Set<number>();
    return rows.filter((r) => {
      if (r.parent >= 0 && (hidden.has(r.parent) || folded.has(r.parent))) hidden.add(r.at);
      return !hidden.has(r.at);
    });
  }, [rows, folded]);

  const focus = (to: number) => {
    setAt(to);
    requestAnimationFrame(() => {
      const e = box.current?.querySelector<HTMLElement>(`[data-at="${to}"]`);
      e?.focus({ preventScroll: true });
      e?.scrollIntoView({ block: "nearest" });
    });
  };
  const fold = (r: Row, shut: boolean) =>
    setFolded((f) => {
      const next = new Set(f);
      if (shut) next.add(r.at);
      else next.delete(r.at);
      return next;
    });
  const onKey = (e: KeyboardEvent) => {
    const now = rows[at];
    const i = shown.findIndex((r) => r.at === at);
    if (!now || e.ctrlKey || e.metaKey || e.altKey) return;
    const to = (n: number) => shown[n] && focus(shown[n].at);
    if (e.key === "ArrowDown") to(i + 1);
    else if (e.key === "ArrowUp") to(i - 1);
    else if (e.key === "Home") to(0);
    else if (e.key === "End") to(shown.length - 1);
    else if (e.key === "ArrowRight" && now.inner) folded.has(at) ? fold(now, false) : to(i + 1);
    else if (e.key === "ArrowLeft") now.inner && !folded.has(at) ? fold(now, true) : now.parent >= 0 && focus(now.parent);
    else if (e.key === "Enter" || e.key === " ") pick(now.index);
    else return;
    e.preventDefault();
  };
  const find = () => {
    const q = query.trim().toLowerCase();
    if (!q) return;
    for (let n = 1; n <= rows.length; n++) {
      const r = rows[(at + n) % rows.length]!;
      if (!`${r.tag} ${r.id ?? ""} ${r.class ?? ""} ${r.note ?? ""} ${r.text ?? ""}`.toLowerCase().includes(q)) continue;
      const open = new Set(folded);
      for (let p = r.parent; p >= 0; p = rows[p]!.parent) open.delete(p);
      setFolded(open);
      focus(r.at);
      return;
    }
  };

  return (
    <>
      <form
        className="bar"
        onSubmit={(e) => {
          e.preventDefault();
          find();
        }}
      >
        <input type="search" aria-label="Find in the page" placeholder="Find in the page" value={query} onChange={(e) => setQuery(e.target.value)} />
        <button type="submit">Next</button>
      </form>
      <div className="tree" role="tree" aria-label="Elements of the page" ref={box} onKeyDown={onKey}>
        {shown.map((r) => (
          <div
            key={r.at}
            role="treeitem"
            data-at={r.at}
            aria-level={r.depth + 1}
            aria-expanded={r.inner ? !folded.has(r.at) : undefined}
            aria-selected={r.index === picked}
            tabIndex={r.at === at ? 0 : -1}
            style={{ paddingLeft: Math.min(r.depth, 24) * 12 + 4 }}
            onClick={(e) => {
              focus(r.at);
              if ((e.target as HTMLElement).dataset.fold) fold(r, !folded.has(r.at));
              else pick(r.index);
            }}
          >
            <span className="fold" aria-hidden="true" data-fold={r.inner ? "1" : undefined}>
              {r.inner ? (folded.has(r.at) ? "▸" : "▾") : ""}
            </span>
            <code>
              {plain(r.tag)}
              <span className="muted">
                {r.id ? "#" + plain(r.id, 40) : ""}
                {r.class ? "." + plain(r.class, 60).replaceAll(" ", ".") : ""}
              </span>
            </code>{" "}
            {r.text ? <span>{plain(r.text)}</span> : r.note ? <span className="muted">{plain(r.note)}</span> : null}
          </div>
        ))}
      </div>
    </>
  );
}

function Proposals({ p, onPick }: { p: Proposed; onPick: (p: Picked) => void }) {
  const [chosen, setChosen] = useState(() => best(p));
  const [name, setName] = useState(p.name);
  const id = useId();
  const c = p.proposals[chosen];
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (c && name.trim()) onPick({ name: name.trim(), css: c.css, attr: c.attr ?? "" });
      }}
    >
      <p className="small muted" style={{ overflowWrap: "anywhere" }}>
        {plain(p.path)}
      </p>
      <fieldset>
        <legend>Selectors, from specific to robust</legend>
        {p.proposals.map((s, i) => (
          <label key={s.css}>
            <input type="radio" name={id} checked={i === chosen} onChange={() => setChosen(i)} />
            <span>
              <code>{plain(s.css, 1000)}</code>
              {s.attr && (
                <span className="muted">
                  , its <code>{s.attr}</code>
                </span>
              )}
              <span className="small muted">{plain(s.why)}</span>
              <span className="small">
                {plural(s.here, "match", "matches")} on this page
                {p.pages > 0 && ` · on ${count(s.on_pages)} of ${plural(p.pages, "page")}, once on ${count(s.once)}`}
              </span>
              {s.value !== undefined && s.value !== null && <span className="small value clip">{plain(String(s.value))}</span>}
            </span>
          </label>
        ))}
      </fieldset>
      {p.no_body > 0 && <p className="small muted">{plural(p.no_body, "page")} of the sample could not be looked at: no body of HTML is kept.</p>}
      <p className="bar">
        <label className="field">
          <span>Name of the field</span>
          <input value={name} maxLength={64} onChange={(e) => setName(e.target.value)} />
        </label>
        <button type="submit" className="primary" aria-disabled={!name.trim() || undefined}>
          Use it as a field
        </button>
      </p>
    </form>
  );
}

/** The most robust one of those that match once wherever they match; else the most robust one. */
function best(p: Proposed): number {
  const last = p.proposals.length - 1;
  const once = (s: Proposal) => s.here === 1 && s.once === s.on_pages && s.on_pages === Math.max(...p.proposals.map((o) => o.on_pages));
  for (let i = last; i >= 0; i--) if (once(p.proposals[i]!)) return i;
  return last;
}
