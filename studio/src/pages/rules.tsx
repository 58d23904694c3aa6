import { useMemo, useState, type ReactNode } from "react";
import type { DryRunResult, Induced, Match, RuleChecked, RuleTested } from "../api/types";
import { call, Problem } from "../lib/api";
import { count, plain, plural } from "../lib/format";
import { taken } from "../lib/hand";
import { at, useParams } from "../lib/route";
import { Act } from "../ui/act";
import { Examples } from "../ui/examples";
import { Picker, type Picked } from "../ui/picker";
import { Head } from "../ui/shell";
import { Empty, Failure, Notice } from "../ui/state";
import { Table } from "../ui/table";
import { Url } from "../ui/text";

interface Row {
  name: string;
  kind: "css" | "xpath";
  expression: string;
  attr: string;
  more?: { regex?: string; list?: boolean; type?: string; of: string }; // of an induced field, as long as its expression stays
}

const empty: Row = { name: "title", kind: "css", expression: "h1", attr: "" };

/** A row as a field of a rule. */
function fieldOf(r: Row) {
  const { of, ...more } = r.more ?? { of: "" };
  return { name: r.name, [r.kind]: r.expression, ...(r.attr ? { attr: r.attr } : {}), ...(of === r.expression ? more : {}) };
}

/** Site rules tried on a page: what they find, and where in its source it stands. */
export default function Rules() {
  const [params, set] = useParams();
  const [given] = useState(taken); // by a dry run
  const [html, setHTML] = useState(given?.html ?? "");
  const [rows, setRows] = useState<Row[]>([empty]);
  const [tested, setTested] = useState<RuleTested | null>(null);
  const [checked, setChecked] = useState<RuleChecked | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const execution = params.get("execution") ?? "";
  const url = params.get("url") ?? given?.url ?? "";
  const picking = params.get("pick") === "1" && (html || (execution && url));
  const byExample = params.get("examples") === "1";
  const rules = [
    {
      name: "rule",
      host: "",
      match: "",
      fields: rows.filter((r) => r.name && r.expression).map(fieldOf),
      links: [],
    },
  ];

  async function ask<T>(path: string, body: object, show: (t: T) => void) {
    setProblem(null);
    try {
      show(await call<T>("POST", path, { body }));
    } catch (e) {
      setProblem(e as Problem);
    }
  }
  const test = () => ask<RuleTested>("/rule-tests", { ...(html ? { html, url } : { execution, url }), rules }, setTested);
  const check = () => ask<RuleChecked>("/rule-checks", { execution, rules }, setChecked);
  async function fetchPage() {
    const r = await call<DryRunResult>("POST", "/dry-runs", { body: { url, with_source: true } });
    if (!r.html) throw new Problem(0, "There is no page of HTML to try rules on", r.answer, "");
    setHTML(r.html);
  }
  const change = (i: number, c: Partial<Row>) => setRows(rows.map((r, j) => (j === i ? { ...r, ...c } : r)));

  const use = (r: Induced) => {
    setRows((r.rule.fields ?? []).map((f) => ({ name: f.name, kind: "css", expression: f.css, attr: f.attr, more: { of: f.css, ...(f.regex ? { regex: f.regex } : {}), ...(f.list ? { list: true } : {}), ...(f.type ? { type: f.type } : {}) } })));
    set({ examples: undefined });
  };
  const add = (p: Picked) => setRows([...rows.filter((r) => r.expression && r.name !== p.name), { name: p.name, kind: "css", expression: p.css, attr: p.attr }]);

  return (
    <>
      <Head title="Rule tester" />
      <p className="sub">Site rules take fields out of pages. Try them here before they stand in a workflow.</p>
      <div className="cols">
        <section>
          <div className="section-head">
            <h2>Page</h2>
          </div>
          <div style={{ display: "grid", gap: "var(--s-3)" }}>
            <label className="field">
              <span>Of an execution</span>
              <input value={execution} placeholder="name-1" onChange={(e) => set({ execution: e.target.value })} />
            </label>
            <label className="field">
              <span>Address of the page</span>
              <input type="search" data-search="" value={url} placeholder="https://…" onChange={(e) => set({ url: e.target.value })} />
            </label>
            {!execution && url && (
              <p>
                <Act role="user" run={fetchPage}>
                  Fetch it
                </Act>{" "}
                <span className="muted small">in its turn; nothing of it is stored</span>
              </p>
            )}
            <label className="field">
              <span>Or its HTML</span>
              <textarea rows={6} value={html} spellCheck={false} onChange={(e) => setHTML(e.target.value)} placeholder="<html>…" />
            </label>
          </div>
        </section>
        <section>
          <div className="section-head">
            <h2>Fields</h2>
          </div>
          <div style={{ display: "grid", gap: "var(--s-2)" }}>
            {rows.map((r, i) => (
              <div key={i} role="group" aria-label={`Field ${i + 1}`} className="rule-field">
                <input aria-label="Name" value={r.name} onChange={(e) => change(i, { name: e.target.value })} />
                <select aria-label="Kind" value={r.kind} onChange={(e) => change(i, { kind: e.target.value as Row["kind"] })}>
                  <option value="css">CSS</option>
                  <option value="xpath">XPath</option>
                </select>
                <input aria-label="Expression" className="mono" value={r.expression} spellCheck={false} onChange={(e) => change(i, { expression: e.target.value })} />
                <input aria-label="Attribute; empty: the text" placeholder="attribute" value={r.attr} onChange={(e) => change(i, { attr: e.target.value })} />
                <button type="button" className="plain" aria-label={`Remove field ${i + 1}`} onClick={() => setRows(rows.filter((_, j) => j !== i))}>
                  ×
                </button>
              </div>
            ))}
          </div>
          <p className="bar" style={{ marginTop: "var(--s-3)" }}>
            <button type="button" onClick={() => setRows([...rows, { ...empty, name: `field${rows.length + 1}`, expression: "" }])}>
              Another field
            </button>
            <button type="button" aria-pressed={!!picking} disabled={!html && !(execution && url)} onClick={() => set({ pick: picking ? undefined : "1" })}>
              Pick from the page
            </button>
            <button type="button" aria-pressed={byExample} onClick={() => set({ examples: byExample ? undefined : "1" })}>
              From examples
            </button>
            <button type="button" disabled={!execution} onClick={() => void check()} title={execution ? undefined : "Name an execution first"}>
              On 50 pages
            </button>
            <button type="button" className="primary" disabled={!html && !(execution && url)} onClick={() => void test()}>
              Test
            </button>
          </p>
        </section>
      </div>
      {picking && (
        <section>
          <div className="section-head">
            <h2>Pick from the page</h2>
            <span className="muted small">arrows move and fold, Enter picks</span>
          </div>
          <Picker of={{ ...(html ? { html } : {}), ...(execution ? { execution } : {}), ...(url ? { url } : {}) }} onPick={add} />
        </section>
      )}
      {byExample && (
        <section>
          <div className="section-head">
            <h2>From examples</h2>
            <span className="muted small">two to five pages of the execution, with what you want from each</span>
          </div>
          <Examples key={execution} execution={execution} url={url} onUse={use} />
        </section>
      )}
      {problem && <Failure problem={problem} />}
      {tested ? <Result t={tested} /> : !checked && !byExample && <Empty title="Nothing tested yet"><p>Give a page and at least one field. What matches is marked in the page's source, with its line.</p></Empty>}
      {checked && <Sample c={checked} execution={execution} />}
    </>
  );
}

function Result({ t }: { t: RuleTested }) {
  const matches = t.matches ?? [];
  const marked = useMemo(() => mark(t.source, matches), [t.source, matches]);
  return (
    <section>
      <div className="section-head">
        <h2>{plural(matches.length, "match", "matches")}</h2>
        <span className="muted small">
          {t.from === "text" ? "only the text of this page is kept: keep_bodies keeps the source" : t.from === "body" ? "in the kept body" : "in the HTML given"}
        </span>
      </div>
      {(t.missing ?? []).length > 0 && <Notice tone="wait">Nothing found for {t.missing!.join(", ")}.</Notice>}
      <Table
        label="Matches"
        rows={matches}
        id={(m) => `${m.field}${m.range?.start}${JSON.stringify(m.value)}`}
        columns={[
          { key: "field", label: "Field", cell: (m) => <strong>{m.field}</strong> },
          { key: "value", label: "Value", grow: true, cell: (m) => <span className="clip" style={{ display: "block" }}>{plain(typeof m.value === "string" ? m.value : JSON.stringify(m.value))}</span> },
          { key: "line", label: "Line", num: true, cell: (m) => m.range?.line ?? "" },
          { key: "taken", label: "In the record", cell: (m) => (m.taken ? <span className="dot good">taken</span> : <span className="muted">not the first</span>) },
        ]}
      />
      <section>
        <div className="section-head">
          <h2>Source</h2>
          {t.source_cut && <span className="muted small">cut</span>}
        </div>
        <pre className="source" tabIndex={0}>
          {marked}
        </pre>
      </section>
    </section>
  );
}

/** The source with the matches marked. Offsets are of UTF-8 bytes, so the source is cut as bytes. */
function mark(source: string, matches: Match[]): ReactNode[] {
  const bytes = new TextEncoder().encode(source);
  const read = new TextDecoder();
  const ranges = matches
    .filter((m) => m.range && m.range.end <= bytes.length)
    .map((m) => ({ ...m.range!, field: m.field }))
    .sort((a, b) => a.start - b.start);
  const out: ReactNode[] = [];
  let at = 0;
  ranges.forEach((r, i) => {
    if (r.start < at) return;
    out.push(plain(read.decode(bytes.subarray(at, r.start)), 1e6));
    out.push(
      <mark key={i} title={r.field}>
        {plain(read.decode(bytes.subarray(r.start, r.end)), 1e6)}
      </mark>,
    );
    at = r.end;
  });
  out.push(plain(read.decode(bytes.subarray(at)), 1e6));
  return out;
}

function Sample({ c, execution }: { c: RuleChecked; execution: string }) {
  return (
    <section>
      <div className="section-head">
        <h2>On {plural(c.pages, "page")}</h2>
        {c.no_body > 0 && <span className="muted small">{count(c.no_body)} more have no body kept</span>}
      </div>
      <Table
        label="Fields over pages"
        rows={c.fields ?? []}
        id={(f) => f.rule + f.field}
        columns={[
          { key: "field", label: "Field", cell: (f) => <strong>{f.field}</strong> },
          { key: "matches", label: "Found on", num: true, cell: (f) => `${count(f.matches)} of ${count(f.for)}` },
          { key: "samples", label: "Such as", grow: true, cell: (f) => <span className="clip" style={{ display: "block" }}>{plain((f.samples ?? []).join(" · "))}</span> },
        ]}
      />
      {(c.misses ?? []).length > 0 && (
        <section>
          <div className="section-head">
            <h3>Pages without it</h3>
          </div>
          <ul>
            {c.misses!.slice(0, 20).map((m) => (
              <li key={m.url} style={{ display: "flex", gap: "var(--s-3)", minHeight: 28 }}>
                <Url url={m.url} href={at.explain(execution, m.url)} />
                <span className="muted small nowrap">{(m.fields ?? []).join(", ")}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </section>
  );
}
