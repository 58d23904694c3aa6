// The pipeline as a graph: the stages, which are always there, and the chains of nodes at the points between them. It
// flows downwards, in as many columns as there is room for.
import { useLayoutEffect, useRef, useState } from "react";
import { count, duration, plain, plural } from "../lib/format";
import { faultsOfPart, fits, keyOf, nodeKeys, placeOn, stepKeys, type Board } from "./board";
import { partsAt, type Part, type Point } from "./document";
import { about, gist, isEnd, shortName } from "./kinds";

type Item = { stage: string; label: string } | { point: Point };

/** The four parts of a page's way: to the request, through the parser, its links, its record. */
const groups: Item[][] = [
  [{ point: "provider" }, { stage: "frontier", label: "Frontier" }, { point: "request" }, { stage: "fetcher", label: "Fetch" }],
  [{ point: "response" }, { stage: "parser", label: "Parse" }, { point: "document" }],
  [{ point: "links" }, { stage: "urlfilter", label: "Filter" }, { stage: "hostsplitter", label: "Split by host" }, { stage: "due", label: "Seen before?" }],
  [{ stage: "contentseen", label: "Content seen?" }, { point: "record" }, { stage: "store", label: "Store" }, { point: "output" }],
];

const high = { stage: 36, card: 54, slot: 32, gap: 24, gutter: 40 };

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
  item: Item;
  part?: Part;
  place: number; // of a node in its chain; of a slot: behind the last
}

interface Layout {
  boxes: Box[][]; // by group
  lines: string[];
  flows: { x: number; y: number; text: string }[]; // what passed between two nodes
  back: { x: number; y: number };
  height: number;
}

function stack(b: Board, group: Item[], x: number, y: number, w: number): Box[] {
  const out: Box[] = [];
  const put = (item: Item, h: number, place: number, part?: Part) => {
    out.push({ x, y, w, h, item, part, place });
    y += h + high.gap;
  };
  for (const item of group) {
    if ("stage" in item) {
      put(item, high.stage, 0);
      continue;
    }
    const mine = partsAt(b.parts, item.point);
    mine.forEach((p, i) => put(item, high.card, i, p));
    put(item, high.slot, mine.length);
  }
  return out;
}

const bottom = (boxes: Box[]) => boxes[boxes.length - 1]!.y + boxes[boxes.length - 1]!.h;

/** A line that turns at right angles, with round corners. */
function path(points: [number, number][]): string {
  let d = `M${points[0]![0]} ${points[0]![1]}`;
  for (let i = 1; i < points.length; i++) {
    const [x, y] = points[i]!;
    const next = points[i + 1];
    if (!next) {
      d += `L${x} ${y}`;
      continue;
    }
    const [px, py] = points[i - 1]!;
    const r = Math.min(10, Math.hypot(x - px, y - py) / 2, Math.hypot(next[0] - x, next[1] - y) / 2);
    const a = [x - Math.sign(x - px) * r, y - Math.sign(y - py) * r];
    const c = [x + Math.sign(next[0] - x) * r, y + Math.sign(next[1] - y) * r];
    d += `L${a[0]} ${a[1]}Q${x} ${y} ${c[0]} ${c[1]}`;
  }
  return d;
}

const columnsOf = (width: number) => (width >= 860 ? 4 : width >= 480 ? 2 : 1);

