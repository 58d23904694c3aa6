// What the API says of plug-ins, and what of it the composer needs.
import type { Plugin } from "../api/types";
import { points, type Point } from "./document";

export interface Schema {
  type?: string | string[];
  description?: string;
  title?: string;
  enum?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  properties?: Record<string, Schema>;
  additionalProperties?: boolean | Schema;
  required?: string[];
  items?: Schema;
}

export const schemaOf = (p: Plugin | undefined): Schema => (p?.config ?? {}) as Schema;

/** The points that a plug-in serves, in their order. */
export const servedBy = (p: Plugin | undefined): Point[] => (p ? points.filter((at) => p.serves?.some((s) => s.point === at)) : []);

/** Its name as people say it: without owner where it is built in. */
export const shortName = (use: string) => use.replace(/^builtin\//, "").replace(/@1$/, "");

export const about: Record<Point, { type: string; text: string }> = {
  provider: { type: "seeds", text: "seeds, once, when the crawl starts" },
  request: { type: "request", text: "what a page is asked with" },
  response: { type: "response", text: "what a server answered" },
  document: { type: "document", text: "its text, title and fields" },
  links: { type: "links", text: "the links of a page" },
  record: { type: "record", text: "what is stored of a page" },
  output: { type: "delivery", text: "what was stored, on its way elsewhere" },
};

/** Nodes at the ends give seeds and write what is stored: they try again until they can, and take the time they need. */
export const isEnd = (at: Point) => at === "provider" || at === "output";

/** What a new node begins with: the defaults of what it needs. */
export function defaults(s: Schema): Record<string, unknown> {
  const out: Record<string, unknown> = {};
  for (const key of s.required ?? []) {
    const p = s.properties?.[key];
    if (p?.default !== undefined) out[key] = p.default;
    else if (p?.enum?.length) out[key] = p.enum[0];
  }
  return out;
}

/** What a node is set to, in a line. */
export function gist(settings: Record<string, unknown>): string {
  const said = Object.entries(settings).map(([key, v]) => {
    const text = Array.isArray(v) ? v.map(String).join(", ") : v && typeof v === "object" ? Object.keys(v).join(", ") : String(v);
    return `${key} ${text}`;
  });
  return said.join(" · ");
}
