import { useEffect } from "react";
import type { Compared, Comparison } from "../api/types";
import { count, plain, share, size } from "../lib/format";
import { useGet } from "../lib/query";
import { at, useParams } from "../lib/route";
import { Figure, Figures } from "../ui/figure";
import { behind, useList } from "../ui/more";
import { Head } from "../ui/shell";
import { Empty, Notice, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Url } from "../ui/text";

const words: Record<string, string> = { new: "new", gone: "gone", changed: "changed", touched: "other bytes, same text", same: "the same" };

/** What two executions found, compared. */
export default function Compare() {
  const [p] = useParams();
  const [a, b] = [p.get("a") ?? "", p.get("b") ?? ""];
  if (a && b) return <Both a={a} b={b} />;
  return (
    <>
      <Head where={<a href="#/w">Workflows</a>} title="Compare" />
      <Empty title="Choose two executions">
        <p>
          Open a <a href="#/w">workflow</a> and choose two of its executions: what is new, gone and changed in the second stands here.
        </p>
      </Empty>
    </>
  );
}

function Both({ a, b }: { a: string; b: string }) {
  const [p] = useParams();
  const change = p.get("change") ?? "";
  const sums = useGet<Comparison>("/compare", { first: a, second: b });
  const list = useList<Compared>("/compare/changes", { first: a, second: b, change });
  const late = (sums.data?.indexes ?? []).flatMap((index, i) => (index && behind(index) ? [{ id: [a, b][i]!, share: index.share, fault: index.fault }] : []));
  const again = late.some((l) => !l.fault);
  const first = list.first;
  useEffect(() => {
    if (!again) return;
    const timer = setTimeout(() => {
      sums.reload();
      first.reload();
    }, 3000);
    return () => clearTimeout(timer);
  }, [again, sums, first]);
  const link = (c: string) => `${at.compare(a, b)}&change=${c}`;
  const columns: Column<Compared>[] = [
    {
      key: "url",
      label: "URL",
      grow: true,
      cell: (c) => (
        <div style={{ minWidth: 0, padding: "4px 0" }}>
          <Url url={c.url} href={c.change === "changed" ? at.diff(a, c.key, b, c.key) : at.explain(c.change === "gone" ? a : b, c.url)} />
          <span className="small muted clip" style={{ display: "block" }}>
            {plain((c.after ?? c.before)?.title)}
          </span>
        </div>
      ),
    },
    { key: "change", label: "What", cell: (c) => words[c.change] ?? c.change },
    { key: "before", label: "Words before", num: true, cell: (c) => (c.before ? count(c.before.words) : "") },
    { key: "after", label: "after", num: true, cell: (c) => (c.after ? count(c.after.words) : "") },
    { key: "size", label: "Size", num: true, cell: (c) => size((c.after ?? c.before)?.bytes) },
  ];
  return (
    <>
      <Head
        where={<a href={at.workflow(b.replace(/-\d+$/, ""))}>{b.replace(/-\d+$/, "")}</a>}
        title={
          <>
            <a href={at.execution(a)}>{a}</a> and <a href={at.execution(b)}>{b}</a>
          </>
        }
      />
      {late.map((l) => (
        <Notice key={l.id} tone="wait">
          <strong>
            The index of {l.id} has {share(l.share, 1)} of what was crawled so far.
          </strong>{" "}
          {l.fault ? `It stands still: ${l.fault}.` : "The figures follow it."} What it does not have yet is not counted, or counts as {l.id === a ? "new" : "gone"}.
        </Notice>
      ))}
      <Shown of={sums} lines={2}>
        {(s) => (
          <Figures label="What differs">
            {(["new", "gone", "changed", "touched", "same"] as const).map((c) => (
              <Figure key={c} label={words[c]!} value={count(s[c])} href={link(c)} />
            ))}
          </Figures>
        )}
      </Shown>
      <section>
        <div className="section-head">
          <h2>{change ? words[change] : "All that differs"}</h2>
          {change && (
            <a className="right small" href={at.compare(a, b)}>
              All that differs
            </a>
          )}
        </div>
        <Shown of={list.first}>
          {() =>
            list.rows.length ? (
              <>
                <Table label="URLs" rows={list.rows} columns={columns} id={(c) => c.key} />
                {list.more}
              </>
            ) : (
              <Empty title="Nothing">
                <p>{change ? "No URL of this kind." : "Both found the same pages with the same texts."}</p>
                {list.more}
              </Empty>
            )
          }
        </Shown>
      </section>
    </>
  );
}
