import { useState } from "react";
import { Url } from "../ui/text";
import type { Request } from "../api/types";
import { duration, plural, time } from "../lib/format";
import { go, useParams } from "../lib/route";

const colour: Record<string, string> = { "2xx": "var(--c2)", "3xx": "var(--c3)", "4xx": "var(--c4)", "5xx": "var(--c5)", none: "var(--c0)" };
const gaps: Record<string, string> = {
  delay: "the job's delay",
  "crawl-delay": "Crawl-delay",
  adaptive: "as long as the download asks for",
  backoff: "back-off",
  "retry-after": "Retry-After",
  address: "an address shared with another host",
  idle: "nothing to ask for, or others' turn",
  first: "first request",
};

const width = 640;
const height = 64;
const mid = 34;

/**
 * Requests to a host in time: a dot each, its size the duration, its colour the class of the answer; what lies between
 * them is hatched where the host rested, so that one sees the politeness.
 */
export function HostLine({ line, explain }: { line: Request[]; explain: (url: string) => string }) {
  const [params, set] = useParams();
  const [over, setOver] = useState<number | null>(null);
  const table = params.get("twin") === "1";
  const shown = line.slice(-60);
  if (shown.length === 0) return <p className="muted">No request yet.</p>;
  const from = Date.parse(shown[0]!.start);
  const last = shown[shown.length - 1]!;
  const span = Math.max(Date.parse(last.start) + last.ms - from, 1000);
  const x = (ms: number) => 8 + ((width - 16) * ms) / span;
  const dots = shown.map((r) => {
    const at = Date.parse(r.start) - from;
    return { r, at, x: x(at + r.ms / 2), radius: Math.min(3 + Math.sqrt(r.ms) / 8, 9) };
  });
  const told = over === null ? null : dots[over]!.r;
  const rest = shown.filter((r) => (r.gap_ms ?? 0) > 0).map((r) => r.gap_ms!);
  rest.sort((a, b) => a - b);
  const summary =
    `${plural(shown.length, "request")} in ${duration(span)}` +
    (rest.length ? `; the shortest rest between two was ${duration(rest[0]!)}, half were at least ${duration(rest[rest.length >> 1]!)}` : "");
  return (
    <figure>
      <svg viewBox={`0 0 ${width} ${height}`} width="100%" role="img" aria-label={summary} className="hostline">
        <defs>
          <pattern id="rest" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
            <line x1="0" y1="0" x2="0" y2="5" stroke="var(--mark)" strokeWidth="1" />
          </pattern>
        </defs>
        <line x1="0" x2={width} y1={mid} y2={mid} stroke="var(--line)" />
        {dots.map(({ r, at }, i) => {
          const gap = Math.min(r.gap_ms ?? 0, at);
          if (gap <= 0 || r.gap === "idle" || r.gap === "first") return null;
          return <rect key={i} x={x(at - gap)} y={mid - 6} width={Math.max(x(at) - x(at - gap), 0)} height="12" fill="url(#rest)" opacity="0.7" />;
        })}
        {dots.map(({ r, x, radius }, i) => (
          <circle
            key={i}
            cx={x}
            cy={mid}
            r={radius}
            fill={colour[r.class] ?? "var(--mark)"}
            stroke="var(--raised)"
            strokeWidth="1"
            style={{ cursor: "pointer" }}
            onMouseEnter={() => setOver(i)}
            onMouseLeave={() => setOver(null)}
            onClick={() => go(explain(r.url).slice(1))}
          />
        ))}
        <text x="8" y={height - 4} fontSize="11" fill="var(--muted)">
          {time(shown[0]!.start)}
        </text>
        <text x={width - 8} y={height - 4} fontSize="11" fill="var(--muted)" textAnchor="end">
          {time(last.start)}
        </text>
      </svg>
      <figcaption className="small muted" style={{ minHeight: "3em" }}>
        {told
          ? `${time(told.start)} · ${told.status || "no answer"} · took ${duration(told.ms)}` +
            (told.gap && told.gap !== "first" ? ` · rested ${duration(told.gap_ms ?? 0)} before: ${gaps[told.gap] ?? told.gap}` : "") +
            ` · ${told.url}`
          : `${summary}. Hatched: the host rests.`}{" "}
        <button type="button" className="plain small" style={{ height: "auto", minHeight: 0, padding: 0, textDecoration: "underline" }} onClick={() => set({ twin: table ? undefined : "1" })}>
          {table ? "Hide the table" : "As a table"}
        </button>
      </figcaption>
      {table && (
        <div className="scroll" style={{ maxHeight: 280 }} tabIndex={0} role="region" aria-label="Requests as a table">
          <table>
            <thead>
              <tr>
                <th scope="col">Start</th>
                <th scope="col" className="num">
                  Rest before
                </th>
                <th scope="col">Because of</th>
                <th scope="col" className="num">
                  Took
                </th>
                <th scope="col" className="num">
                  Status
                </th>
                <th scope="col">URL</th>
              </tr>
            </thead>
            <tbody>
              {[...shown].reverse().map((r, i) => (
                <tr key={i}>
                  <td className="nowrap">{time(r.start)}</td>
                  <td className="num">{r.gap_ms ? duration(r.gap_ms) : ""}</td>
                  <td>{r.gap ? (gaps[r.gap] ?? r.gap) : ""}</td>
                  <td className="num">{duration(r.ms)}</td>
                  <td className="num">{r.status || "none"}</td>
                  <td className="grow">
                    <Url url={r.url} href={explain(r.url)} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </figure>
  );
}
