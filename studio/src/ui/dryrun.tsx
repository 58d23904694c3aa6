import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { DryRunResult, DryStep } from "../api/types";
import { call, Problem } from "../lib/api";
import { useNow } from "../lib/clock";
import { count, plain, plural } from "../lib/format";
import { useMe } from "./me";
import { Failure, Notice, type Tone } from "./state";
import { Table } from "./table";
import { Url } from "./text";
import "./dryrun.css";

/** Whose definition a dry run is made with. With an execution, the page is compared with what that has stored. */
export interface Definition {
  source?: string; // a job file
  workflow?: string;
  version?: number;
  execution?: string;
}

interface Props {
  of: Definition;
  url: string;
  onURL?: (url: string) => void; // the address that was tried
  onResult?: (r: DryRunResult | null) => void; // null: another one has begun
  step?: string; // id of the step that is open, such as a node's; else the component keeps it
  onStep?: (id: string) => void;
  after?: (r: DryRunResult) => ReactNode; // what can be done with it
}

/** Sends one address through the pipeline and shows each step. Nothing of it is stored. */
export function DryRun({ of, url, onURL, onResult, step, onStep, after }: Props) {
  const { me, may } = useMe();
  const [address, setAddress] = useState(url);
  const [depth, setDepth] = useState(0);
  const [body, setBody] = useState("");
  const [result, setResult] = useState<DryRunResult | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [began, setBegan] = useState(0);
  const asked = useRef<AbortController | null>(null);
  useEffect(() => setAddress(url), [url]);
  useEffect(() => () => asked.current?.abort(), []);
  const barred = !!me && !may("user");

  async function run() {
    if (barred || !address.trim()) return;
    asked.current?.abort();
    const mine = (asked.current = new AbortController());
    setBegan(Date.now());
    setProblem(null);
    setResult(null);
    onResult?.(null);
    onURL?.(address.trim());
    try {
      const r = await call<DryRunResult>("POST", "/dry-runs", {
        signal: mine.signal,
        body: { url: address.trim(), ...of, ...(depth ? { depth } : {}), ...(body ? { body } : {}), with_source: true },
      });
      if (mine.signal.aborted) return;
      setResult(r);
      onResult?.(r);
    } catch (e) {
      if (mine.signal.aborted) return;
      setProblem(e as Problem);
    }
    setBegan(0);
  }
  const cancel = () => {
    asked.current?.abort();
    setBegan(0);
  };

  return (
    <div className="dry">
      <form
        className="bar"
        onSubmit={(e) => {
          e.preventDefault();
          void run();
        }}
      >
        <label className="field address">
          <span>Address</span>
          <input type="search" data-search="" inputMode="url" value={address} placeholder="https://…" maxLength={8192} onChange={(e) => setAddress(e.target.value)} />
        </label>
        <label className="field hops">
          <span>Hops from a seed</span>
          <input type="number" min={0} max={1000} value={depth} onChange={(e) => setDepth(Number(e.target.value) || 0)} />
        </label>
        <button type="submit" className="primary" aria-disabled={barred || !address.trim() || undefined} title={barred ? `Your role is ${me!.role}; this takes user` : undefined}>
          Try
        </button>
      </form>
      <details className="own">
        <summary>With a page of your own: nothing is asked for</summary>
        <label className="field">
          <span>Its HTML</span>
          <textarea rows={6} value={body} spellCheck={false} onChange={(e) => setBody(e.target.value)} placeholder="<html>…" />
        </label>
      </details>
      {began > 0 && <Waiting began={began} address={address} cancel={cancel} />}
      {problem && <Failure problem={problem} retry={() => void run()} />}
      {result && (
        <>
          <Notice tone={toneOfResult(result)} action={after?.(result)}>
            <strong>{sentence(plain(result.answer, 1000))}</strong>
            {(result.notes ?? []).map((n) => (
              <div key={n} className="small">
                {sentence(plain(n, 1000))}
              </div>
            ))}
          </Notice>
          <Steps r={result} open={step} onOpen={onStep} />
        </>
      )}
    </div>
  );
}

const sentence = (s: string) => (s ? s[0]!.toUpperCase() + s.slice(1) + (/[.!?…]$/.test(s) ? "" : ".") : "");

function toneOfResult(r: DryRunResult): Tone {
  if (r.fetch?.verdict !== "done") return "bad";
  return r.not_kept || !r.rules.allowed ? "wait" : "good";
}

