import { useMemo, useState } from "react";
import type { Host, Whirl } from "../api/types";
import { count, plural, share } from "../lib/format";
import { at, go } from "../lib/route";

const size = 360;
const middle = size / 2;
const inner = 26;
const outer = 172;

interface Arc {
  s: number;
  d: number;
  from: number;
  to: number;
  done: number;
  queued: number;
  left: number;
}

/** A piece of a ring between two angles, in turns. */
function ring(r0: number, r1: number, a0: number, a1: number): string {
  const turn = Math.min(a1 - a0, 0.9999);
  const p = (r: number, a: number) => {
    const w = 2 * Math.PI * a - Math.PI / 2;
    return `${(middle + r * Math.cos(w)).toFixed(2)} ${(middle + r * Math.sin(w)).toFixed(2)}`;
  };
  const big = turn > 0.5 ? 1 : 0;
  const end = a0 + turn;
  return `M${p(r0, a0)}L${p(r1, a0)}A${r1} ${r1} 0 ${big} 1 ${p(r1, end)}L${p(r0, end)}A${r0} ${r0} 0 ${big} 0 ${p(r0, a0)}Z`;
}

/**
 * The crawl as rings: the radius is the depth, a sector a host, as wide as it is large. What is done is filled, what
 * is queued is outlined. A dot at the rim marks a host that waits for more than the usual delay.
 */
export function WhirlPicture({ id, whirl, hosts }: { id: string; whirl: Whirl; hosts: Host[] }) {
  const [over, setOver] = useState<Arc | null>(null);
  const [twin, setTwin] = useState(false);
  const { arcs, starts, width } = useMemo(() => lay(whirl), [whirl]);
  const sectors = whirl.sectors ?? [];
  const why = new Map(hosts.filter((h) => h.why && h.why !== "delay" && h.why !== "idle").map((h) => [h.key, h]));
  const done = sectors.reduce((n, s) => n + s.done, 0);
  const failed = (whirl.cells ?? []).reduce((n, c) => n + (c.failed ?? 0), 0);
  const nameOf = (s: number) => sectors[s]?.host || plural(sectors[s]?.hosts ?? 0, "smaller host");
  const open = (a: Arc) => {
    const host = sectors[a.s]?.host;
    const q: Record<string, string> = { depth: String(a.d) };
    if (host) q["host"] = host;
    go(at.urls(id, q).slice(1));
  };
  const summary = `${plural(sectors.reduce((n, s) => n + (s.done + s.queued > 0 ? s.hosts : 0), 0), "host")}, ${plural(whirl.depths, "ring")}: ${plural(done, "URL")} done${failed ? `, ${count(failed)} of them failed` : ""}, ${count(whirl.queued_all)} queued`;
  return (
    <figure>
      <figcaption className="section-head" style={{ marginBottom: "var(--s-1)" }}>
        <h2 className="cap">
          The whirl <span className="muted small">depth outwards, hosts around</span>
        </h2>
        <button type="button" className="plain small right" style={{ height: 20, minHeight: 0 }} aria-pressed={twin} onClick={() => setTwin(!twin)}>
          {twin ? "Picture" : "Table"}
        </button>
      </figcaption>
      {twin ? (
        <Twin whirl={whirl} id={id} />
      ) : (
        <svg viewBox={`0 0 ${size} ${size}`} width="100%" style={{ display: "block", maxWidth: 440, margin: "0 auto" }} role="img" aria-label={summary}>
          {Array.from({ length: whirl.depths }, (_, d) => (
            <circle key={d} cx={middle} cy={middle} r={inner + (d + 1) * width} fill="none" stroke="var(--line)" strokeWidth="0.5" />
          ))}
          {arcs.map((a) => {
            const r0 = inner + a.d * width;
            const all = a.done + a.queued;
            const part = all ? a.done / all : 0;
            const here = over !== null && over.s === a.s && over.d === a.d;
            return (
              <g key={`${a.s}.${a.d}`} style={{ cursor: "pointer" }} onPointerEnter={() => setOver(a)} onPointerLeave={() => setOver(null)} onClick={() => open(a)}>
                <path d={ring(r0 + 0.5, r0 + width - 0.5, a.from, a.to)} fill="transparent" stroke={a.queued ? "var(--accent)" : "none"} strokeWidth="0.7" />
                {part > 0 && (
                  <path
                    d={ring(r0 + 0.5, r0 + width - 0.5, a.from, a.from + (a.to - a.from) * part)}
                    fill="var(--accent)"
                    fillOpacity={here ? 1 : 0.25 + 0.6 * Math.min(1, Math.log10(1 + a.done) / 3.5)}
                  />
                )}
              </g>
            );
          })}
          {sectors.map((s, i) => {
            if (!s.host || !why.has(s.host)) return null;
            const w = 2 * Math.PI * ((starts[i]![0] + starts[i]![1]) / 2) - Math.PI / 2;
            const r = outer + 5;
            return (
              <path
                key={i}
                d="M0 -3.5L3.5 0L0 3.5L-3.5 0Z"
                transform={`translate(${(middle + r * Math.cos(w)).toFixed(1)} ${(middle + r * Math.sin(w)).toFixed(1)})`}
                fill="var(--wait)"
              >
                <title>
                  {s.host}: {why.get(s.host)!.text ?? why.get(s.host)!.why}
                </title>
              </path>
            );
          })}
          <text x={middle} y={middle - 1} textAnchor="middle" fontSize="15" fill="var(--text)" style={{ fontVariantNumeric: "tabular-nums" }}>
            {count(done)}
          </text>
          <text x={middle} y={middle + 12} textAnchor="middle" fontSize="10" fill="var(--muted)">
            done
          </text>
        </svg>
      )}
      <p className="small muted" style={{ minHeight: "2.9em", textAlign: "center" }} aria-hidden={over === null}>
        {over
          ? `${nameOf(over.s)}, depth ${over.d}: ${count(over.done)} done, ${count(over.queued)} queued, ${count(over.left)} left out`
          : `${summary}${why.size ? `. ${plural(why.size, "host")} marked at the rim: ${why.size === 1 ? "it waits" : "they wait"} for more than the usual delay` : ""}`}
      </p>
    </figure>
  );
}

