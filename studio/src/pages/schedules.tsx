import { useEffect, useState, type ReactNode } from "react";
import type { Forecast, Schedule, ScheduleRule, Slot, Workflow } from "../api/types";
import { call, Problem } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Act } from "../ui/act";
import { useList, type ListOf } from "../ui/more";
import { Panel } from "../ui/panel";
import { Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Facts, When } from "../ui/text";

const overlaps: [string, string][] = [
  ["", "skip this time"],
  ["queue", "wait for its end"],
  ["replace", "stop it, then begin"],
  ["allow", "run both"],
];
const catchUps: [string, string][] = [
  ["", "the last one"],
  ["none", "none"],
  ["all", "all of them, one after the other"],
];

/** A slot as the clock of its zone shows it, and the zone: "Wed 25 Nov 2026, 02:30 Europe/Copenhagen". */
export function slotWords(s: { label: string; at: string }): { day: string; time: string; zone: string } {
  const m = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(Z|[+-]\d\d:\d\d)?\[(.+)\]$/.exec(s.label);
  const d = m ? new Date(m[1] + "T00:00:00Z") : new Date(s.at);
  const day = d.toLocaleDateString("en-GB", { weekday: "short", day: "numeric", month: "short", year: "numeric", timeZone: m ? "UTC" : undefined });
  if (m) return { day, time: m[2]!, zone: m[4]! + (m[3] && m[3] !== "Z" ? ` (${m[3]})` : "") };
  return { day, time: d.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" }), zone: "here" };
}

function SlotTime({ s }: { s: Slot }) {
  const w = slotWords(s);
  return (
    <time dateTime={s.at} title={`${s.label} · ${s.at}`} className="nowrap">
      {w.day}, {w.time}
    </time>
  );
}

/** The schedules of a workflow: what they are in words, what comes next, what became of the last. */
export function Schedules({ w }: { w: Workflow }) {
  const list = useGet<ListOf<Schedule>>("/schedules", { workflow: w.slug, limit: 100 }, { topic: "workflows", every: 10_000 });
  const [params, set] = useParams();
  const open = params.get("schedule");
  const found = list.data?.items.find((s) => s.id === open);
  const columns: Column<Schedule>[] = [
    {
      key: "name",
      label: "Schedule",
      grow: true,
      cell: (s) => (
        <div style={{ minWidth: 0, padding: "4px 0" }}>
          <a href={`${at.workflow(w.slug)}?schedule=${enc(s.id)}`} style={{ color: "var(--text)", fontWeight: 500 }}>
            {s.name}
          </a>
          <span className="small muted" style={{ display: "block" }}>
            {plain(s.words)}
          </span>
        </div>
      ),
    },
    { key: "next", label: "Next", cell: (s) => (s.paused ? <span className="dot wait">paused</span> : s.next ? <SlotTime s={s.next} /> : <span className="muted">has come to its end</span>) },
    { key: "last", label: "Last", cell: (s) => (s.last ? <SlotState s={s.last} /> : <span className="muted">none yet</span>) },
  ];
  return (
    <section>
      <div className="section-head">
        <h2>Schedules</h2>
        {!!list.data?.items.length && (
          <span className="right">
            <button type="button" onClick={() => set({ schedule: "new" }, true)}>
              Add
            </button>
          </span>
        )}
      </div>
      <Shown of={list} lines={2}>
        {(l) =>
          l.items.length ? (
            <Table label="Schedules" rows={l.items} columns={columns} id={(s) => s.id} selected={open ?? undefined} />
          ) : (
            <p className="bar">
              <span className="muted">It runs when somebody runs it.</span>
              <button type="button" onClick={() => set({ schedule: "new" }, true)}>
                Run it by the clock
              </button>
            </p>
          )
        }
      </Shown>
      {open === "new" && <Form w={w} close={() => set({ schedule: undefined })} />}
      {found && (params.get("change") ? <Form key={found.id} w={w} s={found} close={() => set({ change: undefined })} /> : <One s={found} close={() => set({ schedule: undefined })} />)}
    </section>
  );
}

const slotTones: Record<string, string> = { started: "good", waiting: "wait", skipped: "bad", missed: "bad", planned: "none" };

function SlotState({ s }: { s: Slot }) {
  const word = <span className={`dot ${slotTones[s.state] ?? "none"}`}>{s.state}</span>;
  return s.execution ? <a href={at.execution(s.execution)}>{word}</a> : <span title={plain(s.reason)}>{word}</span>;
}

/** A schedule: its next slots, and what became of those before. */
function One({ s, close }: { s: Schedule; close: () => void }) {
  const path = `/schedules/${enc(s.id)}`;
  const [, set] = useParams();
  const coming = useGet<ListOf<Slot>>(path + "/upcoming", { slots: 5 }, { topic: "workflows", every: 10_000 });
  const slots = useList<Slot>("/slots", { schedule: s.id, state: "waiting,started,skipped,missed" }, { topic: "workflows", every: 10_000 });
  const act = (verb: string) => async () => {
    await call("POST", `${path}:${verb}`, { body: {} });
    renew("/schedules");
    renew("/slots");
  };
  const columns: Column<Slot>[] = [
    {
      key: "at",
      label: "Slot",
      grow: true,
      cell: (t) => (
        <div style={{ minWidth: 0, padding: "4px 0" }}>
          <SlotTime s={t} />
          {t.reason && (
            <span className="small muted" style={{ display: "block", whiteSpace: "normal" }}>
              {plain(t.reason)}
            </span>
          )}
        </div>
      ),
    },
    { key: "state", label: "What became of it", cell: (t) => <span className={`dot ${slotTones[t.state] ?? "none"}`}>{t.state}</span> },
    { key: "execution", label: "Execution", cell: (t) => (t.execution ? <a className="nowrap" href={at.execution(t.execution)}>{t.execution}</a> : "") },
  ];
  return (
    <Panel title={`${s.slug}, ${s.name}`} close={close}>
      <p className="sub">
        {plain(s.words)}
        {s.paused && (
          <>
            {" "}
            · paused <When at={s.paused} />
            {s.reason && `: ${plain(s.reason)}`}
          </>
        )}
      </p>
      <p className="bar" style={{ margin: "var(--s-4) 0" }}>
        <Act role="user" run={act(s.paused ? "resume" : "pause")} kind={s.paused ? "primary" : undefined}>
          {s.paused ? "Resume" : "Pause"}
        </Act>
        <button type="button" onClick={() => set({ change: "1" }, true)}>
          Change
        </button>
        <Act
          role="user"
          verb="Delete"
          sure={
            <>
              <h2>Delete {s.name}?</h2>
              <p style={{ marginTop: "var(--s-3)" }}>Nothing begins by it any more, and its list of slots is gone. Executions stay. To keep the list, pause it.</p>
            </>
          }
          run={async () => {
            await call("DELETE", path, { lock: s.lock });
            renew("/schedules");
            close();
          }}
        >
          Delete
        </Act>
      </p>
      <Facts
        of={[
          ["An execution still runs", overlaps.find(([v]) => v === (s.rule.overlap ?? ""))?.[1] ?? s.rule.overlap],
          ["Times missed while the server is down, made up for", catchUps.find(([v]) => v === (s.rule.catch_up === "last" ? "" : (s.rule.catch_up ?? "")))?.[1]],
        ]}
      />
      <section>
        <div className="section-head">
          <h3>Next</h3>
        </div>
        <Shown of={coming} lines={5}>{(l) => <Coming slots={l.items} />}</Shown>
      </section>
      <section>
        <div className="section-head">
          <h3>Before</h3>
        </div>
        <Shown of={slots.first}>
          {() =>
            slots.rows.length ? (
              <>
                <Table label="Slots" rows={slots.rows} columns={columns} id={(t) => t.label} />
                {slots.more}
              </>
            ) : (
              <p className="muted">Its first time is still to come.</p>
            )
          }
        </Shown>
      </section>
    </Panel>
  );
}

function Coming({ slots }: { slots: Slot[] }) {
  if (!slots.length) return <p className="muted">Nothing comes.</p>;
  return (
    <ol>
      {slots.map((s) => {
        const w = slotWords(s);
        return (
          <li key={s.label} style={{ display: "flex", gap: "var(--s-3)", minHeight: "var(--row)", alignItems: "center", borderBottom: "1px solid var(--line)" }}>
            <span style={{ minWidth: "16ch" }}>
              {w.day}
            </span>
            <span>{w.time}</span>
            <span className="muted small">{w.zone}</span>
          </li>
        );
      })}
    </ol>
  );
}

type Kind = "day" | "week" | "hour" | "cron" | "every" | "once";

const kinds: [Kind, string][] = [
  ["day", "every day"],
  ["week", "every week"],
  ["hour", "every hour"],
  ["every", "at an interval"],
  ["once", "once"],
  ["cron", "by a cron line"],
];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** How a rule is told by the form. */
function kindOf(r: ScheduleRule): { kind: Kind; time: string; weekday: string; minute: string } {
  const m = /^(\d{1,2}) (\d{1,2}|\*) \* \* (\*|[0-6])$/.exec(r.cron ?? "");
  const time = m && m[2] !== "*" ? `${m[2]!.padStart(2, "0")}:${m[1]!.padStart(2, "0")}` : "03:00";
  const rest = { time, weekday: m && m[3] !== "*" ? m[3]! : "1", minute: m ? m[1]! : "0" };
  if (r.every) return { kind: "every", ...rest };
  if (r.once) return { kind: "once", ...rest };
  if (!r.cron) return { kind: "day", ...rest };
  if (!m || (m[2] === "*" && m[3] !== "*")) return { kind: "cron", ...rest };
  return { kind: m[2] === "*" ? "hour" : m[3] === "*" ? "day" : "week", ...rest };
}

/** A rule that is being written. The next five times are told while one types. */
function Form({ w, s, close }: { w: Workflow; s?: Schedule; close: () => void }) {
  const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [rule, setRule] = useState<ScheduleRule>(s?.rule ?? { tz: here });
  const [name, setName] = useState("");
  const [f, setF] = useState(() => kindOf(s?.rule ?? {}));
  const [forecast, setForecast] = useState<Forecast | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const change = (c: Partial<ScheduleRule>) => setRule({ ...rule, ...c });
  const [hour, minute] = f.time.split(":").map(Number);
  const { cron, every, once, ...others } = rule;
  const when: Partial<ScheduleRule> =
    f.kind === "day"
      ? { cron: `${minute} ${hour} * * *` }
      : f.kind === "week"
        ? { cron: `${minute} ${hour} * * ${f.weekday}` }
        : f.kind === "hour"
          ? { cron: `${Number(f.minute) || 0} * * * *` }
          : f.kind === "every"
            ? { every: every || "6h" }
            : f.kind === "once"
              ? { once }
              : { cron };
  const full = Object.fromEntries(Object.entries({ ...others, ...when }).filter(([, v]) => v !== "" && v !== undefined && v !== 0)) as ScheduleRule;
  const asked = JSON.stringify(full);
  useEffect(() => {
    const stop = new AbortController();
    const t = setTimeout(async () => {
      try {
        setForecast(await call<Forecast>("POST", "/schedules:forecast", { body: JSON.parse(asked), signal: stop.signal }));
        setProblem(null);
      } catch (e) {
        if (!stop.signal.aborted) setProblem(e as Problem);
      }
    }, 200);
    return () => {
      clearTimeout(t);
      stop.abort();
    };
  }, [asked]);
  const save = async () => {
    if (s) await call("PUT", `/schedules/${enc(s.id)}`, { body: full, lock: s.lock });
    else await call("POST", `/workflows/${enc(w.slug)}/schedules`, { body: { ...full, name: name || undefined } });
    renew("/schedules");
    close();
  };
  const text = (label: string, key: keyof ScheduleRule, hint: string) => (
    <label className="field">
      <span>{label}</span>
      <input value={String(rule[key] ?? "")} placeholder={hint} onChange={(e) => change({ [key]: e.target.value })} />
    </label>
  );
  return (
    <Panel title={s ? `Change ${s.name}` : `Run ${w.slug} by the clock`} close={close}>
      <div className="form">
        <Choice label="When" value={f.kind} of={kinds} set={(v) => setF({ ...f, kind: v as Kind })} />
        {f.kind === "week" && <Choice label="On" value={f.weekday} of={weekdays.map((d, i) => [String(i), d])} set={(v) => setF({ ...f, weekday: v })} />}
        {(f.kind === "day" || f.kind === "week") && (
          <label className="field">
            <span>At</span>
            <input type="time" value={f.time} onChange={(e) => e.target.value && setF({ ...f, time: e.target.value })} />
          </label>
        )}
        {f.kind === "hour" && (
          <label className="field">
            <span>At minute</span>
            <input type="number" min={0} max={59} value={f.minute} onChange={(e) => setF({ ...f, minute: e.target.value })} />
          </label>
        )}
        {f.kind === "cron" && text("Minute, hour, day of month, month, day of week", "cron", "30 2 * * *")}
        {f.kind === "every" && text("Every", "every", "6h")}
        {f.kind === "once" && text("At", "once", "2026-12-01T08:00")}
        <label className="field">
          <span>Time zone</span>
          <input list="zones" value={rule.tz ?? ""} placeholder="UTC" onChange={(e) => change({ tz: e.target.value })} />
          <datalist id="zones">
            {Intl.supportedValuesOf("timeZone").map((z) => (
              <option key={z} value={z} />
            ))}
          </datalist>
        </label>
        <div aria-live="polite" style={{ minHeight: 220 }}>
          {problem ? (
            <p className="word-bad">{problem.errors[0]?.message ?? problem.detail ?? problem.message}</p>
          ) : (
            forecast && (
              <>
                <p style={{ fontWeight: 500 }}>{upper(plain(forecast.words))}</p>
                <Coming slots={forecast.slots} />
              </>
            )
          )}
        </div>
        <Choice label="If an execution has not ended" value={rule.overlap ?? ""} of={overlaps} set={(v) => change({ overlap: v as ScheduleRule["overlap"] })} />
        <Choice label="Of times missed while the server is down, make up for" value={rule.catch_up ?? ""} of={catchUps} set={(v) => change({ catch_up: v as ScheduleRule["catch_up"] })} />
        <details>
          <summary>From, until, jitter{s ? "" : ", name"}</summary>
          <div className="form" style={{ marginTop: "var(--s-3)" }}>
            {text("Not before", "start", "2026-12-01")}
            {text("Not after", "until", "2027-06-30")}
            {text("Begin up to so much later", "jitter", "10m")}
            {!s && (
              <label className="field">
                <span>Name</span>
                <input value={name} placeholder="schedule" onChange={(e) => setName(e.target.value)} />
              </label>
            )}
          </div>
        </details>
        <p className="bar">
          <Act role="user" kind="primary" run={save} disabled={!!problem} why="It has a fault">
            {s ? "Save" : "Add"}
          </Act>
        </p>
      </div>
    </Panel>
  );
}

const upper = (s: string) => s.slice(0, 1).toUpperCase() + s.slice(1);

function Choice({ label, value, of, set }: { label: ReactNode; value: string; of: [string, string][]; set: (v: string) => void }) {
  return (
    <label className="field">
      <span>{label}</span>
      <select value={value} onChange={(e) => set(e.target.value)}>
        {of.map(([v, word]) => (
          <option key={v} value={v}>
            {word}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Which slot began an execution. */
export function Cause({ cause, slug }: { cause: { kind: string; by?: string; schedule?: string; slot?: string }; slug: string }) {
  if (cause.kind === "then" && cause.by) {
    return (
      <>
        follows <a href={at.execution(cause.by)}>{cause.by}</a>
      </>
    );
  }
  if (cause.kind !== "schedule" || !cause.slot) return cause.by ? <>run by {plain(cause.by)}</> : null;
  const w = slotWords({ label: cause.slot, at: cause.slot });
  return (
    <>
      slot{" "}
      <a href={`${at.workflow(slug)}?schedule=${enc(cause.schedule ?? "")}`}>
        {w.day}, {w.time}
      </a>{" "}
      of {plain(cause.by)}
    </>
  );
}
