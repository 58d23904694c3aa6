import { count, share } from "../lib/format";

export interface Part {
  label: string; // what the whole is
  part: number;
  whole: number;
  word: string; // what the part is
}

/** Parts of wholes as quiet bars, one below the other. The words beside them say the same. */
export function Shares({ label, of }: { label: string; of: Part[] }) {
  return (
    <figure className="shares" aria-label={label}>
      {of.map((p) => {
        const width = p.whole > 0 ? Math.min(100, (100 * p.part) / p.whole) : 0;
        return (
          <div key={p.label}>
            <span className="small muted">{p.label}</span>
            <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
              <rect className="whole" width="100" height="8" />
              <rect className="part" width={p.part > 0 ? Math.max(width, 0.5) : 0} height="8" />
            </svg>
            <span>
              <strong className="num">{share(p.part, p.whole)}</strong> {p.word}{" "}
              <span className="muted nowrap">
                {count(p.part)} of {count(p.whole)}
              </span>
            </span>
          </div>
        );
      })}
    </figure>
  );
}
