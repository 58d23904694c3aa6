import { useState, type ReactNode } from "react";
import type { Alert, AlertRule, Channel, Delivery } from "../api/types";
import { call } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Act } from "../ui/act";
import { useMe } from "../ui/me";
import { useList, type ListOf } from "../ui/more";
import { Panel } from "../ui/panel";
import { Head } from "../ui/shell";
import { Empty, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Facts, When } from "../ui/text";

/** What can be watched, in words; the figure that a threshold is compared with. */
const watched: Record<string, [string, string?]> = {
  failed: ["the last execution failed"],
  partial: ["the last execution lost some of its work"],
  slot: ["a time of a schedule was skipped or missed"],
  stalled: ["no page is fetched while URLs are queued"],
  "dead-letters": ["messages are given up", "more than, 0"],
  failures: ["many URLs of an execution fail", "share over, 0.2"],
  blocked: ["many answers are 403 or 429", "share over, 0.5"],
  "host-blocked": ["many answers of a host are 403 or 429, while it runs", "share over, 0.5"],
  undelivered: ["an output cannot be written"],
  tripped: ["a plug-in failed so often that it is left alone"],
  records: ["an execution has fewer records than the five before", "less than this part of their median, 0.5"],
  budget: ["max_pages is nearly spent", "share over, 0.9"],
  disk: ["the disk of the data is nearly full", "share over, 0.85"],
};

const again = () => ["/alerts", "/alert-rules", "/alert-channels", "/deliveries"].forEach(renew);

/** What fires, what is watched, where it is sent, and what became of what was sent. */
export default function Alerts() {
  const [params, set] = useParams();
  const { may } = useMe();
  const alerts = useGet<ListOf<Alert>>("/alerts", {}, { topic: "workflows", every: 10_000 });
  const rules = useGet<ListOf<AlertRule>>("/alert-rules", {}, { every: 30_000 });
  const channels = useGet<ListOf<Channel>>(may("operator") ? "/alert-channels" : null, {}, { every: 30_000 });
  const rule = rules.data?.items.find((r) => r.name === params.get("rule"));
  const channel = channels.data?.items.find((c) => c.name === params.get("channel"));
  const close = () => set({ rule: undefined, channel: undefined, delivery: undefined });
  return (
    <>
      <Head title="Alerts">
        {may("admin") && (
          <button type="button" onClick={() => set({ channel: "+" }, true)}>
            Add a channel
          </button>
        )}
        <button type="button" className="primary" onClick={() => set({ rule: "+" }, true)}>
          Add a rule
        </button>
      </Head>
      <section>
        <Shown of={alerts} lines={2}>
          {(l) =>
            l.items.length ? (
              <Table label="What is pending and firing" rows={l.items} columns={firing} id={(a) => a.rule + a.subject} />
            ) : rules.data && !rules.data.items.length ? (
              <Empty title="Nothing is watched yet">
                <p>A rule says what you want to hear of: an execution that fails, a schedule that does not begin, a site that blocks. It is shown here, and sent by mail or webhook where you say so.</p>
                <Act
                  role="user"
                  kind="primary"
                  run={async () => {
                    for (const on of ["failed", "slot", "disk"]) await call("PUT", `/alert-rules/${on}`, { body: { name: on, on } });
                    again();
                  }}
                >
                  Watch for failures, missed times and a full disk
                </Act>
              </Empty>
            ) : (
              <p className="dot good">All is well.</p>
            )
          }
        </Shown>
      </section>
      {!!rules.data?.items.length && (
        <section>
          <div className="section-head">
            <h2>Rules</h2>
          </div>
          <Table label="Rules" rows={rules.data.items} columns={ruleColumns} id={(r) => r.name} />
        </section>
      )}
      {!!channels.data?.items.length && (
        <section>
          <div className="section-head">
            <h2>Channels</h2>
          </div>
          <Table label="Channels" rows={channels.data.items} columns={channelColumns} id={(c) => c.name} />
        </section>
      )}
      {may("operator") && <Deliveries />}
      {(params.get("rule") === "+" || rule) && <RuleForm key={rule?.name} r={rule} channels={channels.data?.items ?? []} close={close} />}
      {(params.get("channel") === "+" || channel) && <ChannelForm key={channel?.name} c={channel} close={close} />}
    </>
  );
}

const tones: Record<string, string> = { critical: "bad", warning: "bad", info: "wait" };

