// A module that does what the page's title says, and tells what it was given: the twin of testdata/hostile.

import {
  Answer, Call, ConfigError, Document, DocumentPatch, Json, Links, LinksPatch, Record, RecordPatch, Request, RequestPatch, Response, ResponsePatch,
  change, count, drop, linksOnly, log, onConfigure, onDocument, onLinks, onRecord, onRequest, onResponse, pass, textsOf,
} from "./whirlpool";

export * from "./whirlpool/exports";

const kept: Array<Uint8Array> = [];

function scan(body: Uint8Array): i32 {
  let n = 0;
  for (let i = 0; i < body.length; i++) if (unchecked(body[i]) == 0x65) n++;
  return n;
}

function look(call: Call): DocumentPatch {
  const dice = Json.number(Math.random());
  return new DocumentPatch().field("now", Json.text(call.now)).field("dice", dice).field("body", Json.number(call.body.length));
}

function echo(call: Call, doc: Document): DocumentPatch {
  const told = [doc.url, doc.host, doc.path, doc.text, doc.depth.toString(), doc.status.toString(), doc.contentType, doc.canonical, call.id];
  const body = String.UTF8.decode(call.body.slice(0).buffer);
  const patch = new DocumentPatch().title(told.join("|")).text(body).lang(doc.lang + "-x").noindex(!doc.noindex).nofollow(!doc.nofollow);
  return patch.field("all", doc.fields).field("gone", Json.null());
}

onConfigure((at: string, settings: Json): ConfigError | null => {
  while (settings.get("loop").isTrue) {}
  return settings.get("bad").isTrue ? new ConfigError("bad", "must not be true") : null;
});

onDocument((call: Call, doc: Document): Answer => {
  if (doc.title == "loop") while (true) {}
  if (doc.title == "hoard") while (true) kept.push(new Uint8Array(1 << 20));
  if (doc.title == "trap") throw new Error("no");
  if (doc.title == "exit") unreachable();
  if (doc.title == "drop") return drop("No Token");
  if (doc.title == "large") return change(new DocumentPatch().text("x".repeat(2 << 20)));
  if (doc.title == "log") {
    for (let i = 0; i < 10000; i++) {
      log("line " + i.toString() + " of many");
      count("counter" + i.toString());
    }
  }
  if (doc.title == "scan") return change(new DocumentPatch().field("e", Json.number(scan(call.body))));
  if (doc.title == "echo") return change(echo(call, doc));
  if (doc.title == "look") return change(look(call));
  return pass();
});

onRequest((call: Call, r: Request): Answer => {
  const told = [r.url, r.host, r.path, r.kind, r.depth.toString(), r.attempt.toString(), r.seed.toString()];
  return change(new RequestPatch().header("X-Told", told.concat(textsOf(r.headers.get("Accept")))).remove("Accept"));
});

onResponse((call: Call, r: Response): Answer => {
  if (r.status == 404) return linksOnly();
  const kind = [r.contentType, r.status.toString(), (<i64>r.bytes).toString(), r.truncated].join("|");
  const patch = new ResponsePatch().contentType(kind);
  return change(call.body.length == 0 ? patch : patch.body(call.body.slice(0).reverse()));
});

onLinks((call: Call, page: Links): Answer => {
  const patch = new LinksPatch();
  for (let i = 0; i < page.links.length; i++) {
    const link = page.links[i];
    if (link.text == "out") patch.drop(i, "out");
    else if (link.rel == "next" && link.dropped == "") patch.weigh(i, link.weight + 1);
  }
  return change(patch.link(page.url + "added", "more", 3));
});

onRecord((call: Call, r: Record): Answer => {
  if (r.text == "") return drop("empty");
  const patch = new RecordPatch().title([r.title, r.text, (<i64>r.bytes).toString(), r.duplicateOf, r.similarity].join("|"));
  for (let i = 0; i < r.fields.keys.length; i++) patch.field(r.fields.keys[i], r.fields.items[i]);
  return change(patch);
});
