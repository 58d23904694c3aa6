// JSON as text.

import { Json, Kind } from "./json";

/** Writes a value as JSON. */
export function format(v: Json): string {
  const out: Array<string> = [];
  append(out, v);
  return out.join("");
}

function append(out: Array<string>, v: Json): void {
  switch (v.kind) {
    case Kind.Bool:
      out.push(v.isTrue ? "true" : "false");
      break;
    case Kind.Number:
      out.push(number(v.number));
      break;
    case Kind.Text:
      out.push(quote(v.text));
      break;
    case Kind.List:
      out.push("[");
      for (let i = 0; i < v.items.length; i++) {
        if (i > 0) out.push(",");
        append(out, v.items[i]);
      }
      out.push("]");
      break;
    case Kind.Object:
      out.push("{");
      for (let i = 0; i < v.items.length; i++) {
        if (i > 0) out.push(",");
        out.push(quote(v.keys[i]));
        out.push(":");
        append(out, v.items[i]);
      }
      out.push("}");
      break;
    default:
      out.push("null");
  }
}

/** A whole number has no fraction: the program reads weights and indexes as integers. */
function number(v: f64): string {
  if (!isFinite(v)) return "null";
  if (Math.floor(v) == v && Math.abs(v) < 9007199254740992) return (<i64>v).toString();
  return v.toString();
}

const hex = "0123456789abcdef";

function quote(s: string): string {
  const out: Array<string> = ['"'];
  let plain = 0;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (c >= 0x20 && c != 0x22 && c != 0x5c) continue;
    out.push(s.substring(plain, i));
    out.push(c >= 0x20 ? "\\" + s.charAt(i) : "\\u00" + hex.charAt(c >> 4) + hex.charAt(c & 15));
    plain = i + 1;
  }
  out.push(s.substring(plain));
  out.push('"');
  return out.join("");
}