const firing: Column<Alert>[] = [
  {
    key: "text",
    label: "What",
    grow: true,
    cell: (a) => (
      <div style={{ minWidth: 0, padding: "4px 0" }}>
        {a.execution ? <a href={at.execution(a.execution)}>{a.subject}</a> : <span style={{ fontWeight: 500 }}>{plain(a.subject)}</span>}
        <span className="small muted" style={{ display: "block", whiteSpace: "normal" }}>
          {plain(a.text)}
        </span>
      </div>
    ),
  },
  { key: "state", label: "State", cell: (a) => <span className={`dot ${a.state === "firing" ? tones[a.severity] : "wait"}`}>{a.state === "firing" ? a.severity : "pending"}</span> },
  { key: "rule", label: "Rule", cell: (a) => <a href={`#/alerts?rule=${enc(a.rule)}`}>{a.rule}</a> },
  { key: "since", label: "Since", num: true, cell: (a) => <When at={a.since} /> },
];

const silent = (r: AlertRule) => !!r.silenced_until && Date.parse(r.silenced_until) > Date.now();

const ruleColumns: Column<AlertRule>[] = [
  {
    key: "name",
    label: "Rule",
    grow: true,
    cell: (r) => (
      <div style={{ minWidth: 0, padding: "4px 0" }}>
        <a href={`#/alerts?rule=${enc(r.name)}`} style={{ color: "var(--text)", fontWeight: 500 }}>
          {r.name}
        </a>
        <span className="small muted" style={{ display: "block" }}>
          {watched[r.on]?.[0] ?? r.on}
          {r.threshold ? `: ${r.threshold}` : ""}
          {r.for ? `, for ${r.for}` : ""}
        </span>
      </div>
    ),
  },
  { key: "of", label: "Of", cell: (r) => (r.workflow ? <a href={at.workflow(r.workflow)}>{r.workflow}</a> : <span className="nowrap">{r.on === "disk" ? "the server" : "all workflows"}</span>) },
  { key: "severity", label: "Severity", cell: (r) => r.severity ?? "warning" },
  { key: "to", label: "Sent to", cell: (r) => <span className="nowrap">{r.channels?.join(", ") || <span className="muted">shown here</span>}</span> },
  { key: "silenced", label: "State", cell: (r) => (r.disabled ? <span className="dot off">off</span> : silent(r) ? <span className="dot wait">silenced</span> : <span className="dot good">on</span>) },
];

const channelColumns: Column<Channel>[] = [
  {
    key: "name",
    label: "Channel",
    grow: true,
    cell: (c) => (
      <a href={`#/alerts?channel=${enc(c.name)}`} style={{ color: "var(--text)", fontWeight: 500 }}>
        {c.name}
      </a>
    ),
  },
  { key: "kind", label: "Kind", cell: (c) => (c.kind === "email" ? "mail" : "webhook") },
  { key: "to", label: "To", cell: (c) => <span className="clip" style={{ maxWidth: "36ch", display: "inline-block" }}>{plain(c.kind === "email" ? c.to?.join(", ") : c.url)}</span> },
  {
    key: "test",
    label: "Try it",
    cell: (c) => (
      <Act
        role="operator"
        run={async () => {
          await call("POST", `/alert-channels/${enc(c.name)}:test`);
          setTimeout(() => renew("/deliveries"), 1500);
          renew("/deliveries");
        }}
      >
        Send a test
      </Act>
    ),
  },
];

const deliveryTones: Record<string, string> = { sent: "good", due: "wait", dead: "bad" };

function Deliveries() {
  const [params, set] = useParams();
  const list = useList<Delivery>("/deliveries", {}, { topic: "workflows", every: 5000 });
  const open = list.rows.find((d) => d.id === params.get("delivery"));
  const columns: Column<Delivery>[] = [
    {
      key: "title",
      label: "Message",
      grow: true,
      cell: (d) => (
        <a className="clip" style={{ display: "block", color: "var(--text)" }} href={`#/alerts?delivery=${enc(d.id)}`}>
          {plain(d.title)}
        </a>
      ),
    },
    { key: "channel", label: "Channel", cell: (d) => d.channel },
    { key: "state", label: "State", cell: (d) => <span className={`dot ${deliveryTones[d.state]}`}>{d.state}</span> },
    { key: "tries", label: "Tries", num: true, cell: (d) => d.tries.length },
    { key: "when", label: "When", num: true, cell: (d) => <When at={d.created} /> },
  ];
  if (!list.rows.length) return null;
  return (
    <section>
      <div className="section-head">
        <h2>What was sent</h2>
      </div>
      <Table label="Deliveries" rows={list.rows} columns={columns} id={(d) => d.id} selected={open?.id} />
      {list.more}
      {open && <One d={open} close={() => set({ delivery: undefined })} />}
    </section>
  );
}

