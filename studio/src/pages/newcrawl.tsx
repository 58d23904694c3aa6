import { useEffect, useState } from "react";
import type { Checked, Execution, Workflow } from "../api/types";
import { call, Problem } from "../lib/api";
import { nameOf, readURL, sensible, source, type Draft } from "../lib/definition";
import { renew } from "../lib/query";
import { at, enc, go } from "../lib/route";
import { useMe } from "../ui/me";
import { Failure, Notice } from "../ui/state";

const scopes: [Draft["scope"], string][] = [
  ["host", "this host"],
  ["prefix", "under this path"],
  ["domain", "the whole domain"],
];

/** One field: a URL. What will be done stands below it, in words that can be changed, before it is done. */
export function NewCrawl({ first }: { first: boolean }) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<Partial<Draft>>({}); // by the person: it stays when the address is corrected
  const [checked, setChecked] = useState<(Checked & { of: string }) | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const [left, setLeft] = useState<{ source: string; w: Workflow } | null>(null); // made, and could not run, as of a quota
  const { me, may } = useMe();
  const url = readURL(text);
  const href = url?.href ?? "";

  const host = url?.hostname ?? "";
  const draft: Draft | null = url && { ...sensible(url), ...chosen };
  useEffect(() => setProblem(null), [href]);
  useEffect(() => setChosen(({ delay: _, ...others }) => others), [host]); // how fast one host may be asked says nothing of another
  const made = draft ? source(draft) : "";
  useEffect(() => {
    if (!made) return setChecked(null); // otherwise the former words stay, greyed, until the new ones are there
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call<Checked>("POST", "/workflows:validate", { body: { source: made }, signal: stop.signal })
        .then((c) => {
          setChecked({ ...c, of: made });
          setProblem(null);
        })
        .catch((e: unknown) => e instanceof Problem && !stop.signal.aborted && setProblem(e));
    }, 200);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [made]);

  async function crawl(e: React.FormEvent) {
    e.preventDefault();
    if (!draft || !url || busy) return;
    setBusy(true);
    setProblem(null);
    try {
      const w = left?.source === made ? left.w : await call<Workflow>("POST", "/workflows", { body: { name: nameOf(url), source: made } });
      setLeft({ source: made, w }); // the next try makes no second one
      const x = await call<Execution>("POST", `/workflows/${enc(w.id)}:run`, { body: {} });
      renew("/workflows");
      renew("/executions");
      go(at.execution(x.id).slice(1));
    } catch (p) {
      setProblem(p as Problem);
      setBusy(false);
    }
  }

  const change = (c: Partial<Draft>) => setChosen((d) => ({ ...d, ...c }));
  const barred = !!me && !may("user");
  return (
    <form onSubmit={(e) => void crawl(e)} style={{ maxWidth: 720 }} aria-label="New crawl">
      {first && (
        <>
          <h1 style={{ fontSize: "var(--t-28)", marginTop: "8vh" }}>What shall be crawled?</h1>
          <p className="muted" style={{ margin: "var(--s-2) 0 var(--s-6)" }}>
            Type an address. You see what will be done before it is done.
          </p>
        </>
      )}
      <div style={{ display: "flex", gap: "var(--s-2)" }}>
        <input
          type="text" // not url: a browser refuses one without https://
          inputMode="url"
          data-search=""
          aria-label="Address to start from"
          placeholder="https://example.com/"
          value={text}
          onChange={(e) => setText(e.target.value)}
          style={{ flex: 1, height: 40, fontSize: "var(--t-16)", padding: "0 12px" }}
          autoComplete="off"
          spellCheck={false}
          autoFocus={first}
        />
        <button
          className="primary"
          style={{ height: 40, padding: "0 20px" }}
          type="submit"
          disabled={!draft || busy || barred || (checked?.of === made && checked.faults.length > 0)}
          title={barred ? `Your role is ${me!.role}; this takes user` : undefined}
        >
          {busy ? "Starting…" : "Crawl"}
        </button>
      </div>
      {barred && <Notice tone="wait">Your role is {me!.role}: you may look at everything here, and start nothing.</Notice>}
      {text.trim() && !url && <Notice tone="wait">That is no address of a page yet: it begins with http:// or https://, and names a host.</Notice>}
      {problem && <Failure problem={problem} />}
      {problem && left && (
        <p className="muted">
          Its workflow is made: <a href={at.workflow(left.w.slug)}>{left.w.slug}</a> can be run later.
        </p>
      )}
      {draft && (
        <div style={{ marginTop: "var(--s-4)", display: "grid", gap: "var(--s-4)" }}>
          <div style={{ display: "flex", flexWrap: "wrap", gap: "var(--s-3) var(--s-6)" }}>
            <label className="field">
              <span>Follow links within</span>
              <select value={draft.scope} onChange={(e) => change({ scope: e.target.value as Draft["scope"] })}>
                {scopes.map(([v, w]) => (
                  <option key={v} value={v}>
                    {w}
                  </option>
                ))}
              </select>
            </label>
            <Number_ label="Pages at most" value={draft.maxPages} min={1} max={10_000_000} set={(maxPages) => change({ maxPages })} />
            <Number_ label="Hops from the start" value={draft.maxDepth} min={0} max={100} set={(maxDepth) => change({ maxDepth })} />
            <Number_ label="Seconds between requests" value={draft.delay} min={0} max={600} step={0.1} set={(delay) => change({ delay })} />
          </div>
          <div aria-live="polite" className={checked && checked.of !== made ? "muted" : undefined} style={{ minHeight: 120 }}>
            {checked && (
              <ul style={{ display: "grid", gap: "var(--s-1)" }}>
                {checked.words.map((w, i) => (
                  <li key={i} style={{ paddingLeft: "var(--s-4)", textIndent: "calc(-1 * var(--s-4))" }}>
                    <span aria-hidden="true" style={{ color: "var(--accent)", marginRight: "var(--s-2)" }}>
                      ·
                    </span>
                    {w}
                  </li>
                ))}
                {checked.warnings.map((w, i) => (
                  <li key={"w" + i} className="word-wait">
                    {w}
                  </li>
                ))}
                {checked.faults.map((f, i) => (
                  <li key={"f" + i} className="word-bad">
                    {f.key && !f.message.startsWith(f.key) ? <code>{f.key} </code> : null}
                    {f.message}
                  </li>
                ))}
              </ul>
            )}
          </div>
          <details>
            <summary className="muted small">As a definition</summary>
            <pre className="source" style={{ marginTop: "var(--s-2)" }}>
              {made}
            </pre>
          </details>
        </div>
      )}
    </form>
  );
}

function Number_({ label, value, set, min, max, step }: { label: string; value: number; set: (n: number) => void; min: number; max: number; step?: number }) {
  const [typed, setTyped] = useState<string | null>(null); // while one types, also what is no number yet: "", "0."
  return (
    <label className="field">
      <span>{label}</span>
      <input
        type="number"
        value={typed ?? value}
        min={min}
        max={max}
        step={step ?? 1}
        style={{ width: "11ch" }}
        onBlur={() => setTyped(null)}
        onChange={(e) => {
          const n = e.target.valueAsNumber;
          setTyped(e.target.value);
          if (!Number.isNaN(n)) set(Math.min(Math.max(n, min), max));
        }}
      />
    </label>
  );
}