function Waiting({ began, address, cancel }: { began: number; address: string; cancel: () => void }) {
  const now = useNow();
  const s = Math.max(0, Math.round((now - began) / 1000));
  return (
    <Notice
      tone="live"
      action={
        <button type="button" onClick={cancel}>
          Cancel
        </button>
      }
    >
      <span role="status">Trying {plain(address, 120)}</span>
      <span className="muted"> · {s} s{s > 1 && "; its host is asked in its turn, after the delay that the crawls keep, too"}</span>
    </Notice>
  );
}

/** What people call the steps of every dry run. */
const names: Record<string, string> = {
  url: "Address",
  scope: "Scope",
  robots: "robots.txt",
  fetch: "Request",
  parse: "Parser",
  rules: "Site rules",
  links: "Links",
  content: "Copies",
  record: "Record",
};

const verdicts: Record<string, [Tone, string]> = {
  ok: ["good", "done"],
  against: ["wait", "speaks against it"],
  stopped: ["bad", "ends here"],
  skipped: ["none", "not done"],
  failed: ["bad", "failed"],
};

const nameOf = (s: DryStep) => names[s.id] ?? s.id;

/** Microseconds as people read them. */
export function took(us: number): string {
  if (us < 1000) return `${us} µs`;
  return us < 1e6 ? `${(us / 1000).toFixed(us < 1e4 ? 1 : 0)} ms` : `${(us / 1e6).toFixed(1)} s`;
}

/** The steps in their order, and the one that is open beside them. Arrows, Home and End go through them. */
export function Steps({ r, open, onOpen }: { r: DryRunResult; open?: string; onOpen?: (id: string) => void }) {
  const [own, setOwn] = useState("");
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const steps = r.steps;
  const last = steps.findIndex((s) => s.verdict === "stopped" || s.verdict === "failed");
  const chosen = open ?? own;
  const at = Math.max(
    steps.findIndex((s) => s.id === chosen),
    chosen ? 0 : last,
    0,
  );
  const step = steps[at];
  if (!step) return null;
  const choose = (i: number, clicked = false) => {
    const s = steps[i];
    if (!s) return;
    setOwn(s.id);
    onOpen?.(s.id);
    list.current?.querySelectorAll<HTMLElement>("[role=tab]")[i]?.focus();
    const panel = list.current?.nextElementSibling;
    if (clicked && panel && panel.getBoundingClientRect().top > innerHeight * 0.8) panel.scrollIntoView({ block: "center" }); // it lies below
  };
  const onKey = (e: KeyboardEvent) => {
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: steps.length - 1 }[e.key];
    if (to === undefined) return;
    e.preventDefault();
    choose(Math.min(Math.max(to, 0), steps.length - 1));
  };
  return (
    <div className="steps">
      <div role="tablist" aria-label="Steps" aria-orientation="vertical" ref={list} onKeyDown={onKey}>
        {steps.map((s, i) => {
          const [tone, word] = verdicts[s.verdict] ?? ["none", s.verdict];
          return (
            <button
              key={s.id}
              type="button"
              role="tab"
              id={`${id}-${i}`}
              aria-selected={i === at}
              aria-controls={`${id}-shown`}
              tabIndex={i === at ? 0 : -1}
              onClick={() => choose(i, true)}
            >
              <span className={`dot ${tone}`}>
                {nameOf(s)}
                <span className="hidden">, {word}</span>
              </span>
              {s.point && <span className="muted small">{s.point}</span>}
              <span className="took">
                {s.waited_us && s.waited_us > 1000 ? <span className="muted">waited {took(s.waited_us)} · </span> : null}
                {took(s.took_us)}
              </span>
              <span className="said clip">{plain(s.text)}</span>
            </button>
          );
        })}
      </div>
      <div role="tabpanel" id={`${id}-shown`} aria-labelledby={`${id}-${at}`} tabIndex={0} className="shown">
        <One s={step} r={r} />
      </div>
    </div>
  );
}

