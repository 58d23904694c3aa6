// The pipeline as a list: the same nodes, the same keys, and a button for each thing that can be done.
import { plain, plural } from "../lib/format";
import { faultsOfPart, fits, keyOf, nodeKeys, placeOn, type Board } from "./board";
import { partsAt, points, type Part, type Point } from "./document";
import { figureLine, isTripped, Slot, Spoken } from "./graph";
import { about, gist, shortName } from "./kinds";

/** The stage before which each point lies. */
const before: Record<Point, string> = {
  provider: "before the frontier",
  request: "before the fetch",
  response: "before parsing",
  document: "behind the parser",
  links: "before the URL filter",
  record: "before the store",
  output: "behind the store",
};

export function List({ b }: { b: Board }) {
  return (
    <ol className="c-list" aria-label="Points of the pipeline">
      {points.map((at) => {
        const mine = partsAt(b.parts, at);
        return (
          <li key={at}>
            <h2>
              {at} <span className="muted small">{before[at]}: {about[at].text}</span>
            </h2>
            {mine.length > 0 && (
              <ol aria-label={`Nodes at ${at}`}>
                {mine.map((p, i) => (
                  <Row key={keyOf(p)} b={b} p={p} place={i} last={i === mine.length - 1} />
                ))}
              </ol>
            )}
            <Slot b={b} at={at} place={mine.length} />
          </li>
        );
      })}
    </ol>
  );
}

function Row({ b, p, place, last }: { b: Board; p: Part; place: number; last: boolean }) {
  const faults = faultsOfPart(b, p);
  const name = plain(p.id) || "no name";
  const target = b.placing && b.placing.from !== p.index && fits(b, p.at);
  return (
    <li className="c-item" aria-current={b.selected === keyOf(p) || undefined}>
      <button
        type="button"
        className="c-open"
        data-stop=""
        data-node={keyOf(p)}
        data-target={target || undefined}
        onClick={() => (target ? b.put(p.at, placeOn(b, p, place)) : b.open(p))}
        onKeyDown={(e) => nodeKeys(b, p, e)}
      >
        <span className="c-name">
          <span>{name}</span>
          {p.when && (
            <span className="c-tag" aria-hidden="true">
              if
            </span>
          )}
          {faults.length > 0 && <span className="dot bad small">{plural(faults.length, "fault")}</span>}
          {isTripped(b, p) && <span className="dot bad small">resting</span>}
        </span>
        <span className="muted small clip">{plain(shortName(p.use))}</span>
        <span className="muted small clip num">{figureLine(b, p) || plain(gist(p.with), 200)}</span>
        <Spoken b={b} p={p} />
      </button>
      <span className="c-acts">
        <button type="button" className="plain" aria-label={`Move ${name} up`} title="Up (Alt ↑)" disabled={place === 0} onClick={() => b.move(p, p.at, place - 1)}>
          ↑
        </button>
        <button type="button" className="plain" aria-label={`Move ${name} down`} title="Down (Alt ↓)" disabled={last} onClick={() => b.move(p, p.at, place + 1)}>
          ↓
        </button>
        <button type="button" className="plain" aria-label={`Move ${name} to another point`} title="To another point (m)" onClick={() => b.hold({ use: p.use, from: p.index })}>
          →
        </button>
        <button type="button" className="plain" aria-label={`Duplicate ${name}`} title="Duplicate (d)" onClick={() => b.duplicate(p)}>
          <svg width="14" height="14" viewBox="0 0 14 14" fill="none" stroke="currentColor" strokeWidth="1.3" aria-hidden="true">
            <path d="M4.5 4.5h7v7h-7zM9.5 4.5v-2h-7v7h2" />
          </svg>
        </button>
        <button type="button" className="plain" aria-label={`Remove ${name}`} title="Remove (Delete)" onClick={() => b.remove(p)}>
          ×
        </button>
      </span>
    </li>
  );
}
