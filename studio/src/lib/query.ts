// A small cache of answers. Components that ask for the same get the same answer; an answer stays while it is renewed.
import { useCallback, useEffect, useSyncExternalStore } from "react";
import { call, Problem, type Query } from "./api";
import { onTopic } from "./live";

interface Entry {
  key: string;
  path: string;
  query: Query;
  data: unknown;
  error: Problem | null;
  at: number; // when data came
  asked: AbortController | null;
  later?: ReturnType<typeof setTimeout>; // asks again a server that was away
  again: boolean; // to be asked again when the present question is answered
  users: Set<() => void>;
  view: Answer<unknown>;
}

export interface Answer<T> {
  data: T | undefined;
  error: Problem | null;
  at: number;
  loading: boolean;
  reload: () => void;
}

const entries = new Map<string, Entry>();
const calm = 2000; // milliseconds between two answers where only figures move: each costs the crawl a little
const unseen = 60_000; // milliseconds between two answers for a tab that is not seen
const away = 3000; // milliseconds until a server that did not answer is asked again
const kept = 200; // answers that nobody shows

function entryOf(path: string, query: Query): Entry {
  const key = path + "?" + JSON.stringify(query, Object.keys(query).sort());
  let e = entries.get(key);
  if (!e) {
    e = { key, path, query, data: undefined, error: null, at: 0, asked: null, again: false, users: new Set(), view: null! };
    show(e);
    entries.set(key, e);
    if (entries.size > kept) forget();
  }
  return e;
}

function forget() {
  for (const [key, e] of entries) {
    if (entries.size <= kept) return;
    if (e.users.size === 0) entries.delete(key);
  }
}

function show(e: Entry) {
  e.view = { data: e.data, error: e.error, at: e.at, loading: e.data === undefined && e.error === null, reload: () => void ask(e) };
  e.users.forEach((f) => f());
}

/** The statuses of an answer that did not come, or that a proxy gave in the server's place: it names no request. */
const noServer = [0, 502, 503, 504];

async function ask(e: Entry): Promise<void> {
  if (e.asked) {
    e.again = true;
    return;
  }
  const asked = (e.asked = new AbortController());
  try {
    e.data = await call("GET", e.path, { query: e.query, signal: asked.signal });
    e.error = null;
    e.at = Date.now();
  } catch (err) {
    if (!asked.signal.aborted) e.error = err instanceof Problem ? err : new Problem(0, "The answer cannot be read", String(err), "");
  }
  e.asked = null;
  show(e);
  // Not every page has a stream that tells when the server is back.
  clearTimeout(e.later);
  if (e.error && !e.error.requestId && noServer.includes(e.error.status)) {
    e.later = setTimeout(() => e.users.size > 0 && void ask(e), document.visibilityState === "visible" ? away : unseen);
  }
  if (e.again) {
    e.again = false;
    void ask(e);
  }
}

/** Renews every answer whose path starts so. */
export function renew(prefix: string) {
  for (const e of entries.values()) {
    if (!e.path.startsWith(prefix)) continue;
    if (e.users.size > 0) void ask(e);
    else entries.delete(e.key);
  }
}

export interface Renewal {
  every?: number; // milliseconds, while the page is seen; else once a minute, for what stands in the tab's title
  topic?: string; // of the event stream
}

/** The answer of GET path; null asks for nothing. */
export function useGet<T>(path: string | null, query: Query = {}, renewal: Renewal = {}): Answer<T> {
  const e = path === null ? null : entryOf(path, query);
  const subscribe = useCallback(
    (f: () => void) => {
      if (!e) return () => {};
      e.users.add(f);
      return () => void e.users.delete(f);
    },
    [e],
  );
  const view = useSyncExternalStore(subscribe, () => (e ? e.view : nothing));
  useEffect(() => {
    if (e && Date.now() - e.at > 1000) void ask(e);
  }, [e]);
  useEffect(() => {
    if (!e || !renewal.every) return;
    const every = renewal.every;
    const timer = setInterval(() => {
      const least = document.visibilityState === "visible" ? every / 2 : unseen;
      if (Date.now() - e.at > least) void ask(e); // else somebody just did
    }, every);
    return () => clearInterval(timer);
  }, [e, renewal.every]);
  useEffect(() => {
    if (!e || !renewal.topic) return;
    let waits: ReturnType<typeof setTimeout> | undefined;
    const leave = onTopic(renewal.topic, (kind) => {
      clearTimeout(waits);
      const wait = kind === "progress" || kind === "agents" ? e.at + calm - Date.now() : 0;
      if (wait <= 0) void ask(e);
      else waits = setTimeout(() => void ask(e), wait);
    });
    return () => {
      clearTimeout(waits);
      leave();
    };
  }, [e, renewal.topic]);
  return view as Answer<T>;
}

const nothing: Answer<unknown> = { data: undefined, error: null, at: 0, loading: false, reload: () => {} };
