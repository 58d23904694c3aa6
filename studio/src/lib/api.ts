// The way to the API: same origin, session cookie, problems as errors.

export type Query = Record<string, string | number | boolean | string[] | undefined | null>;

/** What the API answers where it cannot do what was asked (RFC 9457). */
export class Problem extends Error {
  readonly status: number;
  readonly detail: string;
  readonly requestId: string;
  readonly errors: { location?: string; message: string; line?: number; column?: number }[];

  constructor(status: number, title: string, detail: string, requestId: string, errors: Problem["errors"] = []) {
    super(title);
    this.status = status;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
  }
}

/** What a status means to people; the server's own title is its name in HTTP. */
const words: Record<number, string> = {
  400: "This address or request is not right",
  401: "You are signed out",
  403: "You may not do this",
  404: "There is no such thing",
  409: "This cannot be done as things are",
  412: "It was changed meanwhile",
  413: "This is too large",
  422: "This cannot be taken as it is",
  429: "Too many requests at once",
  500: "Something went wrong in the server",
  503: "It took too long",
};

/** Nothing of Whirlpool came: it is not there, or something before it answers in its place. */
function silent(how = ""): Problem {
  return new Problem(0, "Whirlpool does not answer", `${how}Is \`whirlpool serve\` still running? What it has stored is safe.`, "");
}

export const base = new URL("api/v1/", document.baseURI).toString();

/** The address of a route, with its query. Empty values are left out. */
export function address(path: string, query: Query = {}): string {
  const u = new URL(base + path.replace(/^\//, ""));
  for (const [key, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    u.searchParams.set(key, Array.isArray(value) ? value.join(",") : String(value));
  }
  return u.toString();
}

export interface Ask {
  query?: Query;
  body?: unknown;
  lock?: number; // of the resource that is changed: If-Match
  signal?: AbortSignal;
}

/** Heard on the window when a request was refused as not signed in, or may have been: the session has ended. */
export const signedOut = "studio:signed-out";

export async function call<T>(method: string, path: string, ask: Ask = {}): Promise<T> {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (ask.body !== undefined) headers["Content-Type"] = "application/json";
  if (ask.lock !== undefined) headers["If-Match"] = `"${ask.lock}"`;
  if (method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
  let answer: Response;
  let data: unknown;
  try {
    answer = await fetch(address(path, ask.query), {
      method,
      headers,
      credentials: "same-origin",
      signal: ask.signal,
      body: ask.body === undefined ? undefined : JSON.stringify(ask.body),
    });
    const text = await answer.text(); // it may end amid the answer
    data = text && answer.headers.get("Content-Type")?.includes("json") ? JSON.parse(text) : undefined;
  } catch (e) {
    if (ask.signal?.aborted) throw e;
    throw silent();
  }
  const proxied = [502, 503, 504].includes(answer.status) && data === undefined;
  if (proxied) throw silent(`A proxy in front answers ${answer.status} in its place. `);
  if (answer.ok && answer.headers.get("Content-Type")?.includes("html")) throw silent("A page that is none of its own came in its place. Load this page again. ");
  if (answer.ok) return data as T;
  if (answer.status === 401 && path !== "/me") dispatchEvent(new Event(signedOut));
  const p = (data ?? {}) as { title?: string; detail?: string; instance?: string; errors?: Problem["errors"] };
  const id = answer.headers.get("X-Request-Id") ?? p.instance ?? "";
  throw new Problem(answer.status, words[answer.status] ?? p.title ?? `Error ${answer.status}`, p.detail ?? "", id, p.errors);
}
