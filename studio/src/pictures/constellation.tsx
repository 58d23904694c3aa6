import type { ClusterWhole, Execution, Member } from "../api/types";
import { plain, plural } from "../lib/format";
import { at, go } from "../lib/route";
import { Url } from "../ui/text";

const size = 420;
const middle = size / 2;
const most = 8; // bits: near copies differ in fewer

/** Where the copies of one distance stand on their ring: spread by the golden angle, so that rings do not line up. */
function place(m: Member, i: number): [number, number] {
  const d = m.similarity === "exact" ? 0.55 : Math.min(m.distance + 1, most);
  const r = 20 + (d / most) * (middle - 34);
  const a = i * 2.399963 + d;
  return [middle + r * Math.cos(a), middle + r * Math.sin(a)];
}

/** The original in the middle, its copies as far from it as their simhashes differ. */
export function Constellation({ x, cluster }: { x: Execution; cluster: ClusterWhole }) {
  const members = cluster.members.items ?? [];
  const original = members.find((m) => m.similarity === "original");
  const copies = members.filter((m) => m.similarity !== "original");
  const open = (m: Member) => go(at.diff(x.id, cluster.id, x.id, m.key).slice(1));
  return (
    <>
      <svg
        viewBox={`0 0 ${size} ${size}`}
        width="100%"
        style={{ maxWidth: 460, display: "block", margin: "var(--s-4) auto" }}
        role="img"
        aria-label={`The original and ${plural(copies.length, "copy", "copies")} round it; the list below has all of them`}
      >
        {Array.from({ length: most }, (_, i) => (
          <circle key={i} cx={middle} cy={middle} r={20 + ((i + 1) / most) * (middle - 34)} fill="none" stroke="var(--line)" strokeWidth="0.6" />
        ))}
        {copies.map((m, i) => {
          const [px, py] = place(m, i);
          return (
            <g key={m.key} style={{ cursor: "pointer" }} onClick={() => open(m)}>
              <line x1={middle} y1={middle} x2={px} y2={py} stroke="var(--accent)" strokeOpacity="0.22" />
              {m.similarity === "exact" ? (
                <circle cx={px} cy={py} r="4.5" fill="var(--accent)" />
              ) : (
                <circle cx={px} cy={py} r="4.5" fill="var(--raised)" stroke="var(--accent)" strokeWidth="1.6" />
              )}
              <title>{`${plain(m.title)} – ${m.similarity === "exact" ? "the same bytes" : m.distance + " of 64 bits differ"}`}</title>
            </g>
          );
        })}
        <circle cx={middle} cy={middle} r="8" fill="var(--text)" />
        <text x={middle} y={size - 4} textAnchor="middle" fontSize="11" fill="var(--muted)">
          rings: bits of 64 that differ · filled: the same bytes
        </text>
      </svg>
      <table aria-label="Members of the group">
        <thead>
          <tr>
            <th scope="col">Page</th>
            <th scope="col" className="num">
              Bits
            </th>
          </tr>
        </thead>
        <tbody>
          {(original ? [original, ...copies] : copies).map((m) => (
            <tr key={m.key}>
              <td className="grow">
                <Url url={m.url} href={m.similarity === "original" ? at.record(x.id, m.key) : at.diff(x.id, cluster.id, x.id, m.key)} />
              </td>
              <td className="num muted">{m.similarity === "original" ? "original" : m.similarity === "exact" ? "same bytes" : m.distance}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}
