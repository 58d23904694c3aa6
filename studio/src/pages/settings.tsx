import { useState } from "react";
import type { Setting } from "../api/types";
import { call } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { Act } from "../ui/act";
import { useMe } from "../ui/me";
import type { ListOf } from "../ui/more";
import { Head } from "../ui/shell";
import { Empty, Shown } from "../ui/state";
import { Facts, When } from "../ui/text";

export default function Settings() {
  const list = useGet<ListOf<Setting>>("/settings");
  const { me } = useMe();
  return (
    <>
      <Head title="Settings">
        <Act
          role="viewer"
          run={async () => {
            await call("DELETE", "/session");
            location.reload();
          }}
          disabled={me?.via === "open"}
        >
          Sign out
        </Act>
      </Head>
      <section>
        <Facts
          of={[
            ["Signed in as", me?.actor],
            ["Role", me?.role],
            ["By", me?.via === "open" ? "nobody has to sign in (--no-auth)" : me?.via],
            ["Whirlpool", me?.version],
          ]}
        />
      </section>
      <p>
        <a href="#/access">Users and keys</a> · <a href="#/alerts">Alerts</a> · <a href="#/nodes">Nodes</a>
      </p>
      <Shown of={list}>
        {(l) =>
          l.items.length ? (
            <section>
              <div className="section-head">
                <h2>Of the server</h2>
              </div>
              <ul>
                {l.items.map((s) => (
                  <One key={s.key} s={s} />
                ))}
              </ul>
            </section>
          ) : (
            <Empty title="Nothing can be changed while it runs" />
          )
        }
      </Shown>
    </>
  );
}

function One({ s }: { s: Setting }) {
  const [value, setValue] = useState<string | null>(null);
  const shown = value ?? s.value;
  return (
    <li style={{ display: "grid", gap: "var(--s-1)", padding: "var(--s-3) 0", borderBottom: "1px solid var(--line)" }}>
      <label htmlFor={"set-" + s.key} style={{ fontWeight: 500 }}>
        {s.key}
      </label>
      <span className="muted">{plain(s.text)}</span>
      <span className="bar" style={{ margin: 0 }}>
        <input id={"set-" + s.key} value={shown} disabled={s.restart} onChange={(e) => setValue(e.target.value)} style={{ width: "20ch" }} />
        <Act
          role="admin"
          disabled={value === null || value === s.value}
          run={async () => {
            await call("PATCH", "/settings", { body: { changes: [{ key: s.key, value }] } });
            setValue(null);
            renew("/settings");
          }}
        >
          Change
        </Act>
        {!!s.version && (
          <Act
            role="admin"
            run={async () => {
              await call("POST", `/settings/${encodeURIComponent(s.key)}:undo`);
              setValue(null);
              renew("/settings");
            }}
          >
            Undo: back to {plain(s.was ?? "")}
          </Act>
        )}
        <span className="small muted">
          {s.restart ? "given at the start; needs another one" : s.source === "default" ? "as it is by default" : `${s.source}; the default is ${s.default}`}
          {s.changed_by && (
            <>
              {" "}
              · version {s.version}, by {plain(s.changed_by)}, <When at={s.changed_at} />
            </>
          )}
        </span>
      </span>
    </li>
  );
}
