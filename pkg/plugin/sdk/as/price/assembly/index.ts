// A plug-in that reads the price of a page, and its currency, from the page's text.

import { Answer, Call, ConfigError, Document, DocumentPatch, Json, change, count, log, onConfigure, onDocument, pass } from "./whirlpool";

export * from "./whirlpool/exports";

/** Only prices in it are read; empty: in any. */
let only = "";

class Price {
  constructor(public value: f64, public currency: string) {}
}

const signs: StaticArray<string> = ["€", "EUR", "$", "USD", "£", "GBP"];
const codes: StaticArray<string> = ["EUR", "EUR", "USD", "USD", "GBP", "GBP"];

/** The first price of a text: a number behind or before the sign of a currency. */
function find(text: string): Price | null {
  let first: Price | null = null;
  let end = text.length;
  for (let c = 0; c < signs.length; c++) {
    if (only != "" && only != codes[c]) continue;
    const sign = signs[c];
    for (let at = text.indexOf(sign); at >= 0 && at < end; at = text.indexOf(sign, at + sign.length)) {
      const value = near(text, at, at + sign.length);
      if (isNaN(value)) continue;
      first = new Price(value, codes[c]);
      end = at;
      break;
    }
  }
  return first;
}

/** The number that begins at a place of a text, or ends before another; NaN: none. */
function near(text: string, before: i32, behind: i32): f64 {
  while (blank(text, behind)) behind++;
  let end = behind;
  while (end - behind < 20 && ofNumber(text, end)) end++;
  const value = parse(text.substring(behind, end));
  if (!isNaN(value)) return value;
  while (blank(text, before - 1)) before--;
  let begin = before;
  while (before - begin < 20 && ofNumber(text, begin - 1)) begin--;
  return parse(text.substring(begin, before));
}

function blank(text: string, i: i32): bool {
  if (i < 0 || i >= text.length) return false;
  const c = text.charCodeAt(i);
  return c == 0x20 || c == 0xa0;
}

function digit(c: i32): bool {
  return c >= 0x30 && c <= 0x39;
}

function ofNumber(text: string, i: i32): bool {
  if (i < 0 || i >= text.length) return false;
  const c = text.charCodeAt(i);
  return digit(c) || c == 0x2e || c == 0x2c;
}

/** Reads 1234.50, 1,234.50, 1.234,50 and 1234,50. */
function parse(s: string): f64 {
  while (s.length > 0 && !digit(s.charCodeAt(0))) s = s.substring(1);
  while (s.length > 0 && !digit(s.charCodeAt(s.length - 1))) s = s.substring(0, s.length - 1);
  if (s.length == 0) return NaN;
  let point = max(s.lastIndexOf("."), s.lastIndexOf(","));
  if (point >= 0 && s.length - point - 1 == 3) point = -1; // it parts thousands
  let value: f64 = 0;
  let scale: f64 = 1;
  for (let i = 0; i < s.length; i++) {
    const c = s.charCodeAt(i);
    if (!digit(c)) continue;
    value = value * 10 + <f64>(c - 0x30);
    if (point >= 0 && i > point) scale *= 10;
  }
  return value / scale;
}

// What is registered stands behind all that it uses.

onConfigure((at: string, settings: Json): ConfigError | null => {
  only = settings.get("currency").text;
  return null;
});

onDocument((call: Call, doc: Document): Answer => {
  const found = find(doc.text);
  if (found === null) return pass();
  count("prices");
  log(doc.url + " costs " + found.value.toString() + " " + found.currency);
  return change(new DocumentPatch().field("price", Json.number(found.value)).field("currency", Json.text(found.currency)));
});
