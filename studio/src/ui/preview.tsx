import { useEffect, useState } from "react";
import type { Preview } from "../api/types";
import { call, Problem } from "../lib/api";
import { count, plain } from "../lib/format";
import { enc } from "../lib/route";
import { Changes } from "./changes";
import { Failure, Notice } from "./state";
import { Url } from "./text";
import "./preview.css";

/** What the settings of an execution are to become: one of patch, source and undo. */
export interface Edit {
  patch?: Record<string, unknown>;
  source?: string;
  undo?: number;
  epoch?: number; // of the revision that was edited
}

type Cell = Preview["answer"]["queued"]["drops"];

/** Tells what an edit would do: by a sample at once, then exactly. Another edit ends the preview of the one before. */
export function EditPreview({ execution, edit, onPreview }: { execution: string; edit: Edit; onPreview?: (p: Preview) => void }) {
  const [shown, setShown] = useState<Preview | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [tries, setTries] = useState(0);
  const key = JSON.stringify(edit);
  useEffect(() => {
    const mine = new AbortController();
    const path = `/executions/${enc(execution)}`;
    const follow = async () => {
      let p = await call<Preview>("POST", `${path}/preview`, { body: JSON.parse(key), signal: mine.signal });
      for (;;) {
        if (mine.signal.aborted) return;
        setShown(p);
        onPreview?.(p);
        if (p.state !== "counting") return;
        p = await call<Preview>("GET", `${path}/previews/${enc(p.id)}`, { query: { wait: true }, signal: mine.signal });
      }
    };
    setProblem(null);
    follow().catch((e) => !mine.signal.aborted && setProblem(e as Problem));
    return () => mine.abort();
  }, [execution, key, tries]);
  if (problem) return <Failure problem={problem} retry={() => setTries(tries + 1)} />;
  if (!shown) return <p role="status">Counting…</p>;
  const a = shown.answer;
  const some = (n: number, words: string) => (n > 0 ? <strong>{`${count(n)} ${words}`}</strong> : `none ${words}`);
  return (
    <section aria-label="What the edit would do" className="preview">
      {a.changes.length > 0 ? <Changes of={a.changes} /> : <p>It changes nothing: the settings are the same.</p>}
      {a.warnings.map((w) => (
        <Notice key={w} tone="bad">
          {w}
        </Notice>
      ))}
      <dl className="facts">
        <dt>Queued</dt>
        <dd>
          {count(a.queued.urls)}: {some(a.queued.drops.urls, "would be dropped")}
        </dd>
        <dt>Left out</dt>
        <dd>
          {count(a.left_out.urls)}: {some(a.left_out.admits.urls, "would come back")}
        </dd>
        <dt>Fetched</dt>
        <dd>
          {count(a.fetched.urls)}: all are kept
          {a.fetched.drops.urls > 0 && <>, {some(a.fetched.drops.urls, "would not be wanted any more")}</>}
        </dd>
      </dl>
      <p role="status" className="muted small">
        {told(shown)}
      </p>
      <More title="Dropped from the queue" cell={a.queued.drops} />
      <More title="Coming back, left out so far by" cell={a.left_out.admits} />
      <More title="Fetched already, and kept" cell={a.fetched.drops} />
    </section>
  );
}

/** How sure the figures are. */
function told({ state, problem, answer: a }: Preview): string {
  if (state === "exact") return `Exact: all ${count(a.looked)} URLs were judged.`;
  if (state !== "counting") return `An estimate: the count ended early. ${plain(problem)}`;
  return a.sampled ? `An estimate by a sample of ${count(a.sampled)} URLs; the exact figures follow.` : "Counting…";
}

function More({ title, cell }: { title: string; cell: Cell }) {
  if (!cell.urls) return null;
  return (
    <details>
      <summary>
        {title}: {count(cell.urls)}
      </summary>
      <ul>
        {[...cell.rules, ...cell.hosts].map((c, i) => (
          <li key={i}>
            {count(c.urls)} <code>{plain(c.name)}</code>
          </li>
        ))}
        {cell.examples.map((e) => (
          <li key={e.url}>
            <Url url={e.url} />
          </li>
        ))}
      </ul>
    </details>
  );
}
