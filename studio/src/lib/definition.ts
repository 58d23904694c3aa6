// A definition out of one URL: what the first page of an empty studio makes. All of it can be changed before it runs.

export interface Draft {
  url: string;
  scope: "host" | "prefix" | "domain";
  maxPages: number;
  maxDepth: number;
  delay: number; // seconds
  sitemaps: boolean;
  allowPrivate: boolean;
}

/** The URL as it was meant: with a scheme. null: it is none. */
export function readURL(text: string): URL | null {
  const t = text.trim();
  if (!t) return null;
  try {
    const u = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(t) ? t : (isLocal(t) ? "http://" : "https://") + t);
    return /^https?:$/.test(u.protocol) && u.hostname ? u : null;
  } catch {
    return null;
  }
}

/** Whether an address begins with a host of this machine or network, and not with a name like 10.example.org. */
export function isLocal(host: string): boolean {
  return /^(localhost|(127|10)(\.\d+){3}|(192\.168|172\.(1[6-9]|2\d|3[01]))(\.\d+){2}|\[::1\]|\[f[cd][\da-f:]*\])(?=[:/?#]|$)/i.test(host);
}

/** Politeness and bounds that nobody has to be ashamed of: a site's own part, a second between two requests, a bound. */
export function sensible(u: URL): Draft {
  const deep = u.pathname.split("/").filter(Boolean).length > 0 && u.pathname.endsWith("/");
  return {
    url: u.href,
    scope: deep ? "prefix" : "host",
    maxPages: 1000,
    maxDepth: 10,
    delay: isLocal(u.hostname) ? 0 : 1,
    sitemaps: true,
    allowPrivate: isLocal(u.hostname),
  };
}

export function source(d: Draft): string {
  const lines = [
    `seeds: [${JSON.stringify(d.url)}]`,
    `scope: ${d.scope}`,
    `max_pages: ${d.maxPages}`,
    `max_depth: ${d.maxDepth}`,
    `sitemaps: ${d.sitemaps}`,
    `politeness: {delay: ${d.delay}s}`,
  ];
  if (d.allowPrivate) lines.push("allow_private: true # the address is on this machine or in this network");
  return lines.join("\n") + "\n";
}

/** A name for the workflow: the host, without www. */
export const nameOf = (u: URL) => u.hostname.replace(/^www\./, "") + (u.port && `:${u.port}`);