function lay(w: Whirl): { arcs: Arc[]; starts: [number, number][]; width: number } {
  const sectors = w.sectors ?? [];
  // Roots, so that small hosts are seen beside large ones.
  const weights = sectors.map((s) => Math.sqrt(s.done + s.queued));
  const sum = weights.reduce((a, b) => a + b, 0) || 1;
  const starts: [number, number][] = [];
  let at = 0;
  for (const x of weights) {
    starts.push([at, (at += x / sum)]);
  }
  const width = (outer - inner) / Math.max(w.depths, 1);
  const gap = sectors.length > 1 ? Math.min(0.002, 0.1 / sectors.length) : 0;
  const arcs = (w.cells ?? []).flatMap((c) => {
    const s = starts[c.s];
    if (!s) return [];
    const done = (c.done ?? 0) + (c.failed ?? 0);
    if (!done && !c.queued) return [];
    return [{ s: c.s, d: c.d, from: s[0] + gap, to: s[1] - gap, done, queued: c.queued ?? 0, left: c.excluded ?? 0 }];
  });
  return { arcs, starts, width };
}

function Twin({ whirl, id }: { whirl: Whirl; id: string }) {
  const sectors = whirl.sectors ?? [];
  return (
    <div className="scroll" style={{ maxHeight: 360 }} tabIndex={0} role="region" aria-label="The whirl as a table">
      <table>
        <thead>
          <tr>
            <th scope="col">Host</th>
            <th scope="col" className="num">
              Done
            </th>
            <th scope="col" className="num">
              Queued
            </th>
            <th scope="col" className="num">
              Share done
            </th>
          </tr>
        </thead>
        <tbody>
          {sectors.map((s, i) => (
            <tr key={i}>
              <td>{s.host ? <a href={at.host(id, s.host)}>{s.host}</a> : plural(s.hosts, "smaller host")}</td>
              <td className="num">{count(s.done)}</td>
              <td className="num">{count(s.queued)}</td>
              <td className="num">{share(s.done, s.done + s.queued)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
