// What the program calls: whirlpool:1. The first file of a plug-in hands these on: export * from "./whirlpool/exports".

import { configure, give, handle } from "./plugin";

/** The frame of the call under way. */
let frame: ArrayBuffer = new ArrayBuffer(0);

export function whirlpool_abi(): i32 {
  return 1;
}

export function wp_alloc(size: i32): i32 {
  frame = new ArrayBuffer(size);
  return <i32>changetype<usize>(frame);
}

export function wp_configure(length: i32): i64 {
  return give(configure(frame, length));
}

export function wp_request(length: i32): i64 {
  return give(handle("request", frame, length));
}

export function wp_response(length: i32): i64 {
  return give(handle("response", frame, length));
}

export function wp_document(length: i32): i64 {
  return give(handle("document", frame, length));
}

export function wp_links(length: i32): i64 {
  return give(handle("links", frame, length));
}

export function wp_record(length: i32): i64 {
  return give(handle("record", frame, length));
}
