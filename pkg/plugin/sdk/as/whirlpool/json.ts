// Values of JSON: settings of a node, fields of a page.

import { format } from "./format";

/** What a value is. */
export const enum Kind {
  Null,
  Bool,
  Number,
  Text,
  List,
  Object,
}

/** A value of JSON. What is not there, or of another kind, reads as null, false, 0, "" or empty. */
export class Json {
  kind: Kind = Kind.Null;
  /** Of a truth value. */
  isTrue: bool = false;
  /** Of a number. Whole numbers above 2^53 lose their last digits. */
  number: f64 = 0;
  /** Of a text. */
  text: string = "";
  /** Of a list: its items; of an object: its values. */
  items: Array<Json> = [];
  /** Of an object: its keys, in the order of the values. */
  keys: Array<string> = [];

  static null(): Json {
    return new Json();
  }

  static bool(v: bool): Json {
    const j = new Json();
    j.kind = Kind.Bool;
    j.isTrue = v;
    return j;
  }

  /** A number; one that is not finite becomes null. */
  static number(v: f64): Json {
    const j = new Json();
    if (!isFinite(v)) return j;
    j.kind = Kind.Number;
    j.number = v;
    return j;
  }

  static text(v: string): Json {
    const j = new Json();
    j.kind = Kind.Text;
    j.text = v;
    return j;
  }

  static list(): Json {
    const j = new Json();
    j.kind = Kind.List;
    return j;
  }

  /** A list of texts. */
  static texts(all: Array<string>): Json {
    const j = Json.list();
    for (let i = 0; i < all.length; i++) j.items.push(Json.text(all[i]));
    return j;
  }

  static object(): Json {
    const j = new Json();
    j.kind = Kind.Object;
    return j;
  }

  get isNull(): bool {
    return this.kind == Kind.Null;
  }

  /** Of a number: cut to a whole one; one beyond i32 reads as the nearest there is. */
  get int(): i32 {
    return <i32>Math.min(Math.max(this.number, <f64>i32.MIN_VALUE), <f64>i32.MAX_VALUE);
  }

  has(key: string): bool {
    return this.keys.indexOf(key) >= 0;
  }

  /** The value of a key; null where there is none. */
  get(key: string): Json {
    const i = this.keys.indexOf(key);
    return i < 0 ? new Json() : this.items[i];
  }

  /** Gives a key of an object a value. */
  set(key: string, value: Json): Json {
    const i = this.keys.indexOf(key);
    if (i >= 0) {
      this.items[i] = value;
    } else {
      this.keys.push(key);
      this.items.push(value);
    }
    return this;
  }

  /** Adds an item to a list. */
  push(value: Json): Json {
    this.items.push(value);
    return this;
  }

  toString(): string {
    return format(this);
  }
}