function One({ s, r }: { s: DryStep; r: DryRunResult }) {
  const [, word] = verdicts[s.verdict] ?? ["none", s.verdict];
  return (
    <>
      <h2>
        {nameOf(s)} <span className="muted small">{word}</span>
        {s.use && <code className="small"> {plain(s.use)}</code>}
      </h2>
      <p>{sentence(plain(s.text, 2000))}</p>
      {s.id === "links" && <Links r={r} />}
      {s.id === "rules" && <Rules r={r} />}
      {s.id !== "rules" && <Difference s={s} />}
      {(s.log ?? []).length > 0 && (
        <>
          <h3>Log</h3>
          <pre className="source">{s.log!.map((l) => plain(l, 2000)).join("\n")}</pre>
        </>
      )}
      <Values word="What went in" of={s.in} />
      <Values word="What came out" of={s.out} />
    </>
  );
}

/** A value as text. */
function text(v: unknown): string {
  if (v === undefined || v === null) return "";
  return plain(typeof v === "string" ? v : JSON.stringify(v), 2000);
}

function Difference({ s }: { s: DryStep }) {
  if (!s.diff.length) return <p className="muted">It changed nothing.</p>;
  return (
    <>
      <h3>What it changed</h3>
      <dl className="facts">
        {s.diff.map((c) => (
          <div key={c.key} style={{ display: "contents" }}>
            <dt>
              <code>{plain(c.key)}</code>
            </dt>
            <dd>
              {c.before !== undefined && <del>{text(c.before)}</del>} {c.after !== undefined && <ins>{text(c.after)}</ins>}
            </dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function Values({ word, of }: { word: string; of?: Record<string, unknown> }) {
  if (!of || !Object.keys(of).length) return null;
  return (
    <details>
      <summary>{word}</summary>
      <pre className="source" tabIndex={0} aria-label={word}>
        {plain(JSON.stringify(of, null, 2), 100_000)}
      </pre>
    </details>
  );
}

const most = 200;

/** What the execution knows of a link. */
const known: Record<string, string> = { new: "new", queued: "queued already", done: "fetched already", excluded: "left out so far" };

function Links({ r }: { r: DryRunResult }) {
  const [all, setAll] = useState(false);
  const links = r.links ?? [];
  if (!links.length) return null;
  return (
    <>
      <Table
        label="Links"
        rows={all ? links : links.slice(0, most)}
        id={(l) => l.url + l.kind}
        columns={[
          { key: "url", label: "Link", grow: true, cell: (l) => <Url url={l.url} /> },
          {
            key: "verdict",
            label: "Verdict",
            cell: (l) => (l.followed ? <span className="dot good">followed</span> : <span className="dot wait">left out</span>),
          },
          {
            key: "why",
            label: "Why",
            cell: (l) =>
              l.followed ? (
                <span className="muted">{[l.kind !== "page" && l.kind, known[l.state ?? ""]].filter(Boolean).join(", ")}</span>
              ) : (
                <span title={plain(l.rule)}>
                  {l.reason} <code className="small">{plain(l.rule, 40)}</code>
                </span>
              ),
          },
          { key: "priority", label: "Priority", num: true, cell: (l) => (l.followed ? l.priority : "") },
        ]}
      />
      {links.length > most && !all && (
        <p className="more">
          {count(most)} of {count(links.length)}
          <button type="button" onClick={() => setAll(true)}>
            Show all
          </button>
        </p>
      )}
    </>
  );
}

function Rules({ r }: { r: DryRunResult }) {
  const rules = r.site_rules ?? [];
  return (
    <>
      {rules.map((rule, i) => (
        <div key={i} className="rule">
          <h3>
            {plain(rule.name)} {!rule.matches && <span className="muted small">for other addresses</span>}
          </h3>
          {rule.matches && (
            <Table
              label={`Fields of ${plain(rule.name)}`}
              rows={rule.found ?? []}
              id={(f) => f.field}
              columns={[
                { key: "field", label: "Field", cell: (f) => <strong>{plain(f.field)}</strong> },
                { key: "matches", label: "Found", num: true, cell: (f) => (f.matches ? plural(f.matches, "time") : <span className="dot wait">nothing</span>) },
                { key: "values", label: "Such as", grow: true, cell: (f) => <span className="clip" style={{ display: "block" }}>{(f.values ?? []).map(text).join(" · ")}</span> },
                { key: "path", label: "In", cell: (f) => <code className="small clip" style={{ display: "block", maxWidth: "24ch" }} title={plain(f.path)}>{plain(f.path, 80)}</code> },
              ]}
            />
          )}
        </div>
      ))}
    </>
  );
}
