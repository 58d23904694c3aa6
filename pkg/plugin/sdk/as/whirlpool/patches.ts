// What a plug-in answers.

import { Json } from "./json";

/** A change of a message. What is not named stays. */
export class Patch {
  json: Json = Json.object();

  protected put(key: string, value: Json): void {
    this.json.set(key, value);
  }

  protected under(object: string, key: string, value: Json): void {
    if (!this.json.has(object)) this.json.set(object, Json.object());
    this.json.get(object).set(key, value);
  }

  protected add(list: string, value: Json): void {
    if (!this.json.has(list)) this.json.set(list, Json.list());
    this.json.get(list).push(value);
  }
}

export class RequestPatch extends Patch {
  /** Sets a header field. */
  header(name: string, values: Array<string>): RequestPatch {
    this.under("headers", name, Json.texts(values));
    return this;
  }

  /** Removes a header field. */
  remove(name: string): RequestPatch {
    this.under("headers", name, Json.null());
    return this;
  }
}

export class ResponsePatch extends Patch {
  contentType(v: string): ResponsePatch {
    this.put("content_type", Json.text(v));
    return this;
  }

  body(bytes: Uint8Array): ResponsePatch {
    this.put("body", Json.text(base64(bytes)));
    return this;
  }
}

export class DocumentPatch extends Patch {
  title(v: string): DocumentPatch {
    this.put("title", Json.text(v));
    return this;
  }

  text(v: string): DocumentPatch {
    this.put("text", Json.text(v));
    return this;
  }

  lang(v: string): DocumentPatch {
    this.put("lang", Json.text(v));
    return this;
  }

  /** Sets a field; Json.null() removes it. */
  field(name: string, value: Json): DocumentPatch {
    this.under("fields", name, value);
    return this;
  }

  noindex(v: bool): DocumentPatch {
    this.put("noindex", Json.bool(v));
    return this;
  }

  nofollow(v: bool): DocumentPatch {
    this.put("nofollow", Json.bool(v));
    return this;
  }
}

export class RecordPatch extends Patch {
  title(v: string): RecordPatch {
    this.put("title", Json.text(v));
    return this;
  }

  text(v: string): RecordPatch {
    this.put("text", Json.text(v));
    return this;
  }

  lang(v: string): RecordPatch {
    this.put("lang", Json.text(v));
    return this;
  }

  /** Sets a field; Json.null() removes it. */
  field(name: string, value: Json): RecordPatch {
    this.under("fields", name, value);
    return this;
  }
}

export class LinksPatch extends Patch {
  /** Drops the link at an index of links. The reason is a token of a-z, 0-9 and -. */
  drop(index: i32, reason: string): LinksPatch {
    this.add("change", Json.object().set("index", Json.number(index)).set("drop", Json.text(reason)));
    return this;
  }

  /** Gives the link at an index a weight of 1 to 9. */
  weigh(index: i32, weight: i32): LinksPatch {
    this.add("change", Json.object().set("index", Json.number(index)).set("weight", Json.number(weight)));
    return this;
  }

  /** Adds a link; the weight is 1 to 9, or 0 for none. */
  link(url: string, text: string = "", weight: i32 = 0): LinksPatch {
    this.add("add", Json.object().set("url", Json.text(url)).set("text", Json.text(text)).set("tag", Json.text("plugin")).set("weight", Json.number(weight)));
    return this;
  }
}

/** What a plug-in says of a message. */
export class Answer {
  constructor(public json: Json) {}
}

function answer(action: string): Json {
  return Json.object().set("action", Json.text(action));
}

/** Leaves the message as it is. */
export function pass(): Answer {
  return new Answer(answer("pass"));
}

/** Changes the message, by a patch of its point. */
export function change(patch: Patch): Answer {
  return new Answer(answer("patch").set("patch", patch.json));
}

/** Lets the message go no further. The reason is a token of a-z, 0-9 and -. */
export function drop(reason: string): Answer {
  return new Answer(answer("drop").set("reason", Json.text(reason)));
}

/** Follows the links of an answer, which has no record then. */
export function linksOnly(): Answer {
  return new Answer(answer("links"));
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

function base64(b: Uint8Array): string {
  const out = new Uint8Array(((b.length + 2) / 3) * 4);
  for (let i = 0, o = 0; i < b.length; i += 3, o += 4) {
    const left = b.length - i;
    const n = (<u32>b[i] << 16) | (left > 1 ? <u32>b[i + 1] << 8 : 0) | (left > 2 ? <u32>b[i + 2] : 0);
    out[o] = <u8>digits.charCodeAt((n >> 18) & 63);
    out[o + 1] = <u8>digits.charCodeAt((n >> 12) & 63);
    out[o + 2] = left > 1 ? <u8>digits.charCodeAt((n >> 6) & 63) : 0x3d;
    out[o + 3] = left > 2 ? <u8>digits.charCodeAt(n & 63) : 0x3d;
  }
  return String.UTF8.decode(out.buffer);
}
