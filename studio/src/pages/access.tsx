import { useState } from "react";
import type { ApiKey, Person } from "../api/types";
import { call } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { Act } from "../ui/act";
import { useMe } from "../ui/me";
import type { ListOf } from "../ui/more";
import { Head } from "../ui/shell";
import { Empty, Notice, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";
import { MyQuota, Quotas } from "./quotas";

const roles = ["viewer", "user", "operator", "admin"] as const;

/** People who have signed in and their roles, what they may use, and API keys for programs. */
export default function Access() {
  const { me, may } = useMe();
  return (
    <>
      <Head title="Users and keys">{may("admin") && <a href="#/audit">Audit log</a>}</Head>
      {may("admin") ? <Users oidc={!!me?.oidc} /> : may("user") && <MyQuota />}
      {may("admin") && <Quotas />}
      {may("user") ? <Keys own={!may("admin")} /> : <Empty title="Your role is viewer">Keys are made by users and higher roles.</Empty>}
    </>
  );
}

function Users({ oidc }: { oidc: boolean }) {
  const list = useGet<ListOf<Person>>("/users");
  const change = async (p: Person, body: unknown) => {
    await call("PATCH", "/users/" + encodeURIComponent(p.id), { body, lock: p.lock });
    renew("/users");
  };
  const columns: Column<Person>[] = [
    {
      key: "who",
      label: "Person",
      grow: true,
      cell: (p) => (
        <span>
          <strong>{plain(p.name || p.email || p.id)}</strong> {p.disabled && <span className="word-bad">disabled</span>}
          <span className="small muted clip" style={{ display: "block" }}>
            {plain([p.email, p.issuer].filter(Boolean).join(" · "))}
          </span>
        </span>
      ),
    },
    {
      key: "role",
      label: "Role",
      cell: (p) => (
        <label>
          <span className="hidden">Role of {plain(p.email || p.id)}</span>
          <select value={p.manual ?? ""} onChange={(e) => void change(p, { manual: e.target.value }).catch(() => renew("/users"))}>
            <option value="">as the issuer says: {p.auto || "none"}</option>
            {roles.map((r) => (
              <option key={r}>{r}</option>
            ))}
          </select>
        </label>
      ),
    },
    { key: "by", label: "Given by", cell: (p) => (p.manual ? plain(p.by ?? "") : "–") },
    { key: "seen", label: "Last sign-in", cell: (p) => <When at={p.seen} /> },
    {
      key: "acts",
      label: "Actions",
      cell: (p) => (
        <span className="bar" style={{ margin: 0, flexWrap: "nowrap" }}>
          <Act role="admin" run={() => change(p, { sign_out: true })}>
            Sign out
          </Act>
          <Act role="admin" run={() => change(p, { disabled: !p.disabled })}>
            {p.disabled ? "Enable" : "Disable"}
          </Act>
        </span>
      ),
    },
  ];
  return (
    <section>
      <div className="section-head">
        <h2>People</h2>
      </div>
      <Shown of={list}>
        {(l) =>
          l.items.length ? (
            <Table label="People" rows={l.items} columns={columns} id={(p) => p.id} />
          ) : (
            <Empty title="Nobody has signed in yet">
              {oidc ? "Whoever signs in by the issuer stands here from then on." : "This server has no issuer that signs people in; links sign in as a role."}
            </Empty>
          )
        }
      </Shown>
    </section>
  );
}

function Keys({ own }: { own: boolean }) {
  const list = useGet<ListOf<ApiKey>>("/api-keys");
  const [shown, setShown] = useState<ApiKey | null>(null);
  const columns: Column<ApiKey>[] = [
    {
      key: "name",
      label: "Key",
      grow: true,
      cell: (k) => (
        <span>
          <strong>{plain(k.name)}</strong> <code className="small">wpk_{k.id}_…</code>
          <span className="small muted clip" style={{ display: "block" }}>
            {plain([k.owner, k.scopes?.join(", ") ?? "all that the role may"].filter(Boolean).join(" · "))}
          </span>
        </span>
      ),
    },
    { key: "role", label: "Role", cell: (k) => k.role },
    { key: "rate", label: "Requests", cell: (k) => <span style={{ whiteSpace: "nowrap" }}>{`${k.rate ?? 50}/s, ${k.burst ?? 200} at once`}</span> },
    { key: "used", label: "Last use", cell: (k) => (k.used ? <When at={k.used} /> : "never") },
    { key: "expires", label: "Expires", cell: (k) => (k.expires ? <When at={k.expires} /> : "never") },
    {
      key: "acts",
      label: "Actions",
      cell: (k) => (
        <span className="bar" style={{ margin: 0, flexWrap: "nowrap" }}>
          <Act
            role="user"
            run={async () => {
              setShown(await call<ApiKey>("POST", `/api-keys/${k.id}:rotate`, { body: {} }));
              renew("/api-keys");
            }}
          >
            Rotate
          </Act>
          <Act
            role="user"
            kind="bad"
            sure={<p>Whoever uses the key {plain(k.name)} is refused from then on.</p>}
            verb="Revoke"
            run={async () => {
              await call("DELETE", "/api-keys/" + k.id);
              renew("/api-keys");
            }}
          >
            Revoke
          </Act>
        </span>
      ),
    },
  ];
  return (
    <section>
      <div className="section-head">
        <h2>{own ? "Your keys" : "Keys"}</h2>
      </div>
      {shown?.key && (
        <Notice tone="wait">
          <strong>Copy the key now: it is not shown again.</strong> <code style={{ overflowWrap: "anywhere" }}>{shown.key}</code>
        </Notice>
      )}
      <NewKey made={setShown} />
      <Shown of={list}>
        {(l) => (l.items.length ? <Table label="Keys" rows={l.items} columns={columns} id={(k) => k.id} /> : <Empty title="No keys yet">A key lets a program use the API.</Empty>)}
      </Shown>
    </section>
  );
}

function NewKey({ made }: { made: (k: ApiKey) => void }) {
  const { may } = useMe();
  const [name, setName] = useState("");
  const [role, setRole] = useState<string>("user");
  const [days, setDays] = useState(90);
  return (
    <form className="bar" onSubmit={(e) => e.preventDefault()}>
      <label className="field">
        <span>Name</span>
        <input value={name} maxLength={60} onChange={(e) => setName(e.target.value)} />
      </label>
      <label className="field">
        <span>Role</span>
        <select value={role} onChange={(e) => setRole(e.target.value)}>
          {roles.filter((r) => may(r)).map((r) => (
            <option key={r}>{r}</option>
          ))}
        </select>
      </label>
      <label className="field">
        <span>Days</span>
        <input type="number" min={0} max={3650} value={days} onChange={(e) => setDays(Number(e.target.value))} style={{ width: "8ch" }} />
      </label>
      <Act
        role="user"
        kind="primary"
        disabled={!name}
        why="Give it a name"
        run={async () => {
          made(await call<ApiKey>("POST", "/api-keys", { body: { name, role, days } }));
          setName("");
          renew("/api-keys");
        }}
      >
        Make a key
      </Act>
    </form>
  );
}
