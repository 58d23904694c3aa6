import type { Agent } from "../api/types";
import { count, duration, plain, share, size } from "../lib/format";
import { call } from "../lib/api";
import { useNow } from "../lib/clock";
import { renew, useGet } from "../lib/query";
import { Act } from "../ui/act";
import type { ListOf } from "../ui/more";
import { Head } from "../ui/shell";
import { Notice, Shown, StateDot } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

/** What a program does, for people. */
const doing: Record<string, string> = { busy: "busy", idle: "idle", stopped: "stopped", draining: "about to end" };

/** Asks a program to start, to stop or to drain. It hears of it within seconds. */
function ask(a: Agent, wish: "start" | "stop" | "drain") {
  return async () => {
    await call("POST", `/agents/${encodeURIComponent(a.id)}:${wish}`);
    renew("/agents");
  };
}

/** What can be asked of a program: of the only one of a server, and of copies of the API, nothing. */
function Asks({ a }: { a: Agent }) {
  if (a.id === "here" || a.program === "api" || a.state === "draining") return null;
  return (
    <span className="bar" style={{ margin: 0 }}>
      {a.state === "stopped" ? (
        <Act role="operator" run={ask(a, "start")}>
          Start
        </Act>
      ) : (
        <Act role="operator" run={ask(a, "stop")}>
          Stop
        </Act>
      )}
      <Act
        role="operator"
        run={ask(a, "drain")}
        sure={<p>It finishes what it has in hand and ends. Whether it comes back is up to what started it.</p>}
        verb="Drain"
      >
        Drain
      </Act>
    </span>
  );
}

/** The programs that crawl: in one process, one row. */
export default function Nodes() {
  const agents = useGet<ListOf<Agent>>("/agents", {}, { topic: "agents", every: 5000 });
  const now = useNow();
  const columns: Column<Agent>[] = [
    {
      key: "program",
      label: "Program",
      grow: true,
      cell: (a) => (
        <span>
          <strong>{a.program}</strong> <span className="muted">{a.version}</span>
          <span className="small muted clip" style={{ display: "block" }}>
            {plain([a.node, a.address, a.dir].filter(Boolean).join(" · "))}
          </span>
        </span>
      ),
    },
    {
      key: "seen",
      label: "Heard from",
      cell: (a) => <StateDot state={now - Date.parse(a.seen) > 30_000 ? "gone" : "running"} word={<When at={a.seen} />} />,
    },
    {
      key: "state",
      label: "Does",
      cell: (a) => (
        <span>
          {doing[a.state] ?? a.state}
          {!a.since.startsWith("0001") && <span className="muted"> for {duration(now - Date.parse(a.since))}</span>}
        </span>
      ),
    },
    { key: "busy", label: "In hand", num: true, cell: (a) => count(a.busy) },
    { key: "epoch", label: "Ring", num: true, cell: (a) => (a.epoch ? count(a.epoch) : "–") },
    { key: "up", label: "Up", num: true, cell: (a) => duration(now - Date.parse(a.started)) },
    { key: "running", label: "Executions", num: true, cell: (a) => count(a.running) },
    { key: "flight", label: "In flight", num: true, cell: (a) => count(a.in_flight) },
    { key: "cpus", label: "CPUs", num: true, cell: (a) => a.cpus },
    { key: "memory", label: "Memory", num: true, cell: (a) => size(a.memory_bytes) },
    {
      key: "disk",
      label: "Disk free",
      num: true,
      cell: (a) => size(a.disk_free_bytes) + (a.disk_bytes ? ` (${share(a.disk_free_bytes, a.disk_bytes)})` : ""),
    },
    { key: "asks", label: "Ask it to", cell: (a) => <Asks a={a} /> },
  ];
  return (
    <>
      <Head title="Nodes" />
      <Shown of={agents}>
        {(l) => (
          <>
            {l.items.map(
              (a) =>
                a.braked && (
                  <Notice key={a.id} tone="wait">
                    <strong>All executions are held by the {a.braked} guard.</strong> They go on by themselves when there is room again.
                  </Notice>
                ),
            )}
            <section>
              <Table label="Programs that crawl" rows={l.items} columns={columns} id={(a) => a.id} />
            </section>
            {l.items.filter((a) => Object.keys(a.workers ?? {}).length > 0).map((a) => (
              <section key={a.id}>
                <div className="section-head">
                  <h2>Workers of {l.items.length > 1 ? plain(a.id) : "each stage"}</h2>
                </div>
                <ul style={{ display: "flex", flexWrap: "wrap", gap: "var(--s-2) var(--s-6)" }}>
                  {Object.entries(a.workers ?? {}).map(([stage, n]) => (
                    <li key={stage}>
                      <span className="muted">{stage}</span> <span className="num">{count(n)}</span>
                    </li>
                  ))}
                </ul>
              </section>
            ))}
          </>
        )}
      </Shown>
    </>
  );
}
