import { useEffect, useState, type ReactNode } from "react";
import { call, Problem, type Query } from "../lib/api";
import { count, share } from "../lib/format";
import { useGet, type Answer, type Renewal } from "../lib/query";
import { Failure } from "./state";

export interface Indexed {
  indexed_until?: string;
  share: number;
  building?: boolean;
  fault?: string;
}

export interface ListOf<T> {
  items: T[];
  next?: string;
  total?: number;
  scanned?: number;
  index?: Indexed | null;
}

export interface Long<T> {
  first: Answer<ListOf<T>>;
  rows: T[];
  more: ReactNode;
}

export const behind = (index: Indexed) => !!index.building || index.share < 0.999;

/** Asks again until the index has read all: when an execution has ended, no event tells of that. */
export function useCaughtUp(answer: Answer<{ index?: Indexed | null }>) {
  const index = answer.data?.index;
  const wait = !!index && !index.fault && behind(index);
  useEffect(() => {
    if (!wait) return;
    const timer = setTimeout(answer.reload, 3000);
    return () => clearTimeout(timer);
  }, [wait, answer]);
}

/** What tells a row from others of its list. */
function keyOf(row: unknown): string {
  const r = row as { id?: string | number; key?: string; url?: string; label?: string };
  return String(r.id ?? (r.key || r.url || r.label || JSON.stringify(row)));
}

/**
 * A list that goes on behind its first page. The first page is renewed; the others are read when they are asked for.
 * What newer rows push out of the first page stays, above what was read behind it.
 */
export function useList<T>(path: string | null, query: Query, renewal: Renewal = {}, limit = 50): Long<T> {
  const first = useGet<ListOf<T>>(path, { ...query, limit }, renewal);
  useCaughtUp(first);
  const key = path + JSON.stringify(query);
  const [rest, setRest] = useState<{ key: string; rows: T[]; next?: string; busy?: boolean; problem?: Problem }>({ key, rows: [] });
  useEffect(() => setRest({ key, rows: [] }), [key]);
  const mine = rest.key === key ? rest : { key, rows: [] as T[] };
  const fresh = first.data?.items ?? [];
  const there = new Set(mine.rows.length ? fresh.map(keyOf) : []);
  const rows = [...fresh, ...mine.rows.filter((r) => !there.has(keyOf(r)))];
  const next = mine.rows.length || mine.next !== undefined ? mine.next : first.data?.next;

  async function onward() {
    if (!path || !next) return;
    setRest({ ...mine, next, busy: true });
    try {
      const page = await call<ListOf<T>>("GET", path, { query: { ...query, limit, cursor: next } });
      const shown = new Set(rows.map(keyOf));
      setRest({ key, rows: [...rows, ...page.items.filter((r) => !shown.has(keyOf(r)))], next: page.next ?? "" });
    } catch (e) {
      setRest({ ...mine, next, problem: e as Problem });
    }
  }

  const more = first.data && (
    <>
      {mine.problem && <Failure problem={mine.problem} retry={() => void onward()} />}
      <div className="more">
        {next && (
          <button type="button" disabled={mine.busy} onClick={() => void onward()}>
            {mine.busy ? "Loading…" : "Show more"}
          </button>
        )}
        <span>
          {count(rows.length)} shown
          {first.data.total ? ` of ${count(first.data.total)}` : next ? ", there are more" : ""}
          {first.data.scanned ? `; ${count(first.data.scanned)} looked at` : ""}
        </span>
        <IndexNote index={first.data.index} />
      </div>
    </>
  );
  return { first, rows, more };
}

/** Says how current an answer is that comes from the index. */
export function IndexNote({ index }: { index?: Indexed | null }) {
  if (!index) return null;
  if (index.fault) return <span className="word-bad">The index stands still: {index.fault}</span>;
  if (behind(index)) return <span className="word-wait">Index: {share(index.share, 1)} of what was crawled so far</span>;
  return null;
}
