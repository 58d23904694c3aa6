import { useState, type ReactNode } from "react";
import { count, rate, time } from "../lib/format";

export interface Line {
  name: string;
  colour: string;
  values: number[];
}

interface Props {
  title: string;
  unit?: string;
  at: number[]; // seconds since 1970, one a value
  lines: Line[];
  gaps?: number[]; // indexes before which some are missing
  summary: string; // for those who cannot see it
  whole?: boolean; // values are counts, not rates
  named?: boolean; // a single line bears its name, too
  children?: ReactNode; // beside the title
}

const width = 420;
const height = 140;
const left = 4;
const top = 16;
const bottom = 20;

/** The smallest round number that is not below n. */
export function roundUp(n: number): number {
  if (n <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(n));
  return [1, 2, 2.5, 5, 10].map((f) => f * power).find((f) => f >= n)!;
}

/**
 * Lines over time: few ticks, the baseline, the last value at the line's end, a crosshair with exact values. What is
 * missing is a gap.
 */
export function Chart({ title, unit, at, lines, gaps = [], summary, whole, named, children }: Props) {
  const [over, setOver] = useState<number | null>(null);
  const [twin, setTwin] = useState(false);
  const n = at.length;
  const right = Math.max(56, ...lines.map((l) => 12 + 6.4 * (l.name.length + 7)));
  const most = roundUp(Math.max(0, ...lines.flatMap((l) => l.values)));
  const from = at[0] ?? 0;
  const to = Math.max(at[n - 1] ?? 1, from + 10);
  const x = (t: number) => left + ((width - left - right) * (t - from)) / (to - from);
  const y = (v: number) => top + (height - top - bottom) * (1 - v / most);
  const shown = (v: number | undefined) => (v === undefined ? "–" : whole ? count(v) : rate(v));
  const path = (values: number[]) =>
    values.map((v, i) => `${i === 0 || gaps.includes(i) ? "M" : "L"}${x(at[i]!).toFixed(1)} ${y(v).toFixed(1)}`).join("");
  const ends = spread(lines.map((l) => y(l.values[n - 1] ?? 0)));
  const near = (e: React.PointerEvent<SVGSVGElement>) => {
    const box = e.currentTarget.getBoundingClientRect();
    const t = from + ((((e.clientX - box.left) / box.width) * width - left) / (width - left - right)) * (to - from);
    let best = 0;
    for (let i = 0; i < n; i++) if (Math.abs(at[i]! - t) < Math.abs(at[best]! - t)) best = i;
    setOver(n ? best : null);
  };
  return (
    <figure style={{ minWidth: 0 }}>
      <figcaption className="section-head" style={{ marginBottom: "var(--s-1)" }}>
        <h2 className="cap">
          {title}
          {unit && <span className="muted small"> {unit}</span>}
        </h2>
        {children}
        <button type="button" className="plain small right" style={{ height: 20, minHeight: 0 }} aria-pressed={twin} onClick={() => setTwin(!twin)}>
          {twin ? "Chart" : "Table"}
        </button>
      </figcaption>
      {twin ? (
        <Twin at={at} lines={lines} shown={shown} />
      ) : (
        <svg
          viewBox={`0 0 ${width} ${height}`}
          width="100%"
          role="img"
          aria-label={summary}
          style={{ display: "block", touchAction: "pan-y" }}
          onPointerMove={near}
          onPointerLeave={() => setOver(null)}
        >
          {(n ? [0, 0.5, 1] : [0]).map((f) => (
            <g key={f}>
              <line x1={left} x2={width - right} y1={y(f * most)} y2={y(f * most)} stroke="var(--line)" strokeWidth={f === 0 ? 1 : 0.5} />
              {f > 0 && (
                <text x={left} y={y(f * most) - 3} fontSize="10" fill="var(--muted)">
                  {shown(f * most)}
                </text>
              )}
            </g>
          ))}
          {lines.map((l) => (
            <path key={l.name} d={path(l.values)} fill="none" stroke={l.colour} strokeWidth="1.6" strokeLinejoin="round" />
          ))}
          {(n ? lines : []).map((l, i) => (
            <text key={l.name} x={x(at[n - 1]!) + 6} y={ends[i]! + 3.5} fontSize="11" fill={l.colour} style={{ fontVariantNumeric: "tabular-nums" }}>
              {named || lines.length > 1 ? l.name + " " : ""}
              <tspan fill="var(--text)">{shown(l.values[over ?? n - 1])}</tspan>
            </text>
          ))}
          {over !== null && n > 0 && <line x1={x(at[over]!)} x2={x(at[over]!)} y1={top} y2={height - bottom} stroke="var(--mark)" />}
          <text x={left} y={height - 6} fontSize="10" fill="var(--muted)">
            {n ? time(from * 1000) : ""}
          </text>
          <text x={width - right} y={height - 6} fontSize="10" fill="var(--muted)" textAnchor="end">
            {n ? time((over === null ? to : at[over]!) * 1000) : ""}
          </text>
          {n === 0 && (
            <text x={left} y={height / 2} fontSize="12" fill="var(--muted)">
              The first figures come within seconds.
            </text>
          )}
        </svg>
      )}
    </figure>
  );
}

/** Moves labels apart that would lie on one another. */
function spread(ys: number[]): number[] {
  const order = ys.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y);
  const out = [...ys];
  let before = -Infinity;
  for (const { y, i } of order) {
    out[i] = before = Math.max(y, before + 13);
  }
  const past = Math.max(...out, 0) - (height - bottom + 4);
  return past > 0 ? out.map((y) => Math.max(top, y - past)) : out;
}

function Twin({ at, lines, shown }: { at: number[]; lines: Line[]; shown: (v: number | undefined) => string }) {
  const step = Math.max(1, Math.floor(at.length / 40));
  const rows = at.map((_, i) => i).filter((i) => (at.length - 1 - i) % step === 0);
  return (
    <div className="scroll" style={{ maxHeight: 160 }} tabIndex={0} role="region" aria-label="The chart as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {lines.map((l) => (
              <th key={l.name} scope="col" className="num">
                {l.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.reverse().map((i) => (
            <tr key={i}>
              <td className="nowrap">{time(at[i]! * 1000)}</td>
              {lines.map((l) => (
                <td key={l.name} className="num">
                  {shown(l.values[i])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
