// What the program gives a module, and what the language wants of its host.

@external("whirlpool", "log")
declare function hostLog(level: i32, text: usize, length: i32): void;

@external("whirlpool", "counter_add")
declare function hostCount(name: usize, length: i32, n: i64): void;

@external("wasi_snapshot_preview1", "random_get")
declare function randomGet(into: usize, length: i32): i32;

@external("wasi_snapshot_preview1", "fd_write")
declare function fdWrite(file: i32, parts: usize, count: i32, written: usize): i32;

/** Bytes of a text in UTF-8. A half of a surrogate pair becomes U+FFFD. */
export function utf8(text: string): ArrayBuffer {
  return String.UTF8.encode(text, false, String.UTF8.ErrorMode.REPLACE);
}

/** Adds a line to the log: of the dry run, and of the program at debug. A call has 4 KiB. */
export function log(line: string): void {
  const bytes = utf8(line);
  hostLog(0, changetype<usize>(bytes), bytes.byteLength);
}

/** Adds to a counter of the plug-in; it may have 32. */
export function count(name: string, n: i64 = 1): void {
  const bytes = utf8(name);
  hostCount(changetype<usize>(bytes), bytes.byteLength, n);
}

const scratch = memory.data(16, 8);

/** Random bits that are made of the message: the same message has the same ones. */
export function randomBits(): u64 {
  randomGet(scratch, 8);
  return load<u64>(scratch);
}

/** What Math.random begins with (asconfig.json). */
export function seed(): f64 {
  return reinterpret<f64>(randomBits());
}

/** Where throw, assert and an index out of bounds end (asconfig.json): the call fails, and says why. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const why = message === null ? "abort" : message;
  const where = file === null ? "" : " at " + file + ":" + line.toString() + ":" + column.toString();
  const bytes = utf8(why + where);
  store<u32>(scratch, <u32>changetype<usize>(bytes), 0);
  store<u32>(scratch, <u32>bytes.byteLength, 4);
  fdWrite(2, scratch, 1, scratch + 8);
  unreachable();
}
