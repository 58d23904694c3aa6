// The event stream: one connection a tab, whose topics are those that its components want.
import { useCallback, useSyncExternalStore } from "react";
import { address, signedOut } from "./api";

type Hear = (kind: string, data: unknown) => void;

const ears = new Map<string, Set<Hear>>();
let source: EventSource | null = null;
let topics = "";
let lost = 0; // since when nothing comes; 0: all is well
let renewing: ReturnType<typeof setTimeout> | undefined;
let resting: ReturnType<typeof setTimeout> | undefined;
let rested = false; // nothing was heard for a while, on purpose: what was missed is read again
const watchers = new Set<() => void>();

/** The kinds of events that have no id: figures, which are sent again and again. */
const passing = ["progress", "series", "tail", "agents", "reset"];
const durable = ["event"];

/** Calls hear at most twice a second with the events of a topic, and when all has to be read again. */
export function onTopic(topic: string, hear: Hear): () => void {
  const gentle = atMost(500, hear);
  let set = ears.get(topic);
  if (!set) ears.set(topic, (set = new Set()));
  set.add(gentle);
  connectSoon();
  return () => {
    set.delete(gentle);
    if (set.size === 0) ears.delete(topic);
    connectSoon();
  };
}

function atMost(ms: number, hear: Hear): Hear {
  let waits: ReturnType<typeof setTimeout> | undefined;
  let at = 0;
  return (kind, data) => {
    clearTimeout(waits);
    const wait = at + ms - Date.now();
    const now = () => {
      at = Date.now();
      hear(kind, data);
    };
    if (wait <= 0) now();
    else waits = setTimeout(now, wait);
  };
}

function connectSoon() {
  clearTimeout(renewing);
  renewing = setTimeout(connect, 50);
}

// A browser has six connections to a server for all of its tabs, and a stream takes one of them: the seventh tab would
// load nothing, and the others would stand still. So only tabs that are seen hold one.
const grace = 5000; // milliseconds, so that who turns to another tab and back has missed nothing

function rest() {
  rested = true;
  source?.close();
  source = null;
  setLost(0);
}

document.addEventListener("visibilitychange", () => {
  clearTimeout(resting);
  if (document.visibilityState === "hidden") resting = setTimeout(rest, grace);
  else if (rested) connect();
});

/** Tells all who listen that they have to read again. */
function readAgain() {
  for (const set of ears.values()) set.forEach((hear) => hear("reset", undefined));
}

function connect() {
  if (document.visibilityState === "hidden" && !source) return rest();
  const wanted = [...ears.keys()].sort().join(",");
  if (wanted === topics && source && source.readyState !== EventSource.CLOSED) return;
  source?.close();
  source = null;
  topics = wanted;
  if (!wanted) return setLost(0);
  const s = (source = new EventSource(address("events", { topics: wanted }), { withCredentials: true }));
  s.onopen = () => {
    setLost(0);
    if (rested) readAgain();
    rested = false;
  };
  s.onerror = () => {
    setLost(lost || Date.now());
    if (s.readyState === EventSource.CLOSED && source === s) {
      dispatchEvent(new Event(signedOut)); // a browser does not tell why a stream is refused
      clearTimeout(renewing);
      renewing = setTimeout(connect, 3000);
    }
  };
  for (const kind of ["message", ...passing, ...durable]) {
    s.addEventListener(kind, (m) => {
      tell(kind, m.data as string);
    });
  }
}

function tell(kind: string, text: string) {
  let data: { topic?: string; execution?: string } | undefined;
  try {
    data = JSON.parse(text) as { topic?: string; execution?: string };
  } catch {
    data = undefined; // it tells that something happened, all the same
  }
  for (const [topic, set] of ears) {
    if (kind === "reset" || !data || concerns(topic, kind, data)) set.forEach((hear) => hear(kind, data));
  }
}

function concerns(topic: string, kind: string, data: { topic?: string; execution?: string }): boolean {
  if (kind !== "event") return data.topic === topic;
  return data.execution ? topic === "executions" || topic === `execution:${data.execution}` : topic === "workflows";
}

function setLost(at: number) {
  if (at === lost) return;
  const back = lost > 0 && at === 0;
  lost = at;
  watchers.forEach((f) => f());
  if (back) readAgain();
}

/** Since when the stream is lost, in milliseconds since 1970; 0: it is there. */
export function useLost(): number {
  return useSyncExternalStore(
    (f) => {
      watchers.add(f);
      return () => void watchers.delete(f);
    },
    () => lost,
  );
}

const told = new Map<string, unknown>();

/** The last that was told of a topic by events of a kind. */
export function useTold<T>(topic: string | null, kind: string): T | undefined {
  const key = topic + " " + kind;
  return useSyncExternalStore(
    useCallback(
      (f: () => void) => {
        if (topic === null) return () => {};
        return onTopic(topic, (k, data) => {
          if (k !== kind) return;
          told.set(key, data);
          f();
        });
      },
      [topic, kind, key],
    ),
    () => told.get(key) as T | undefined,
  );
}
