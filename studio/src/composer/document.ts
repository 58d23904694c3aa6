// The document that is composed is the definition's text. What is edited in the graph, the list or a form changes the
// text of its pipeline alone: comments and keys that nobody here knows stay, and the rest of the text keeps every byte.
import { Document, isAlias, isMap, isScalar, isSeq, parse, parseDocument, Scalar, stringify, YAMLMap, YAMLSeq } from "yaml";

export const points = ["provider", "request", "response", "document", "links", "record", "output"] as const;
export type Point = (typeof points)[number];

/** One use of a plug-in, as the text has it. */
export interface Part {
  index: number; // in the list of the text
  key: string; // its name, or its index where it has none of its own: names it in the studio
  id: string;
  at: Point;
  use: string;
  digest: string;
  when: string;
  onError: string;
  timeout: string;
  with: Record<string, unknown>;
}

export interface Read {
  parts: Part[];
  fault: { message: string; line: number } | null; // the text is no YAML, or no pipeline stands in it
}

const asText = (v: unknown) => (v === undefined || v === null ? "" : typeof v === "object" ? JSON.stringify(v) : String(v));

/** The nodes of a definition. */
export function read(source: string): Read {
  const doc = parseDocument(source);
  if (doc.errors.length) {
    const e = doc.errors[0]!;
    return { parts: [], fault: { message: e.code === "MULTIPLE_DOCS" ? "These are several documents: one definition is one, without --- in it" : e.message.split("\n")[0]!.replace(/ at line .*/, ""), line: e.linePos?.[0].line ?? 0 } };
  }
  let plain: { pipeline?: { nodes?: unknown } } | null;
  try {
    plain = doc.toJS({ maxAliasCount: 100 }) as typeof plain;
  } catch (e) {
    return { parts: [], fault: { message: String(e), line: 0 } };
  }
  const wrong = misshapen(doc as Document, source);
  if (wrong) return { parts: [], fault: wrong };
  const nodes = plain?.pipeline?.nodes;
  if (!Array.isArray(nodes)) return { parts: [], fault: null };
  const ids = nodes.map((n: { id?: unknown } | null) => asText(n?.id));
  const parts = nodes.map((raw: unknown, index) => {
    const n = (raw ?? {}) as Record<string, unknown>;
    const id = ids[index]!;
    const own = id !== "" && !id.startsWith("#") && ids.indexOf(id) === ids.lastIndexOf(id);
    const settings = n.with && typeof n.with === "object" && !Array.isArray(n.with) ? (n.with as Record<string, unknown>) : {};
    return {
      index,
      key: own ? id : `#${index}`,
      id,
      at: asText(n.at) as Point,
      use: asText(n.use),
      digest: asText(n.digest),
      when: asText(n.when),
      onError: asText(n.on_error),
      timeout: asText(n.timeout),
      with: settings,
    };
  });
  return { parts, fault: null };
}

/** Where the text is YAML, and not what a definition with a pipeline looks like. */
function misshapen(doc: Document, source: string): Read["fault"] {
  const at = (path: (string | number)[], is: (n: unknown) => boolean, message: string) => {
    const n = path.length ? doc.getIn(path, true) : doc.contents;
    if (n === undefined || n === null || (path.length < 3 && isScalar(n) && n.value === null) || is(n)) return null;
    const start = (n as { range?: [number, number, number] | null }).range?.[0] ?? 0;
    return { message, line: source.slice(0, start).split("\n").length };
  };
  const top = at([], isMap, "A definition is a mapping: keys such as seeds, with a value each") ?? at(["pipeline"], isMap, "pipeline is a mapping with the key nodes");
  const nodes = top ? null : at(["pipeline", "nodes"], isSeq, "pipeline.nodes is a list: each node begins with a dash");
  if (top || nodes) return top ?? nodes;
  const list = isMap(doc.contents) ? doc.getIn(["pipeline", "nodes"]) : null;
  for (let i = 0; isSeq(list) && i < list.items.length; i++) {
    const wrong = at(["pipeline", "nodes", i], (n) => isMap(n) || isAlias(n), `pipeline.nodes[${i}] is a mapping: id, at and use, and what it needs`);
    if (wrong) return wrong;
  }
  return null;
}

/** Those of a point, in their order. */
export const partsAt = (parts: Part[], at: Point) => parts.filter((p) => p.at === at);

const style = { lineWidth: 0, flowCollectionPadding: false } as const;

