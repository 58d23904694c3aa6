import { useState } from "react";
import type { Execution, Preview, Revision } from "../api/types";
import { call } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { enc } from "../lib/route";
import { Act } from "../ui/act";
import type { ListOf } from "../ui/more";
import { EditPreview, type Edit } from "../ui/preview";
import { Shown } from "../ui/state";
import { Table } from "../ui/table";
import { When } from "../ui/text";

/** The settings of an execution: what an edit would do, the edit, and those that were made. */
export default function EditPage({ x }: { x: Execution }) {
  const path = `/executions/${enc(x.id)}`;
  const revisions = useGet<ListOf<Revision>>(path + "/revisions", {}, { topic: `execution:${x.id}` });
  const after = () => {
    renew(path);
  };
  return (
    <Shown of={revisions}>
      {(l) => {
        const now = l.items.find((r) => r.state === "active");
        return (
          <>
            {now && <Form key={now.epoch} path={path} x={x} now={now} done={after} />}
            <h2>Revisions</h2>
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
                  cell: (r) => plain([...r.changes.map((c) => `${c.key}: ${c.from} → ${c.to}`), r.undoes ? `takes back ${r.undoes}` : "", r.message ?? "", r.reason ?? ""].filter(Boolean).join(" · "), 500),
                },
                {
                  key: "undo",
                  label: "Undo",
                  cell: (r) =>
                    r.epoch > 1 && (r.state === "active" || r.state === "superseded") ? (
                      <Act role="operator" run={() => call("POST", `${path}/revisions/${r.epoch}:undo`, { body: { epoch: now?.epoch } }).then(after)}>
                        Undo {r.epoch}
                      </Act>
                    ) : null,
                },
              ]}
            />
          </>
        );
      }}
    </Shown>
  );
}

function Form({ path, x, now, done }: { path: string; x: Execution; now: Revision; done: () => void }) {
  const [text, setText] = useState(() => written(now));
  const [edit, setEdit] = useState<Edit | null>(null);
  const [preview, setPreview] = useState<Preview | null>(null);
  const apply = async () => {
    await call("POST", path + "/revisions", { body: { source: text, epoch: now.epoch, ...(preview && edit?.source === text ? { preview_id: preview.id } : {}) } });
    done();
  };
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        setEdit({ source: text, epoch: now.epoch });
      }}
    >
      <label className="field">
        <span>Settings, as in a job file (YAML or JSON)</span>
        <textarea rows={16} spellCheck={false} value={text} onChange={(e) => setText(e.target.value)} style={{ fontFamily: "var(--mono, monospace)" }} />
      </label>
      <div className="bar">
        <button type="submit">Preview</button>
        <Act role="operator" kind="primary" run={apply} disabled={text === written(now)}>
          Apply
        </Act>
      </div>
      {edit && <EditPreview execution={x.id} edit={edit} onPreview={setPreview} />}
    </form>
  );
}

/** The settings as a job file has them. */
function written(r: Revision): string {
  return JSON.stringify(r.job ?? {}, null, 2);
}
