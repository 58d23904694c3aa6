// Addresses lie behind the #, so that the studio works under any path. What can be sent to a colleague is in them.
import { useCallback } from "react";
import { useHashLocation } from "wouter/use-hash-location";
import { useSyncExternalStore } from "react";

function hash(): string {
  return location.hash;
}

function onHash(f: () => void) {
  addEventListener("hashchange", f);
  addEventListener("popstate", f);
  addEventListener("studio:search", f);
  return () => {
    removeEventListener("hashchange", f);
    removeEventListener("popstate", f);
    removeEventListener("studio:search", f);
  };
}

/** The part behind the question mark, and a function that changes some of its values; "" removes one. */
export function useParams(): [URLSearchParams, (change: Record<string, string | undefined>, push?: boolean) => void] {
  const now = useSyncExternalStore(onHash, hash);
  const [path, search = ""] = now.replace(/^#/, "").split("?");
  const set = useCallback((change: Record<string, string | undefined>, push = false) => {
    const [p, s = ""] = location.hash.replace(/^#/, "").split("?");
    const q = new URLSearchParams(s);
    for (const [k, v] of Object.entries(change)) {
      if (v) q.set(k, v);
      else q.delete(k);
    }
    const to = `#${p || "/"}${q.size ? "?" + q.toString() : ""}`;
    if (to === location.hash) return;
    history[push ? "pushState" : "replaceState"](null, "", to);
    dispatchEvent(new Event("studio:search"));
  }, []);
  void path;
  return [new URLSearchParams(search), set];
}

/** The path before the question mark, for the router. */
export function usePath(): [string, (to: string, options?: { replace?: boolean }) => void] {
  const [at, go] = useHashLocation();
  return [at.split("?")[0] || "/", go];
}

export function go(to: string) {
  location.hash = to;
}

export const enc = encodeURIComponent;

/** What enc made of; an address that somebody cut amid an escape is taken as it is. */
export function dec(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The addresses of pages. */
export const at = {
  execution: (id: string) => `#/x/${enc(id)}`,
  hosts: (id: string, q = "") => `#/x/${enc(id)}/hosts${q && "?" + q}`,
  host: (id: string, key: string) => `#/x/${enc(id)}/hosts?host=${enc(key)}`,
  urls: (id: string, q: Record<string, string | number> = {}) =>
    `#/x/${enc(id)}/urls${Object.keys(q).length ? "?" + new URLSearchParams(q as Record<string, string>).toString() : ""}`,
  explain: (id: string, url: string) => `#/x/${enc(id)}/explain?url=${enc(url)}`,
  records: (id: string, q: Record<string, string> = {}) =>
    `#/x/${enc(id)}/records${Object.keys(q).length ? "?" + new URLSearchParams(q).toString() : ""}`,
  record: (id: string, key: string) => `#/x/${enc(id)}/records?record=${enc(key)}`,
  clusters: (id: string, cluster = "") => `#/x/${enc(id)}/clusters${cluster && "?cluster=" + enc(cluster)}`,
  versions: (x: string, key: string, visit: number) => `#/diff?a=${enc(x)}&ka=${enc(key)}&visit=${visit}`,
  diff: (a: string, keyA: string, b: string, keyB: string) =>
    `#/diff?a=${enc(a)}&ka=${enc(keyA)}&b=${enc(b)}&kb=${enc(keyB)}`,
  rendering: (id: string) => `#/x/${enc(id)}/rendering`,
  events: (id: string) => `#/x/${enc(id)}/events`,
  workflow: (slug: string) => `#/w/${enc(slug)}`,
  composer: (slug: string) => `#/w/${enc(slug)}/compose`,
  dryRun: (q: Record<string, string>) => `#/dry-run?${new URLSearchParams(q).toString()}`,
  compare: (a: string, b: string) => `#/compare?a=${enc(a)}&b=${enc(b)}`,
};