function layout(b: Board, width: number): Layout {
  const columns = columnsOf(width);
  const margin = columns === 1 ? 20 : 0;
  const w = Math.floor(Math.min(300, (width - margin - (columns - 1) * high.gutter) / columns));
  const x = (column: number) => margin + column * (w + high.gutter);
  const boxes: Box[][] = [];
  let row = 16;
  groups.forEach((g, i) => {
    if (i > 0 && i % columns === 0) row = Math.max(...boxes.slice(i - columns, i).map(bottom)) + (columns === 1 ? (i === 3 ? 48 : high.gap) : 48);
    boxes.push(stack(b, g, x(i % columns), row, w));
  });
  const mid = (group: number) => boxes[group]![0]!.x + w / 2;
  const top = (group: number) => boxes[group]![0]!.y;
  const end = (group: number) => bottom(boxes[group]!);
  const lines: string[] = [];
  const over = (from: number, to: number) => {
    // down, into the gutter before the other column, up, and in from above
    const gutter = boxes[to]![0]!.x - high.gutter / 2;
    const below = end(from) + high.gap / 2;
    lines.push(path([[mid(from), end(from)], [mid(from), below], [gutter, below], [gutter, top(to) - 8], [mid(to), top(to) - 8], [mid(to), top(to)]]));
  };
  const down = (from: number, to: number) => {
    const between = top(to) - (columns === 1 ? high.gap / 2 : 24);
    lines.push(path([[mid(from), end(from)], [mid(from), between], [mid(to), between], [mid(to), top(to)]].filter((p, i, all) => i === 0 || p[0] !== all[i - 1]![0] || p[1] !== all[i - 1]![1]) as [number, number][]));
  };
  if (columns === 4) {
    over(0, 1);
    over(1, 2);
    // the record's way leaves below that of the links
    const under = Math.max(end(1), end(2)) + high.gap + 26;
    const before = boxes[3]![0]!.x - high.gutter / 2;
    lines.push(path([[mid(1), end(1)], [mid(1), under], [before, under], [before, top(3) - 8], [mid(3), top(3) - 8], [mid(3), top(3)]]));
  } else if (columns === 2) {
    over(0, 1);
    down(1, 2);
    down(1, 3);
  } else {
    down(0, 1);
    down(1, 2);
    const last = boxes[1]![boxes[1]!.length - 1]!;
    const y = last.y + last.h / 2;
    lines.push(path([[last.x, y], [6, y], [6, top(3) - high.gap / 2], [mid(3), top(3) - high.gap / 2], [mid(3), top(3)]]));
  }
  const flows: Layout["flows"] = [];
  for (const g of boxes) {
    for (let i = 0; i + 1 < g.length; i++) {
      const [a, z] = [g[i]!, g[i + 1]!];
      lines.push(path([[a.x + w / 2, a.y + a.h], [a.x + w / 2, z.y]]));
      const f = a.part && b.figures.get(a.part.id);
      if (b.live && f) flows.push({ x: a.x + w / 2 + 8, y: a.y + a.h + high.gap / 2 + 4, text: count(f.calls + f.skipped + f.passed - f.dropped) });
    }
  }
  const last = boxes[2]![boxes[2]!.length - 1]!;
  return { boxes, lines, flows, back: { x: last.x, y: last.y + last.h + 6 }, height: Math.max(...boxes.map(bottom)) + (columns === 4 ? 64 : 40) };
}

export function Graph({ b }: { b: Board }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const el = box.current!;
    const measure = () => setWidth(el.clientWidth);
    measure();
    const o = new ResizeObserver(measure);
    o.observe(el);
    return () => o.disconnect();
  }, []);
  const l = width > 0 ? layout(b, width) : null;
  return (
    <div className="c-graph" ref={box} style={{ height: l?.height ?? 400 }} role="group" aria-label="Graph of the pipeline">
      {l && (
        <>
          <svg width={width} height={l.height} aria-hidden="true">
            {l.lines.map((d, i) => (
              <path key={i} d={d} />
            ))}
            {l.flows.map((f, i) => (
              <text key={i} x={f.x} y={f.y}>
                {f.text}
              </text>
            ))}
          </svg>
          {l.boxes.flat().map((x) => (
            <Thing key={x.part ? "n" + keyOf(x.part) : "stage" in x.item ? "s" + x.item.stage : "p" + x.item.point} b={b} x={x} />
          ))}
          <span className="c-back muted small" style={{ left: l.back.x, top: l.back.y, width: l.boxes[2]![0]!.w }}>
            ↺ new ones go to the frontier
          </span>
        </>
      )}
    </div>
  );
}

function Thing({ b, x }: { b: Board; x: Box }) {
  const style = { left: x.x, top: x.y, width: x.w, height: x.h };
  if (x.part) return <Card b={b} part={x.part} place={x.place} style={style} />;
  if ("point" in x.item) return <Slot b={b} at={x.item.point} place={x.place} style={style} />;
  const waits = b.live ? (b.waiting[x.item.stage] ?? 0) : 0;
  return (
    <div className="c-stage" style={style}>
      {x.item.label}
      {waits > 0 && <span className="muted small num">{count(waits)} wait</span>}
    </div>
  );
}

