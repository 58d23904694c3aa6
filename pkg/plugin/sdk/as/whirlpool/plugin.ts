// Functions that a plug-in registers, and how they are called.

import { randomBits, utf8 } from "./host";
import { Json } from "./json";
import { Call, Document, Links, Record, Request, Response } from "./messages";
import { Parser } from "./parse";
import { Answer } from "./patches";

/** A fault of the settings; the path says where, as in currency or rules[2].name. */
export class ConfigError {
  constructor(public path: string, public text: string) {}
}

let settings: ((at: string, settings: Json) => ConfigError | null) | null = null;
let request: ((call: Call, message: Request) => Answer) | null = null;
let response: ((call: Call, message: Response) => Answer) | null = null;
let document: ((call: Call, message: Document) => Answer) | null = null;
let links: ((call: Call, message: Links) => Answer) | null = null;
let record: ((call: Call, message: Record) => Answer) | null = null;

/** Registers what reads the settings of the node, once, before any message. It returns what is wrong with them, or null. */
export function onConfigure(f: (at: string, settings: Json) => ConfigError | null): void {
  settings = f;
}

/** Registers what handles requests. */
export function onRequest(f: (call: Call, message: Request) => Answer): void {
  request = f;
}

/** Registers what handles answers before they are parsed. */
export function onResponse(f: (call: Call, message: Response) => Answer): void {
  response = f;
}

/** Registers what handles parsed pages. */
export function onDocument(f: (call: Call, message: Document) => Answer): void {
  document = f;
}

/** Registers what handles the links of a page. */
export function onLinks(f: (call: Call, message: Links) => Answer): void {
  links = f;
}

/** Registers what handles records before they are stored. */
export function onRecord(f: (call: Call, message: Record) => Answer): void {
  record = f;
}

/** A frame: the length of its head, the head, the text of the page, its body. */
class Frame {
  head: Json = Json.object();
  text: string = "";
  body: Uint8Array = new Uint8Array(0);
  fails: string = "";

  constructor(bytes: ArrayBuffer, length: i32) {
    this.fails = this.cut(bytes, length);
  }

  /** Takes a frame apart; it returns what is wrong with it. */
  private cut(bytes: ArrayBuffer, length: i32): string {
    const at = changetype<usize>(bytes);
    if (length < 4 || length > bytes.byteLength) return "a frame of less than four bytes";
    const n = load<u32>(at);
    if (n > <u32>(length - 4)) return "a frame that is shorter than its head";
    const parser = new Parser(at + 4, <i32>n);
    this.head = parser.parse();
    const from = 4 + <i32>n;
    const size = this.head.get("text").int;
    if (size < 0 || size > length - from) return "a frame that is shorter than its text";
    if (size > 0) this.text = String.UTF8.decodeUnsafe(at + from, size);
    if (from + size < length) this.body = Uint8Array.wrap(bytes, from + size, length - from - size);
    return parser.fails;
  }
}

function failure(why: string): Json {
  return Json.object().set("error", Json.text(why));
}

function unregistered(point: string): Json {
  return failure("it registered nothing for point " + point);
}

/** Answers a configure frame. */
export function configure(bytes: ArrayBuffer, length: i32): Json {
  const frame = new Frame(bytes, length);
  let fault: ConfigError | null = null;
  if (frame.fails != "") fault = new ConfigError("", frame.fails);
  else if (settings) fault = settings!(frame.head.get("at").text, frame.head.get("with"));
  if (fault === null) return Json.object();
  return Json.object().set("error", Json.object().set("path", Json.text(fault.path)).set("text", Json.text(fault.text)));
}

/** Answers a message at a point. */
export function handle(point: string, bytes: ArrayBuffer, length: i32): Json {
  const frame = new Frame(bytes, length);
  if (frame.fails != "") return failure(frame.fails);
  Math.seedRandom(<i64>randomBits());
  const head = frame.head;
  const call = new Call(head.get("id").text, head.get("now").text, frame.body);
  const message = head.get("message");
  if (point == "request") return request ? request!(call, new Request(message)).json : unregistered(point);
  if (point == "response") return response ? response!(call, new Response(message)).json : unregistered(point);
  if (point == "links") return links ? links!(call, new Links(message)).json : unregistered(point);
  if (point == "record") return record ? record!(call, new Record(message, frame.text)).json : unregistered(point);
  return document ? document!(call, new Document(message, frame.text)).json : unregistered(point);
}

/** The bytes of the last answer: they are read after the call. */
let said: ArrayBuffer = new ArrayBuffer(0);

/** Gives an answer to the program: its address and its length. */
export function give(answer: Json): i64 {
  said = utf8(answer.toString());
  return (<i64>changetype<usize>(said) << 32) | <i64>said.byteLength;
}
