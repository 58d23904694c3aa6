import { useEffect, useRef, useState, type ReactNode } from "react";
import { count } from "../lib/format";
import { useParams } from "../lib/route";

const pageNow = () => location.hash.split("?")[0];

/** A field whose value stands in the address; it is taken over when typing stops. */
export function Search({ name, label, hint }: { name: string; label: string; hint?: string }) {
  const [params, set] = useParams();
  const there = params.get(name) ?? "";
  const [text, setText] = useState(there);
  const typed = useRef(there);
  useEffect(() => {
    if (there !== typed.current) setText((typed.current = there));
  }, [there]);
  useEffect(() => {
    if (text === typed.current) return;
    const page = pageNow();
    const timer = setTimeout(() => {
      if (pageNow() === page) set({ [name]: (typed.current = text) }); // else it was left, and the next one is on its way
    }, 250);
    return () => clearTimeout(timer);
  }, [text, name, set]);
  return <input type="search" data-search="" aria-label={label} placeholder={hint ?? label} value={text} onChange={(e) => setText(e.target.value)} />;
}

/** A choice of one of some values, none pressed: all. */
export function Chips({ name, label, of }: { name: string; label: string; of: { value: string; word?: ReactNode; n?: number }[] }) {
  const [params, set] = useParams();
  const now = params.get(name) ?? "";
  if (of.length === 0) return null;
  return (
    <div role="group" aria-label={label} style={{ display: "flex", flexWrap: "wrap", gap: "var(--s-1)" }}>
      {of.map(({ value, word, n }) => (
        <button
          type="button"
          key={value}
          className="chip"
          aria-pressed={now === value}
          onClick={() => set({ [name]: now === value ? undefined : value })}
        >
          {word ?? value}
          {n !== undefined && <span className="n">{count(n)}</span>}
        </button>
      ))}
    </div>
  );
}

/** What is set of a filter, each with a way to take it back. */
export function Set({ names }: { names: Record<string, string> }) {
  const [params, set] = useParams();
  const on = Object.entries(names).filter(([k]) => params.get(k));
  if (on.length === 0) return null;
  return (
    <div className="bar" role="group" aria-label="Filters that are set">
      {on.map(([k, word]) => (
        <button type="button" key={k} className="chip" aria-pressed="true" onClick={() => set({ [k]: undefined })}>
          {word}: {params.get(k)}
          <span aria-hidden="true">×</span>
          <span className="hidden">take back</span>
        </button>
      ))}
    </div>
  );
}

/** A choice of one of many values, in a list. */
export function Choice({ name, label, of }: { name: string; label: string; of: { value: string; word: string }[] }) {
  const [params, set] = useParams();
  const now = params.get(name) ?? "";
  return (
    <select aria-label={label} value={now} onChange={(e) => set({ [name]: e.target.value || undefined })}>
      {!of.some((o) => o.value === now) && <option value={now}>{now}</option>}
      {of.map(({ value, word }) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
}

/** A moment in the time of the browser; it stands in the address in that of the API (RFC 3339). */
export function Moment({ name, label }: { name: string; label: string }) {
  const [params, set] = useParams();
  const now = new Date(params.get(name) ?? "");
  const shown = isNaN(now.getTime()) ? "" : new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  return (
    <label className="small muted">
      {label}{" "}
      <input
        type="datetime-local"
        value={shown}
        onChange={(e) => {
          const to = new Date(e.target.value);
          set({ [name]: isNaN(to.getTime()) ? undefined : to.toISOString() });
        }}
      />
    </label>
  );
}