function One({ d, close }: { d: Delivery; close: () => void }) {
  return (
    <Panel title={plain(d.title)} close={close}>
      <Facts
        of={[
          ["To", d.channel],
          ["State", <span className={`dot ${deliveryTones[d.state]}`}>{d.state}</span>],
          ["Next try", d.next ? <When at={d.next} /> : ""],
          ["Id", <code>{d.id}</code>],
        ]}
      />
      <pre className="source" style={{ marginTop: "var(--s-4)" }} tabIndex={0}>
        {plain(d.text, 10_000)}
      </pre>
      <section>
        <div className="section-head">
          <h3>Tries</h3>
        </div>
        {d.tries.length ? (
          <ol>
            {d.tries.map((t, i) => (
              <li key={i} style={{ padding: "var(--s-2) 0", borderBottom: "1px solid var(--line)" }}>
                <span className={`dot ${t.error ? "bad" : "good"}`}>{t.error ? "failed" : "taken"}</span>{" "}
                <span className="muted small">
                  <When at={t.at} form="time" />, {t.took_ms} ms
                </span>
                {(t.error || t.answer) && (
                  <span className="small" style={{ display: "block", overflowWrap: "anywhere" }}>
                    {plain(t.error || t.answer)}
                  </span>
                )}
              </li>
            ))}
          </ol>
        ) : (
          <p className="muted">It is sent in a moment.</p>
        )}
      </section>
      {d.state !== "due" && (
        <p className="bar" style={{ marginTop: "var(--s-4)" }}>
          <Act
            role="operator"
            run={async () => {
              await call("POST", `/deliveries/${enc(d.id)}:resend`);
              renew("/deliveries");
            }}
          >
            Send it again
          </Act>
        </p>
      )}
    </Panel>
  );
}

function Field({ label, children }: { label: ReactNode; children: ReactNode }) {
  return (
    <label className="field">
      <span>{label}</span>
      {children}
    </label>
  );
}

/** What is set, without what is empty. */
const filled = (o: object) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== "" && v !== undefined && !(Array.isArray(v) && !v.length)));

function RuleForm({ r, channels, close }: { r?: AlertRule; channels: Channel[]; close: () => void }) {
  const [rule, setRule] = useState<AlertRule>(r ?? { name: "", on: "failed" });
  const change = (c: Partial<AlertRule>) => setRule({ ...rule, ...c });
  const path = `/alert-rules/${enc(rule.name || rule.on)}`;
  const put = async (body: AlertRule) => {
    await call("PUT", path, { body: filled({ ...body, name: body.name || body.on }) });
    again();
    close();
  };
  const threshold = watched[rule.on]?.[1];
  return (
    <Panel title={r ? `Rule ${r.name}` : "A new rule"} close={close}>
      <div className="form">
        <Field label="Tell me when">
          <select value={rule.on} onChange={(e) => change({ on: e.target.value as AlertRule["on"], threshold: undefined })}>
            {Object.entries(watched).map(([on, [word]]) => (
              <option key={on} value={on}>
                {word}
              </option>
            ))}
          </select>
        </Field>
        {!r && (
          <Field label="Name of the rule">
            <input value={rule.name} placeholder={rule.on} onChange={(e) => change({ name: e.target.value })} />
          </Field>
        )}
        {rule.on !== "disk" && (
          <Field label="Of the workflow">
            <input value={rule.workflow ?? ""} placeholder="all of them" onChange={(e) => change({ workflow: e.target.value })} />
          </Field>
        )}
        {threshold && (
          <Field label={threshold.split(", ")[0]}>
            <input type="number" min={0} step="any" value={rule.threshold ?? ""} placeholder={threshold.split(", ")[1]} onChange={(e) => change({ threshold: e.target.value ? Number(e.target.value) : undefined })} />
          </Field>
        )}
        <Field label="When it has held for">
          <input value={rule.for ?? ""} placeholder={rule.on === "stalled" ? "10m" : rule.on === "undelivered" ? "15m" : "at once"} onChange={(e) => change({ for: e.target.value })} />
        </Field>
        <Field label="Severity">
          <select value={rule.severity ?? "warning"} onChange={(e) => change({ severity: e.target.value as AlertRule["severity"] })}>
            {["info", "warning", "critical"].map((s) => (
              <option key={s}>{s}</option>
            ))}
          </select>
        </Field>
        <Field label="Tell it again after">
          <input value={rule.repeat ?? ""} placeholder="4h; 0s: never" onChange={(e) => change({ repeat: e.target.value })} />
        </Field>
        {channels.length > 0 && (
          <fieldset style={{ border: 0, padding: 0, margin: 0 }}>
            <legend className="small muted">Send it to</legend>
            {channels.map((c) => (
              <label key={c.name} style={{ marginRight: "var(--s-4)", minHeight: "var(--row)" }}>
                <input
                  type="checkbox"
                  checked={rule.channels?.includes(c.name) ?? false}
                  onChange={(e) => change({ channels: e.target.checked ? [...(rule.channels ?? []), c.name] : rule.channels?.filter((n) => n !== c.name) })}
                />
                {c.name}
              </label>
            ))}
          </fieldset>
        )}
        <p className="bar">
          <Act role="user" kind="primary" run={() => put(rule)}>
            {r ? "Save" : "Add"}
          </Act>
          {r && (
            <>
              <Act role="user" run={() => put({ ...r, silenced_until: silent(r) ? undefined : new Date(Date.now() + 2 * 3600_000).toISOString() })}>
                {silent(r) ? "End the silence" : "Silence for 2 h"}
              </Act>
              <Act role="user" run={() => put({ ...r, disabled: !r.disabled })}>
                {r.disabled ? "Turn on" : "Turn off"}
              </Act>
              <Act
                role="user"
                verb="Delete"
                sure={
                  <>
                    <h2>Delete rule {r.name}?</h2>
                    <p style={{ marginTop: "var(--s-3)" }}>What it says is not told any more, and what it fires ends.</p>
                  </>
                }
                run={async () => {
                  await call("DELETE", path);
                  again();
                  close();
                }}
              >
                Delete
              </Act>
            </>
          )}
        </p>
      </div>
    </Panel>
  );
}