/** What a node did, in a line. */
export function figureLine(b: Board, p: Part): string {
  const f = b.figures.get(p.id);
  if (!b.live || !f) return "";
  const parts = [plural(f.calls, p.at === "provider" ? "seed" : p.at === "output" ? "row" : "call")];
  if (f.calls > 0 && !isEnd(p.at)) parts.push(`p95 ${f.p95_us < 1000 ? `${count(f.p95_us)} µs` : duration(f.p95_us / 1000)}`);
  if (f.dropped > 0) parts.push(`${count(f.dropped)} dropped`);
  if (f.errors > 0) parts.push(plural(f.errors, "error"));
  return parts.join(" · ");
}

export const isTripped = (b: Board, p: Part) => {
  const t = b.live ? b.figures.get(p.id)?.tripped : undefined;
  return !!t && Date.parse(t) > Date.now();
};

/** What a screen reader says of a node behind its name. */
export function Spoken({ b, p }: { b: Board; p: Part }) {
  const mine = partsAt(b.parts, p.at);
  return (
    <span className="hidden">
      , at {p.at}, {mine.findIndex((m) => m.index === p.index) + 1} of {mine.length}
      {p.when && ", with a condition"}
    </span>
  );
}

/** The plug-in, unless the name says it, and its settings. */
const secondLine = (p: Part) => plain([p.id === shortName(p.use) ? "" : shortName(p.use), gist(p.with)].filter(Boolean).join(" · "), 80) || shortName(p.use);

function Card({ b, part, place, style }: { b: Board; part: Part; place: number; style: object }) {
  const faults = faultsOfPart(b, part).length;
  const plugin = b.plugins.get(part.use);
  const tripped = isTripped(b, part);
  const target = b.placing && b.placing.from !== part.index && fits(b, part.at);
  return (
    <button
      type="button"
      className="c-card"
      style={style}
      data-stop=""
      data-node={keyOf(part)}
      data-target={target || undefined}
      aria-pressed={b.selected === keyOf(part)}
      draggable
      onDragStart={(e) => {
        e.dataTransfer.setData("text/plain", part.id);
        e.dataTransfer.effectAllowed = "move";
        setTimeout(() => b.hold({ use: part.use, from: part.index, dragged: true })); // a change of the page now would end the drag
      }}
      onDragEnd={() => b.hold(null)}
      onDragOver={(e) => target && e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        b.put(part.at, placeOn(b, part, place));
      }}
      onClick={() => (target ? b.put(part.at, placeOn(b, part, place)) : b.open(part))}
      onKeyDown={(e) => nodeKeys(b, part, e)}
    >
      <span className="c-name">
        <span className="clip">{plain(part.id) || "no name"}</span>
        {part.when && (
          <span className="c-tag" aria-hidden="true">
            if
          </span>
        )}
        {faults > 0 && <span className="dot bad small">{plural(faults, "fault")}</span>}
        {faults === 0 && tripped && <span className="dot bad small">resting</span>}
        {faults === 0 && !tripped && plugin && !plugin.trust.usable && <span className="dot wait small">not approved</span>}
      </span>
      <span className="muted small clip num">{figureLine(b, part) || secondLine(part)}</span>
      <Spoken b={b} p={part} />
    </button>
  );
}

export function Slot({ b, at, place, style }: { b: Board; at: Point; place: number; style?: object }) {
  const target = b.placing ? fits(b, at) : undefined;
  const what = b.placing ? shortName(b.placing.use) : "";
  return (
    <button
      type="button"
      className="c-slot"
      style={style}
      data-stop=""
      data-point={at}
      data-target={target}
      disabled={target === false}
      title={target === false ? `${what} does not serve ${at}` : about[at].text}
      onDragOver={(e) => target && e.preventDefault()}
      onDrop={(e) => {
        e.preventDefault();
        b.put(at, place);
      }}
      onClick={() => (b.placing ? b.put(at, place) : b.addAt(at))}
      onKeyDown={stepKeys}
    >
      <span className="c-plus" aria-hidden="true">
        +
      </span>
      {b.placing && target ? (
        <>
          {at}: put it here
          <span className="hidden">, {what}</span>
        </>
      ) : (
        <>
          <span className="hidden">Add at </span>
          {at}
        </>
      )}
    </button>
  );
}
