import type { TextDiff } from "../api/types";
import { count, plain } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Head } from "../ui/shell";
import { Empty, Notice, Shown } from "../ui/state";
import { Url, When } from "../ui/text";

/** Two texts side by side, what differs marked. */
export default function Diff() {
  const [p] = useParams();
  const [a, b] = [p.get("a") ?? "", p.get("b") ?? ""];
  const visit = p.get("visit");
  const two = { first: a, first_key: p.get("ka") ?? "", second: b, second_key: p.get("kb") ?? "" };
  const cut = !a || !two.first_key || !(visit || (b && two.second_key)); // the address is not a whole one
  const diff = useGet<TextDiff>(
    cut ? null : visit ? `/executions/${enc(a)}/records/${enc(p.get("ka") ?? "")}/versions/${enc(visit)}/diff` : "/compare/texts",
    visit ? {} : two,
  );
  return (
    <>
      <Head where={a && <a href={at.execution(a)}>{a}</a>} title={visit ? "Two versions of a page" : "Two texts"} />
      {cut ? (
        <Empty title="The address names no two texts">
          <p>It may be cut. A record with copies or earlier versions leads here, and so does what two executions found differently.</p>
        </Empty>
      ) : (
        <Shown of={diff}>{(d) => <Sides d={d} />}</Shown>
      )}
    </>
  );
}

function Sides({ d }: { d: TextDiff }) {
  const pieces = d.pieces ?? [];
  const same = pieces.filter((p) => p.op === "=").reduce((n, p) => n + words(p.text), 0);
  const all = Math.max(d.a.words, d.b.words, 1);
  return (
    <>
      <p className="sub">
        {count(same)} of {count(all)} words stand in both, in the same order.{d.cut ? " The texts were too long to be compared whole." : ""}
      </p>
      {[d.a, d.b].map((s, i) => s.note && <Notice key={i} tone="wait">{s.note}</Notice>)}
      <div className="split" style={{ margin: "var(--s-4) 0 var(--s-2)" }}>
        {[d.a, d.b].map((s, i) => (
          <div key={i} style={{ minWidth: 0 }}>
            <h2 className="clip">{plain(s.title) || "Without a title"}</h2>
            <span className="small">
              <Url url={s.url} href={at.explain(s.execution, s.url)} />
            </span>
            <span className="small muted">
              {s.execution} · {count(s.words)} words
              {s.fetched_at && (
                <>
                  {" · fetched "}
                  <When at={s.fetched_at} />
                </>
              )}
            </span>
          </div>
        ))}
      </div>
      <div className="texts">
        <div aria-label="The first text">{pieces.map((p, i) => (p.op === "+" ? null : p.op === "-" ? <del key={i}>{plain(p.text, 50_000)}</del> : <span key={i}>{plain(p.text, 50_000)}</span>))}</div>
        <div aria-label="The second text">{pieces.map((p, i) => (p.op === "-" ? null : p.op === "+" ? <ins key={i}>{plain(p.text, 50_000)}</ins> : <span key={i}>{plain(p.text, 50_000)}</span>))}</div>
      </div>
    </>
  );
}

const words = (t: string | undefined) => (t ? t.split(/\s+/).filter(Boolean).length : 0);
