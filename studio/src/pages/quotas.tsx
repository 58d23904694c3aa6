import { useState } from "react";
import type { AccountQuota } from "../api/types";
import { call } from "../lib/api";
import { bytes, count, plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { Act } from "../ui/act";
import type { ListOf } from "../ui/more";
import { Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Facts } from "../ui/text";

type Quota = AccountQuota["quota"];

const again = () => ["/quotas", "/me/quota"].forEach(renew);
const size = (n: number | undefined) => bytes(n ?? 0).join(" ");
const ofBound = (used: string | undefined, bound: string) => (used === undefined ? bound : `${used} of ${bound}`);
const running = (q: AccountQuota) => ofBound(q.usage && count(q.usage.running), q.quota.running ? count(q.quota.running) : "any number");
const pages = (q: AccountQuota) => ofBound(q.usage && count(q.usage.pages_day), q.quota.pages_per_day ? count(q.quota.pages_per_day) : "any number");
const held = (q: AccountQuota) => ofBound(q.usage && size(q.usage.bytes), q.quota.bytes ? size(q.quota.bytes) : "any number");

const unbroken = (text: string) => <span style={{ whiteSpace: "nowrap" }}>{text}</span>;

/** What definitions may have, in words. */
function words(q: Quota): string {
  const out = [];
  if (q.min_delay) out.push(`delay of ${q.min_delay} at least`);
  if (q.builtin_only) out.push("plug-ins of the program only");
  out.push(q.ignore_robots ? "may ignore robots.txt" : "robots.txt is heeded");
  return out.join("; ");
}

/** What whoever looks may use, and uses. */
export function MyQuota() {
  const mine = useGet<AccountQuota>("/me/quota", {}, { every: 30_000 });
  return (
    <section>
      <div className="section-head">
        <h2>What you may use</h2>
      </div>
      <Shown of={mine} lines={2}>
        {(q) => (
          <Facts
            of={[
              ["Executions that have not ended", running(q)],
              ["Pages today (UTC)", pages(q)],
              ["Stored", held(q)],
              ["Definitions", words(q.quota)],
            ]}
          />
        )}
      </Shown>
    </section>
  );
}

/** Quotas of roles and accounts. */
export function Quotas() {
  const list = useGet<ListOf<AccountQuota>>("/quotas", {}, { every: 30_000 });
  const [chosen, setChosen] = useState<string>("role:user");
  const columns: Column<AccountQuota>[] = [
    {
      key: "of",
      label: "Of",
      grow: true,
      cell: (q) => (
        <span>
          <strong>{q.of.startsWith("role:") ? `everybody of the role ${q.role}` : plain(q.name || q.of)}</strong>
          <span className="small muted clip" style={{ display: "block" }}>
            {q.own ? "set by an administrator" : q.of.startsWith("role:") ? "as the program begins" : `as the role ${q.role} has it`}
          </span>
        </span>
      ),
    },
    { key: "running", label: "Executions", cell: (q) => unbroken(running(q)) },
    { key: "pages", label: "Pages today", cell: (q) => unbroken(pages(q)) },
    { key: "bytes", label: "Stored", cell: (q) => unbroken(held(q)) },
    { key: "definitions", label: "Definitions", cell: (q) => <span style={{ display: "block", minWidth: "15rem" }}>{words(q.quota)}</span> },
  ];
  return (
    <section>
      <div className="section-head">
        <h2>Quotas</h2>
      </div>
      <Shown of={list}>
        {(l) => {
          const q = l.items.find((one) => one.of === chosen) ?? l.items[0];
          return (
            <>
              <Table label="Quotas" rows={l.items} columns={columns} id={(one) => one.of} />
              {q && (
                <>
                  <label className="field" style={{ marginTop: "1rem" }}>
                    <span>Change the quota of</span>
                    <select style={{ alignSelf: "start", maxWidth: "100%" }} value={q.of} onChange={(e) => setChosen(e.target.value)}>
                      {l.items.map((one) => (
                        <option key={one.of} value={one.of}>
                          {one.of.startsWith("role:") ? `the role ${one.role}` : plain(one.name || one.of)}
                        </option>
                      ))}
                    </select>
                  </label>
                  <Edit key={q.of + JSON.stringify(q.quota)} q={q} />
                </>
              )}
            </>
          );
        }}
      </Shown>
    </section>
  );
}

function Edit({ q }: { q: AccountQuota }) {
  const [now, setNow] = useState<Quota>(q.quota);
  const number = (key: "running" | "pages_per_day" | "bytes", label: string) => (
    <label className="field">
      <span>{label}</span>
      <input type="number" min={0} value={now[key] ?? 0} onChange={(e) => setNow({ ...now, [key]: Number(e.target.value) })} style={{ width: "16ch" }} />
    </label>
  );
  const yes = (key: "ignore_robots" | "builtin_only", label: string) => (
    <label>
      <input type="checkbox" checked={!!now[key]} onChange={(e) => setNow({ ...now, [key]: e.target.checked })} /> {label}
    </label>
  );
  return (
    <form className="bar" onSubmit={(e) => e.preventDefault()}>
      {number("running", "Executions (0: any)")}
      {number("pages_per_day", "Pages a day (0: any)")}
      {number("bytes", "Bytes stored (0: any)")}
      <label className="field">
        <span>Least delay</span>
        <input value={now.min_delay ?? "0s"} maxLength={20} onChange={(e) => setNow({ ...now, min_delay: e.target.value })} style={{ width: "10ch" }} />
      </label>
      {yes("ignore_robots", "may ignore robots.txt")}
      {yes("builtin_only", "plug-ins of the program only")}
      <Act
        role="admin"
        kind="primary"
        run={async () => {
          await call("PUT", "/quotas/" + encodeURIComponent(q.of), { body: now, lock: q.lock });
          again();
        }}
      >
        Set
      </Act>
      {q.own && (
        <Act
          role="admin"
          run={async () => {
            await call("DELETE", "/quotas/" + encodeURIComponent(q.of));
            again();
          }}
        >
          Take back
        </Act>
      )}
    </form>
  );
}
