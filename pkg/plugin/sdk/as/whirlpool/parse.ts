// JSON read from bytes in UTF-8.

import { Json, Kind } from "./json";

/** How deep lists and objects may lie in each other. */
const maxDepth = 200;

/** Reads JSON from memory. Fails is what is wrong; empty: nothing. */
export class Parser {
  fails: string = "";
  private end: usize;

  constructor(private at: usize, length: i32) {
    this.end = at + <usize>length;
  }

  /** Reads the one value that there is. */
  parse(): Json {
    const v = this.value(0);
    this.skip();
    if (this.at < this.end) this.fail("something behind its end");
    return v;
  }

  private fail(why: string): Json {
    if (this.fails == "") this.fails = "no JSON: " + why;
    this.at = this.end;
    return new Json();
  }

  private peek(): u8 {
    return this.at < this.end ? load<u8>(this.at) : 0;
  }

  private skip(): void {
    while (this.at < this.end) {
      const c = load<u8>(this.at);
      if (c != 0x20 && c != 0x0a && c != 0x0d && c != 0x09) break;
      this.at++;
    }
  }

  /** Takes a character, if it is the next one. */
  private take(c: u8): bool {
    this.skip();
    if (this.peek() != c || this.at >= this.end) return false;
    this.at++;
    return true;
  }

  private value(depth: i32): Json {
    if (depth > maxDepth) return this.fail("too deep");
    this.skip();
    switch (this.peek()) {
      case 0x7b: // {
        return this.object(depth);
      case 0x5b: // [
        return this.list(depth);
      case 0x22: // "
        return Json.text(this.string());
      case 0x74: // t
        return this.word("true", Json.bool(true));
      case 0x66: // f
        return this.word("false", Json.bool(false));
      case 0x6e: // n
        return this.word("null", new Json());
    }
    return this.number();
  }

  private object(depth: i32): Json {
    const v = Json.object();
    this.at++;
    if (this.take(0x7d)) return v;
    do {
      this.skip();
      if (this.peek() != 0x22) return this.fail("a key is no text");
      const key = this.string();
      if (!this.take(0x3a)) return this.fail("a key without a value");
      v.keys.push(key);
      v.items.push(this.value(depth + 1));
    } while (this.take(0x2c));
    return this.take(0x7d) ? v : this.fail("an object without an end");
  }

  private list(depth: i32): Json {
    const v = Json.list();
    this.at++;
    if (this.take(0x5d)) return v;
    do v.items.push(this.value(depth + 1));
    while (this.take(0x2c));
    return this.take(0x5d) ? v : this.fail("a list without an end");
  }

  private word(want: string, v: Json): Json {
    for (let i = 0; i < want.length; i++) {
      if (this.peek() != <u8>want.charCodeAt(i)) return this.fail("an unknown word");
      this.at++;
    }
    return v;
  }

  private number(): Json {
    const from = this.at;
    while (this.at < this.end) {
      const c = load<u8>(this.at);
      if ((c < 0x30 || c > 0x39) && c != 0x2d && c != 0x2b && c != 0x2e && c != 0x65 && c != 0x45) break;
      this.at++;
    }
    if (this.at == from) return this.fail("a value is missing");
    const n = parseFloat(String.UTF8.decodeUnsafe(from, this.at - from));
    return isNaN(n) ? this.fail("a number that is none") : Json.number(n);
  }

  /** Reads a text from its quote on. */
  private string(): string {
    this.at++;
    let from = this.at;
    let out = "";
    while (this.at < this.end) {
      const c = load<u8>(this.at);
      if (c == 0x22) {
        out += String.UTF8.decodeUnsafe(from, this.at - from);
        this.at++;
        return out;
      }
      if (c == 0x5c) {
        out += String.UTF8.decodeUnsafe(from, this.at - from) + this.escape();
        from = this.at;
      } else {
        this.at++;
      }
    }
    this.fail("a text without an end");
    return "";
  }

  private escape(): string {
    const c = this.at + 1 < this.end ? load<u8>(this.at + 1) : <u8>0;
    this.at += 2;
    switch (c) {
      case 0x62:
        return "\b";
      case 0x66:
        return "\f";
      case 0x6e:
        return "\n";
      case 0x72:
        return "\r";
      case 0x74:
        return "\t";
      case 0x22:
      case 0x5c:
      case 0x2f:
        return String.fromCharCode(c);
      case 0x75:
        return this.unicode();
    }
    this.fail("an unknown escape");
    return "";
  }

  private unicode(): string {
    let code = 0;
    for (let i = 0; i < 4; i++) {
      const c = <i32>this.peek();
      const digit = c >= 0x30 && c <= 0x39 ? c - 0x30 : (c | 0x20) >= 0x61 && (c | 0x20) <= 0x66 ? (c | 0x20) - 87 : -1;
      if (digit < 0) {
        this.fail("an escape of less than four digits");
        return "";
      }
      code = (code << 4) | digit;
      this.at++;
    }
    return String.fromCharCode(code);
  }
}

/** Reads the texts of a list. */
export function textsOf(v: Json): Array<string> {
  const out: Array<string> = [];
  for (let i = 0; i < v.items.length; i++) if (v.items[i].kind == Kind.Text) out.push(v.items[i].text);
  return out;
}
