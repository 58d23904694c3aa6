import { useEffect, useState } from "react";
import { stringify } from "yaml";
import type { Execution, Preview, Revision } from "../api/types";
import { keep, kept } from "../composer/draft";
import { useHistory } from "../composer/history";
import { call } from "../lib/api";
import { useChecked } from "../lib/checked";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { enc } from "../lib/route";
import { Act } from "../ui/act";
import type { ListOf } from "../ui/more";
import { Changes } from "../ui/changes";
import { EditPreview, type Edit } from "../ui/preview";
import { Notice, Shown } from "../ui/state";
import { Table } from "../ui/table";
import { When } from "../ui/text";
import { isOver } from "./execution";

/** The settings of an execution: what an edit would do, the edit, and those that were made. */
export default function EditPage({ x }: { x: Execution }) {
  const path = `/executions/${enc(x.id)}`;
  const revisions = useGet<ListOf<Revision>>(path + "/revisions", {}, { topic: `execution:${x.id}`, every: 5000 });
  const after = () => {
    renew(path);
  };
  return (
    <Shown of={revisions}>
      {(l) => {
        const now = l.items.find((r) => r.state === "active");
        return (
          <>
            {now && (isOver(x) ? <p className="muted" style={{ marginTop: "var(--s-4)" }}>It has ended: its settings stay as they were.{x.state !== "cancelled" && " Resume it to change them."}</p> : <Form path={path} x={x} now={now} done={after} />)}
            <section>
              <div className="section-head">
                <h2>Revisions</h2>
              </div>
            <Table
              label="Revisions"
              rows={l.items}
              id={(r) => r.epoch + r.state + r.at}
              columns={[
                { key: "epoch", label: "Revision", num: true, cell: (r) => r.epoch },
                { key: "state", label: "State", cell: (r) => r.state },
                { key: "at", label: "When", cell: (r) => <When at={r.at} /> },
                { key: "by", label: "Who", cell: (r) => plain(r.by ?? "") },
                {
                  key: "changes",
                  label: "Changes",
                  grow: true,
                  cell: (r) => (
                    <span style={{ overflowWrap: "anywhere" }}>
                      {plain([...r.changes.map((c) => `${c.key}: ${c.from} → ${c.to}`), r.undoes ? `takes back ${r.undoes}` : "", r.message ?? "", r.reason ?? ""].filter(Boolean).join(" · "), 500)}
                    </span>
                  ),
                },
                {
                  key: "undo",
                  label: "Undo",
                  cell: (r) =>
                    r.epoch > 1 && !isOver(x) && (r.state === "active" || r.state === "superseded") ? (
                      <Act role="operator" run={() => call("POST", `${path}/revisions/${r.epoch}:undo`, { body: { epoch: now?.epoch } }).then(after)}>
                        Undo {r.epoch}
                      </Act>
                    ) : null,
                },
              ]}
            />
            </section>
          </>
        );
      }}
    </Shown>
  );
}

/** What is typed stays, whoever applies another revision meanwhile and whenever the page is loaded again. */
function Form({ path, x, now, done }: { path: string; x: Execution; now: Revision; done: () => void }) {
  const draftOf = `settings:${x.id}`;
  const [draft] = useState(() => kept(draftOf));
  const [base, setBase] = useState(() => (draft ? { text: draft.base, epoch: draft.version } : { text: written(now), epoch: now.epoch }));
  const history = useHistory(base.text, draft?.source);
  const [asked, setAsked] = useState<Edit | null>(null);
  const [preview, setPreview] = useState<Preview | null>(null);
  const text = history.now;
  const changed = text !== base.text;
  const later = now.epoch > base.epoch;
  const checked = useChecked(text);
  const faults = changed ? (checked?.faults ?? []) : [];
  const seen = asked?.source === text && preview?.answer.epoch === base.epoch; // the preview is of this text
  useEffect(() => keep(draftOf, changed ? { version: base.epoch, base: base.text, source: text } : null), [draftOf, changed, base, text]);
  const rebase = () => {
    setBase({ text: written(now), epoch: now.epoch });
    setAsked(null);
    setPreview(null);
  };
  const take = () => {
    history.set(written(now));
    rebase();
  };
  useEffect(() => {
    if (later && !changed) take(); // nothing was typed: it follows
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [later, changed]);

  const apply = async () => {
    await call("POST", path + "/revisions", { body: { source: text, epoch: base.epoch, preview_id: preview!.id } });
    setBase({ text, epoch: base.epoch }); // the revision that follows is this one
    setAsked(null);
    setPreview(null);
    done();
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        if (asked?.source === text && asked.epoch === base.epoch) return; // it stands there
        setPreview(null);
        setAsked({ source: text, epoch: base.epoch });
      }}
    >
      {later && changed && (
        <div role="alert">
          <Notice
            tone="wait"
            action={
              <>
                <button type="button" onClick={take}>
                  Take theirs
                </button>
                <button type="button" onClick={rebase}>
                  Keep mine
                </button>
              </>
            }
          >
            <strong>
              Revision {now.epoch} was applied meanwhile{now.by ? ` by ${plain(now.by)}` : ""}.
            </strong>{" "}
            What you have typed is here still. Kept, it takes back what they changed; taken, theirs is shown and Undo brings yours back.
            <Changes of={now.changes} />
          </Notice>
        </div>
      )}
      <div className="settings">
        <label className="field">
          <span>Settings, as in a job file (YAML or JSON)</span>
          <textarea
            className="mono"
            rows={30}
            spellCheck={false}
            aria-invalid={faults.length > 0 || undefined}
            aria-describedby={faults.length > 0 ? "settings-faults" : undefined}
            value={text}
            onChange={(e) => history.set(e.target.value, "text")}
          />
        </label>
        <div>
          <div className="bar">
            <button type="submit" className={seen ? undefined : "primary"} disabled={!changed || later || faults.length > 0}>
              Preview
            </button>
            <Act role="operator" kind={seen ? "primary" : undefined} run={apply} disabled={!seen || !changed || later} why="Look at the preview first">
              Apply
            </Act>
            <button type="button" onClick={history.undo} disabled={!history.undo}>
              Undo typing
            </button>
            <button type="button" onClick={history.redo} disabled={!history.redo}>
              Redo
            </button>
            <span className="muted small">{changed ? "not applied" : `as in revision ${base.epoch}`}</span>
          </div>
          <ul id="settings-faults" style={{ marginTop: "var(--s-2)" }} aria-label="What is wrong with it" aria-live="polite">
            {faults.map((f, i) => (
              <li key={i} className="word-bad">
                {f.line ? `Line ${f.line}: ` : ""}
                {plain(f.key && !f.message.startsWith(f.key) ? `${f.key}: ${f.message}` : f.message, 500)}
              </li>
            ))}
          </ul>
          {asked?.source === text && <EditPreview execution={x.id} edit={asked} onPreview={setPreview} />}
        </div>
      </div>
    </form>
  );
}

/** The settings as a job file has them: what is not set is left out. */
function written(r: Revision): string {
  const set = Object.entries((r.job ?? {}) as Record<string, unknown>).filter(([key, v]) => v !== null && key !== "id");
  return stringify(Object.fromEntries(set), { lineWidth: 0 });
}