function ChannelForm({ c, close }: { c?: Channel; close: () => void }) {
  const [ch, setCh] = useState<Channel>(c ?? { name: "", kind: "webhook" });
  const change = (v: Partial<Channel>) => setCh({ ...ch, ...v });
  const text = (label: string, key: keyof Channel, hint = "") => (
    <Field label={label}>
      <input value={String(ch[key] ?? "")} placeholder={hint} onChange={(e) => change({ [key]: e.target.value })} />
    </Field>
  );
  const lines = (label: string, key: "to" | "secrets", hint: string) => (
    <Field label={label}>
      <input value={ch[key]?.join(", ") ?? ""} placeholder={hint} onChange={(e) => change({ [key]: e.target.value.split(/,\s*/) })} />
    </Field>
  );
  return (
    <Panel title={c ? `Channel ${c.name}` : "A new channel"} close={close}>
      <div className="form">
        {!c && text("Name", "name", "ops")}
        <Field label="Kind">
          <select value={ch.kind} onChange={(e) => change({ kind: e.target.value as Channel["kind"] })}>
            <option value="webhook">webhook</option>
            <option value="email">mail</option>
          </select>
        </Field>
        {ch.kind === "webhook" ? (
          <>
            {text("Address that is posted to", "url", "https://hooks.example.org/…")}
            {lines("Secret of the signature, by its name; two while one is replaced", "secrets", "${HOOK_SECRET}")}
          </>
        ) : (
          <>
            {lines("To", "to", "ops@example.org")}
            {text("From", "from", "crawler@example.org")}
            {text("Mail server", "host", "smtp.example.org")}
            <Field label="Encryption">
              <select value={ch.tls ?? "starttls"} onChange={(e) => change({ tls: e.target.value as Channel["tls"] })}>
                <option value="starttls">STARTTLS, or nothing is sent</option>
                <option value="tls">TLS from the start</option>
                <option value="none">none</option>
              </select>
            </Field>
            {text("Sign in as", "user")}
            {text("Password, by its name", "password", "${SMTP_PASSWORD}")}
          </>
        )}
        <p className="muted small">
          Secrets are not written here: <code>{"${NAME}"}</code> is a variable of the server, <code>file:/path</code> a file.
        </p>
        <p className="bar">
          <Act
            role="admin"
            kind="primary"
            run={async () => {
              await call("PUT", `/alert-channels/${enc(ch.name || "ops")}`, { body: filled({ ...ch, name: ch.name || "ops" }) });
              again();
              close();
            }}
          >
            {c ? "Save" : "Add"}
          </Act>
          {c && (
            <Act
              role="admin"
              verb="Delete"
              sure={<h2>Delete channel {c.name}?</h2>}
              run={async () => {
                await call("DELETE", `/alert-channels/${enc(c.name)}`);
                again();
                close();
              }}
            >
              Delete
            </Act>
          )}
        </p>
      </div>
    </Panel>
  );
}
