// Messages of the points, as docs/plugins.md has them.

import { Json } from "./json";

/** What came with a message. */
export class Call {
  constructor(
    /** Of the message. */
    public id: string,
    /** When the page was fetched, as 2026-01-02T03:04:05.006Z. Date.now() is not there. */
    public now: string,
    /** Of the page, where plugin.toml says needs = ["body"]; it is another's after the call. */
    public body: Uint8Array,
  ) {}
}

/** What messages have in common. */
export class Message {
  url: string;
  host: string;
  path: string;
  depth: i32;

  constructor(
    /** The whole message, as it came. */
    public json: Json,
  ) {
    this.url = json.get("url").text;
    this.host = json.get("host").text;
    this.path = json.get("path").text;
    this.depth = json.get("depth").int;
  }
}

/** A request that is to be made. */
export class Request extends Message {
  attempt: i32;
  /** page, sitemap or asset */
  kind: string;
  seed: bool;
  /** A list of texts for each name. */
  headers: Json;

  constructor(json: Json) {
    super(json);
    this.attempt = json.get("attempt").int;
    this.kind = json.get("kind").text;
    this.seed = json.get("seed").isTrue;
    this.headers = json.get("headers");
  }
}

/** An answer whose body is to be parsed. */
export class Response extends Message {
  status: i32;
  contentType: string;
  bytes: f64;
  fetchedAt: string;
  truncated: string;

  constructor(json: Json) {
    super(json);
    this.status = json.get("status").int;
    this.contentType = json.get("content_type").text;
    this.bytes = json.get("bytes").number;
    this.fetchedAt = json.get("fetched_at").text;
    this.truncated = json.get("truncated").text;
  }
}

/** What a parsed page and what is stored of one have in common. */
export class Page extends Message {
  status: i32;
  contentType: string;
  fetchedAt: string;
  title: string;
  lang: string;
  fields: Json;

  constructor(
    json: Json,
    /** Where plugin.toml says needs = ["text"]. */
    public text: string,
  ) {
    super(json);
    this.status = json.get("status").int;
    this.contentType = json.get("content_type").text;
    this.fetchedAt = json.get("fetched_at").text;
    this.title = json.get("title").text;
    this.lang = json.get("lang").text;
    this.fields = json.get("fields");
  }
}

/** A parsed page. */
export class Document extends Page {
  canonical: string;
  noindex: bool;
  nofollow: bool;

  constructor(json: Json, text: string) {
    super(json, text);
    this.canonical = json.get("canonical").text;
    this.noindex = json.get("noindex").isTrue;
    this.nofollow = json.get("nofollow").isTrue;
  }
}

/** What is to be stored of a page. */
export class Record extends Page {
  bytes: f64;
  duplicateOf: string;
  similarity: string;

  constructor(json: Json, text: string) {
    super(json, text);
    this.bytes = json.get("bytes").number;
    this.duplicateOf = json.get("duplicate_of").text;
    this.similarity = json.get("similarity").text;
  }
}

/** A link of a page. */
export class Link {
  rel: string;
  text: string;
  tag: string;
  /** 1 to 9; 0: none. */
  weight: i32;
  /** The earlier node that dropped it and, after a blank, its reason; empty: none did. */
  dropped: string;
  url: string;

  constructor(json: Json) {
    this.url = json.get("url").text;
    this.rel = json.get("rel").text;
    this.text = json.get("text").text;
    this.tag = json.get("tag").text;
    this.weight = json.get("weight").int;
    this.dropped = json.get("dropped").text;
  }
}

/** The links of a page. */
export class Links extends Message {
  links: Array<Link> = [];

  constructor(json: Json) {
    super(json);
    const all = json.get("links").items;
    for (let i = 0; i < all.length; i++) this.links.push(new Link(all[i]));
  }
}
