// Saving: a version of the workflow, what a running execution gets of it, and what others have saved meanwhile.
import { useRef, useState } from "react";
import type { Checked, Execution, Preview, Version, VersionDiff, Workflow } from "../api/types";
import { call, Problem } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { enc, go } from "../lib/route";
import { Act } from "../ui/act";
import { Changes } from "../ui/changes";
import { EditPreview } from "../ui/preview";
import { Failure, Notice } from "../ui/state";
import { forget } from "./draft";

interface SaveProps {
  w: Workflow | undefined;
  source: string;
  base: { source: string; version: number };
  bad: boolean;
  running: Execution | undefined;
  later: number; // the version that somebody saved meanwhile, which is settled first; 0: nobody did
  saved: (v: Version) => void;
  applied: (a: Applied) => void;
  tell: (what: string) => void;
}

export interface Applied {
  execution: string;
  epoch: number;
}

/** What was applied to a running execution can be taken back. */
export function Undo({ of, done }: { of: Applied; done: () => void }) {
  const path = `/executions/${enc(of.execution)}`;
  return (
    <Notice
      tone="good"
      action={
        <>
          <Act
            role="operator"
            run={async () => {
              await call("POST", `${path}/revisions/${of.epoch}:undo`, { body: { epoch: of.epoch } });
              renew(path);
              done();
            }}
          >
            Undo revision {of.epoch}
          </Act>
          <button type="button" className="plain" onClick={done}>
            Dismiss
          </button>
        </>
      }
    >
      {of.execution} crawls with it from its next page on: revision {of.epoch}.
    </Notice>
  );
}

/** Saving asks for a few words; where an execution runs, it can get the change at once. */
export function Save({ w, source, base, bad, later, running, saved, applied, tell }: SaveProps) {
  const box = useRef<HTMLDialogElement>(null);
  const [words, setWords] = useState("");
  const [problem, setProblem] = useState<Problem | null>(null);
  const [patch, setPatch] = useState<{ pipeline: unknown } | null>(null); // that the running execution gets, too
  const [preview, setPreview] = useState<Preview | null>(null);
  const [busy, setBusy] = useState(false);
  const saveable = !w || source !== base.source;

  async function create() {
    const made = await call<Workflow>("POST", "/workflows", { body: { name: words, source } });
    renew("/workflows");
    forget("");
    box.current?.close();
    go(`/w/${enc(made.slug)}/compose`);
  }

  /** Makes the version. Where the definition is equal there is none: then the text alone differs. */
  async function version(of: Workflow) {
    const v = await call<Version>("POST", `/workflows/${enc(of.slug)}/versions`, { body: { source, message: words, parent: base.version } });
    saved(v);
    renew("/workflows");
    tell(v.number > base.version ? `Version ${v.number} is saved` : "");
    if (v.number === base.version) throw new Problem(0, "No version was made", "The definition says the same as the one before: only its comments or its layout differ.", "");
  }

  async function apply(to: Execution) {
    const r = await call<{ epoch: number }>("POST", `/executions/${enc(to.id)}/revisions`, {
      body: { patch, message: words, ...(preview ? { preview_id: preview.id, epoch: preview.answer.epoch } : {}) },
    });
    applied({ execution: to.id, epoch: r.epoch });
    renew(`/executions/${enc(to.id)}`);
    setPatch(null);
  }

  async function save(e: React.FormEvent) {
    e.preventDefault();
    if (busy) return;
    setBusy(true);
    setProblem(null);
    try {
      if (!w) await create();
      else {
        if (saveable) await version(w); // it is, where only what followed it failed
        if (patch && running) await apply(running);
        setWords("");
        box.current?.close();
      }
    } catch (p) {
      const problem = p as Problem;
      if (problem.status === 409 && w && saveable) {
        renew("/workflows"); // the page tells what was saved meanwhile, and the words stay here
        box.current?.close();
      } else setProblem(problem);
    }
    setBusy(false);
  }

  /** What the running execution would get: the nodes as they were checked. */
  async function choose(yes: boolean) {
    setProblem(null);
    setPreview(null);
    if (!yes) return setPatch(null);
    try {
      const { definition } = await call<Checked>("POST", "/workflows:validate", { body: { source } });
      setPatch({ pipeline: (definition as { pipeline?: unknown }).pipeline ?? null });
    } catch (p) {
      setProblem(p as Problem);
    }
  }

  return (
    <>
      <Act role="user" kind="primary" disabled={bad || later > 0 || !saveable} run={async () => (setPatch(null), setProblem(null), box.current?.showModal())}>
        {w ? `Save as version ${Math.max(base.version, later) + 1}` : "Save"}
      </Act>
      <dialog ref={box} aria-label="Save">
        <form onSubmit={(e) => void save(e)}>
          <h2>{!w ? "A new workflow" : saveable ? `Version ${base.version + 1} of ${plain(w.name)}` : `Version ${base.version} of ${plain(w.name)} is saved`}</h2>
          <label className="field" style={{ margin: "var(--s-4) 0" }}>
            <span>{w ? "What changes, in a few words" : "Its name"}</span>
            <input value={words} required={!w} maxLength={200} autoFocus onChange={(e) => setWords(e.target.value)} />
          </label>
          {running && (
            <label>
              <input type="checkbox" checked={!!patch} onChange={(e) => void choose(e.target.checked)} /> Apply the pipeline to {running.id}, too, from its next page on
            </label>
          )}
          {running && patch && (
            <div className="c-preview">
              <EditPreview execution={running.id} edit={{ patch }} onPreview={setPreview} />
            </div>
          )}
          {problem && <Failure problem={problem} />}
          <div className="actions">
            <button type="button" onClick={() => box.current?.close()}>
              {saveable ? "Go on composing" : "Close"}
            </button>
            {(saveable || patch) && (
              <button type="submit" className="primary" aria-disabled={busy || undefined}>
                {saveable ? "Save" : "Apply"}
              </button>
            )}
          </div>
        </form>
      </dialog>
    </>
  );
}

interface LaterProps {
  w: Workflow;
  since: number; // the version that was edited
  changed: boolean;
  mine: (v: Version) => void;
  theirs: (v: Version) => void;
}

/** Somebody saved another version: what it changed, and which text goes on. Neither is lost. */
export function Later({ w, since, changed, mine, theirs }: LaterProps) {
  const path = `/workflows/${enc(w.slug)}/versions/${w.current}`;
  const v = useGet<Version>(path);
  const diff = useGet<VersionDiff>(since > 0 ? path + "/diff" : null, { from: since });
  const changes = diff.data?.changes ?? [];
  return (
    <div role="alert">
      <Notice
        tone="wait"
        action={
          v.data && (
            <>
              <button type="button" onClick={() => theirs(v.data!)}>
                {changed ? "Take theirs" : "Show it"}
              </button>
              {changed && (
                <button type="button" onClick={() => mine(v.data!)}>
                  Keep mine
                </button>
              )}
            </>
          )
        }
      >
        <strong>
          Version {w.current} was saved meanwhile{v.data?.author ? ` by ${plain(v.data.author)}` : ""}.
        </strong>{" "}
        {v.data?.message && <>“{plain(v.data.message)}” </>}
        {changed && "What you have made is here still, and not saved. Kept, it becomes the version after theirs and takes back what they changed; taken, theirs is shown instead."}
        {changes.length > 0 && (
          <details>
            <summary>What it changed</summary>
            <Changes of={changes} />
          </details>
        )}
      </Notice>
    </div>
  );
}
