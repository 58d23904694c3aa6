// What graph and list have in common: the nodes, what can be done with them, and the keys that do it.
import type { KeyboardEvent } from "react";
import type { Fault, NodeNow, Plugin } from "../api/types";
import { partsAt, type Part, type Point } from "./document";
import { servedBy } from "./kinds";

/** A plug-in, or a node, that is to be put somewhere. */
export interface Placing {
  use: string;
  from?: number; // index of the node that moves
  dragged?: boolean; // by the pointer: nothing may move beneath that
}

export interface Board {
  parts: Part[];
  plugins: Map<string, Plugin>;
  faults: Fault[];
  figures: Map<string, NodeNow>; // by the node's name
  waiting: Record<string, number>; // before each stage
  live: boolean;
  selected: string;
  placing: Placing | null;
  open: (p: Part) => void;
  addAt: (at: Point) => void;
  hold: (what: Placing | null) => void;
  put: (at: Point, place: number) => void; // what is being placed
  move: (p: Part, at: Point, place: number) => void;
  duplicate: (p: Part) => void;
  remove: (p: Part) => void;
}

export const keyOf = (p: Part) => p.key;

export const faultsOfPart = (b: Board, p: Part) => b.faults.filter((f) => f.key?.startsWith(`pipeline.nodes[${p.index}]`));

/** Whether what is being placed may stand at a point. */
export const fits = (b: Board, at: Point) => !!b.placing && servedBy(b.plugins.get(b.placing.use)).includes(at);

/** Where in its chain stands what is put on a node: in its place. The node makes room to the side where that came from. */
export function placeOn(b: Board, p: Part, place: number): number {
  const from = partsAt(b.parts, p.at).findIndex((m) => m.index === b.placing?.from);
  return from >= 0 && from < place ? place + 1 : place;
}

/** The keys of a node, in graph and list alike. */
export function nodeKeys(b: Board, p: Part, e: KeyboardEvent<HTMLElement>) {
  const mine = partsAt(b.parts, p.at);
  const place = mine.findIndex((m) => m.index === p.index);
  const served = servedBy(b.plugins.get(p.use));
  const stop = () => e.preventDefault();
  if (e.altKey && (e.key === "ArrowUp" || e.key === "ArrowDown")) {
    stop();
    const to = place + (e.key === "ArrowUp" ? -1 : 1);
    if (to >= 0 && to < mine.length) b.move(p, p.at, to);
  } else if (e.altKey && (e.key === "ArrowLeft" || e.key === "ArrowRight")) {
    stop();
    const at = served[served.indexOf(p.at) + (e.key === "ArrowLeft" ? -1 : 1)];
    if (at && served.includes(p.at)) b.move(p, at, e.key === "ArrowLeft" ? Infinity : 0);
  } else if (e.altKey || e.ctrlKey || e.metaKey) {
    return;
  } else if (e.key === "Delete" || e.key === "Backspace") {
    stop();
    b.remove(p);
  } else if (e.key === "d") {
    stop();
    b.duplicate(p);
  } else if (e.key === "m") {
    stop();
    b.hold({ use: p.use, from: p.index });
  } else {
    stepKeys(e);
  }
}

/** Arrows go from one node or place to the next. */
export function stepKeys(e: KeyboardEvent<HTMLElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step || e.altKey || e.ctrlKey || e.metaKey) return;
  const all = [...document.querySelectorAll<HTMLElement>("[data-stop]:not([disabled])")];
  const next = all[all.indexOf(e.currentTarget) + step];
  if (!next) return;
  e.preventDefault();
  next.focus();
}