/** Where the lines of the pipeline stand. It ends before the next key, and before the comments that belong to that. */
function section(source: string): [number, number] | null {
  const start = /^pipeline[ \t]*:/m.exec(source);
  if (!start) return null;
  let end = source.indexOf("\n", start.index) + 1 || source.length;
  let at = end;
  while (at < source.length) {
    const next = source.indexOf("\n", at) + 1 || source.length;
    const line = source.slice(at, next);
    if (/^[^\s#]/.test(line)) break;
    if (/^[ \t]+\S/.test(line)) end = next;
    at = next;
  }
  return [start.index, end];
}

function edited(text: string, change: (doc: Document) => void): string | null {
  const doc = parseDocument(text);
  if (doc.errors.length || (doc.contents !== null && !isMap(doc.contents))) return null;
  try {
    change(doc as Document);
    return doc.toString(style);
  } catch {
    return null; // it stands in an anchor's text, or is not what it looks like: the text is edited by hand there
  }
}

/** Changes the pipeline within a text. */
function edit(source: string, change: (doc: Document) => void): string {
  const at = section(source);
  if (at) {
    const now = edited(source.slice(...at), change);
    const all = now === null ? null : source.slice(0, at[0]) + now + source.slice(at[1]);
    if (all !== null && parseDocument(all).errors.length === 0) return all;
  } else if (!/^\s*[{[]/.test(source)) {
    const now = edited("pipeline:\n  nodes: []\n", change)!;
    const all = source + (source === "" || source.endsWith("\n") ? "" : "\n") + now;
    if (parseDocument(all).errors.length === 0) return all;
  }
  return edited(source, change) ?? source; // the root is in braces, or an alias leads out of the pipeline
}

function list(doc: Document): YAMLSeq {
  const nodes = doc.getIn(["pipeline", "nodes"]);
  if (isSeq(nodes)) return nodes;
  const fresh = new YAMLSeq();
  doc.setIn(["pipeline", "nodes"], fresh);
  return fresh;
}

function seqOf(doc: Document): YAMLSeq {
  const nodes = list(doc);
  if (nodes.items.length === 0) nodes.flow = false; // [] was written in brackets
  return nodes;
}

/** A name that no other node has. */
export function freeID(parts: Part[], wish: string): string {
  const base = wish.toLowerCase().replace(/[^a-z0-9-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 28) || "node";
  for (let n = 1; ; n++) {
    const id = n === 1 ? base : `${base}-${n}`;
    if (!parts.some((p) => p.id === id)) return id;
  }
}

/** Where in the text's list a node stands that comes at some place of a point. */
function indexFor(parts: Part[], at: Point, place: number): number {
  const mine = partsAt(parts, at);
  if (place < mine.length) return mine[place]!.index;
  if (mine.length) return mine[mine.length - 1]!.index + 1;
  const before = parts.filter((p) => points.indexOf(p.at) < points.indexOf(at));
  return before.length ? Math.max(...before.map((p) => p.index)) + 1 : 0;
}

export interface Fresh {
  id: string;
  at: Point;
  use: string;
  digest?: string;
  with?: Record<string, unknown>;
}

export function add(source: string, n: Fresh, place = Infinity): string {
  const parts = read(source).parts;
  return edit(source, (doc) => {
    const made = doc.createNode({
      id: n.id,
      at: n.at,
      use: n.use,
      ...(n.digest ? { digest: n.digest } : {}),
      ...(n.with && Object.keys(n.with).length ? { with: n.with } : {}),
    });
    seqOf(doc).items.splice(indexFor(parts, n.at, place), 0, made);
  });
}

export function remove(source: string, index: number): string {
  return edit(source, (doc) => void list(doc).items.splice(index, 1));
}

/** Moves a node to a place of a point, which may be its own. */
export function move(source: string, index: number, at: Point, place: number): string {
  const all = read(source).parts;
  const parts = all.filter((p) => p.index !== index).map((p) => (p.index > index ? { ...p, index: p.index - 1 } : p));
  const to = indexFor(parts, at, place);
  return edit(source, (doc) => {
    const nodes = list(doc);
    const [node] = nodes.items.splice(index, 1);
    if (isMap(node)) node.set("at", at);
    nodes.items.splice(to, 0, node);
  });
}

export function duplicate(source: string, index: number): [string, string] {
  const parts = read(source).parts;
  const id = freeID(parts, parts[index]!.id);
  const now = edit(source, (doc) => {
    const nodes = list(doc);
    const copy = (nodes.items[index] as YAMLMap).clone() as YAMLMap;
    copy.commentBefore = undefined;
    copy.set("id", id);
    nodes.items.splice(index + 1, 0, copy);
  });
  return [now, id];
}

type Raw = Record<string, unknown> & { at: Point; use: string };

/** A node as text, as it stands in a definition. */
export function copied(source: string, index: number): string {
  const whole = parseDocument(source).toJS({ maxAliasCount: 100 }) as { pipeline: { nodes: unknown[] } };
  return stringify([whole.pipeline.nodes[index]], { lineWidth: 0 });
}

/** The nodes that a text is; null: it is something else. */
export function pasted(text: string): Raw[] | null {
  if (text.length > 100_000 || !/\buse\b/.test(text)) return null;
  try {
    const all: unknown = parse(text, { maxAliasCount: 100 });
    const list = (Array.isArray(all) ? all : [all]) as (Partial<Raw> | null)[];
    return list.length > 0 && list.every((n) => typeof n?.use === "string" && points.includes(n.at as Point)) ? (list as Raw[]) : null;
  } catch {
    return null;
  }
}

/** Puts nodes behind those of their points, with names that are free, and returns these. */
export function insert(source: string, nodes: Raw[]): [string, string[]] {
  const ids: string[] = [];
  for (const n of nodes) {
    const parts = read(source).parts;
    const id = freeID(parts, asText(n["id"]) || n.use.replace(/^.*\//, "").replace(/@.*$/, ""));
    ids.push(id);
    source = edit(source, (doc) => void seqOf(doc).items.splice(indexFor(parts, n.at, Infinity), 0, doc.createNode({ ...n, id })));
  }
  return [source, ids];
}

/** Sets a key of a node, such as ["with", "keep"]; undefined takes it away, and what is empty then. */
export function put(source: string, index: number, path: string[], value: unknown): string {
  return edit(source, (doc) => {
    const whole = ["pipeline", "nodes", index, ...path];
    if (value === undefined) {
      doc.deleteIn(whole);
      for (let n = path.length - 1; n > 0; n--) {
        const above = doc.getIn(["pipeline", "nodes", index, ...path.slice(0, n)]);
        if (isMap(above) && above.items.length === 0) doc.deleteIn(["pipeline", "nodes", index, ...path.slice(0, n)]);
      }
      return;
    }
    const old = doc.getIn(whole, true);
    if (old instanceof Scalar && (typeof value !== "object" || value === null)) old.value = value;
    else doc.setIn(whole, doc.createNode(value));
  });
}
