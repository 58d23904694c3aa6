import { useState } from "react";
import { stringify } from "yaml";
import type { Induced, InducedField } from "../api/types";
import { call } from "../lib/api";
import { count, plain, plural, share } from "../lib/format";
import { Act } from "./act";
import { Notice } from "./state";
import { Table } from "./table";

interface Example {
  url: string;
  values: Record<string, string>; // by field, one a line
}

const most = 5;

/** A rule out of two to five pages of an execution and the values that are wanted from each. */
export function Examples({ execution, url, onUse }: { execution: string; url: string; onUse: (r: Induced) => void }) {
  const [names, setNames] = useState("title");
  const [examples, setExamples] = useState<Example[]>([
    { url, values: {} },
    { url: "", values: {} },
  ]);
  const [got, setGot] = useState<Induced | null>(null);
  const fields = [...new Set(names.split(/[,\s]+/).filter(Boolean))].slice(0, 20);
  const change = (i: number, c: Partial<Example>) => setExamples(examples.map((e, j) => (j === i ? { ...e, ...c } : e)));
  const lines = (text: string | undefined) => (text ?? "").split("\n").map((v) => v.trim()).filter(Boolean);
  const ready = examples.filter((e) => e.url.trim() && fields.some((f) => lines(e.values[f]).length > 0));

  async function induce() {
    setGot(null);
    const body = {
      execution,
      examples: ready.map((e) => ({
        url: e.url.trim(),
        fields: fields.filter((f) => lines(e.values[f]).length > 0).map((f) => ({ name: f, values: lines(e.values[f]) })),
      })),
    };
    setGot(await call<Induced>("POST", "/rule-inductions", { body }));
  }

  return (
    <>
      <div className="examples">
        <label className="field">
          <span>Fields that the rule shall take, parted by commas</span>
          <input value={names} spellCheck={false} onChange={(e) => setNames(e.target.value)} />
        </label>
        <div className="example-pages">
          {examples.map((x, i) => (
            <fieldset key={i}>
              <legend>Page {i + 1}</legend>
              <label className="field">
                <span>Address</span>
                <input type="url" value={x.url} placeholder="https://…" onChange={(e) => change(i, { url: e.target.value })} />
              </label>
              {fields.map((f) => (
                <label key={f} className="field">
                  <span>{f}</span>
                  <textarea
                    rows={Math.min(Math.max((x.values[f] ?? "").split("\n").length, 1), 8)}
                    value={x.values[f] ?? ""}
                    spellCheck={false}
                    onChange={(e) => change(i, { values: { ...x.values, [f]: e.target.value } })}
                  />
                </label>
              ))}
            </fieldset>
          ))}
        </div>
        <p className="muted small">Copy the values as the page shows them. Several lines are a list, in the order of the page; leave out what a page does not have.</p>
        <div className="bar">
          <button type="button" disabled={examples.length >= most} onClick={() => setExamples([...examples, { url: "", values: {} }])}>
            Another page
          </button>
          <button type="button" disabled={examples.length <= 2} onClick={() => setExamples(examples.slice(0, -1))}>
            One page less
          </button>
          <Act role="viewer" kind="primary" disabled={!execution || ready.length < 2} why={execution ? "Give two pages with values" : "Name an execution first"} run={induce}>
            Make a rule
          </Act>
        </div>
      </div>
      <div aria-live="polite">{got && <Answer r={got} pages={ready.length} onUse={() => onUse(got)} />}</div>
    </>
  );
}

/** What a rule is as a part of a job file, without what is empty. */
function text(r: Induced): string {
  const short = (o: object) => Object.fromEntries(Object.entries(o).filter(([, v]) => v !== "" && v !== false && v !== null && !(Array.isArray(v) && v.length === 0)));
  return stringify({ rules: [{ ...short(r.rule), fields: (r.rule.fields ?? []).map(short) }] }, { lineWidth: 0 });
}

function Answer({ r, pages, onUse }: { r: Induced; pages: number; onUse: () => void }) {
  const fields = r.fields ?? [];
  const found = fields.filter((f) => f.found);
  return (
    <section>
      <div className="section-head">
        <h3>{found.length === fields.length ? plural(found.length, "field") : `${count(found.length)} of ${plural(fields.length, "field")}`}</h3>
        <span className="muted small">{r.also > 0 ? `compared on ${plural(r.also, "further page")} of the execution` : "no further page like these has a body kept"}</span>
      </div>
      {fields.filter((f) => !f.found).map((f) => (
        <Notice key={f.rule.name} tone="wait">
          {missing(f)}
        </Notice>
      ))}
      <Table
        label="Fields of the rule"
        rows={found}
        id={(f) => f.rule.name}
        columns={[
          { key: "field", label: "Field", cell: (f) => <strong>{plain(f.rule.name)}</strong> },
          { key: "selector", label: "Selector", cell: (f) => <Selector f={f} /> },
          { key: "values", label: `On ${plural(pages, "page")}`, grow: true, cell: (f) => <Values f={f} /> },
          { key: "also", label: "Further", num: true, cell: (f) => (r.also > 0 ? `${count(f.on_also)} of ${count(r.also)}` : "") },
        ]}
      />
      {found.length > 0 && (
        <>
          <pre className="source induced-rule" tabIndex={0} aria-label="The rule for a job file">
            {plain(text(r), 20_000)}
          </pre>
          <p className="bar">
            <button type="button" onClick={onUse}>
              Use its fields
            </button>
          </p>
        </>
      )}
    </section>
  );
}

function missing(f: InducedField): string {
  const name = plain(f.rule.name);
  const lack = (f.lacks ?? [])[0];
  if (!lack) return `${name}: each page has its values, but no selector gives them on all of them.`;
  const near = (lack.nearest ?? []).map((n) => `“${plain(n, 80)}”`).join(", ");
  return `${name}: ${plain(lack.page)} has no “${plain(lack.value, 80)}”.${near ? ` Most like it: ${near}.` : ""}`;
}

function Selector({ f }: { f: InducedField }) {
  const more = [f.rule.attr && `its ${f.rule.attr}`, f.rule.regex && `the part ${f.rule.regex}`, f.rule.type && `as a ${f.rule.type}`, f.rule.list && "all of them"].filter(Boolean).join(", ");
  return (
    <span className="induced">
      <code>{plain(f.rule.css, 1000)}</code>
      {more && <span className="small">{plain(more, 400)}</span>}
      <span className="small muted">
        by {plain(f.why)}
        {f.agree > 0 && `; ${share(f.agree, 1)} of the others agree`}
      </span>
      {(f.notes ?? []).map((n) => (
        <span key={n} className="small muted">
          {plain(n)}
        </span>
      ))}
    </span>
  );
}

function Values({ f }: { f: InducedField }) {
  return (
    <span className="induced">
      {(f.values ?? []).map((v, i) => (
        <span key={i} className="clip">
          {(v.values ?? []).length > 0 ? plain((v.values ?? []).join(" · ")) : <span className="muted">nothing</span>}
        </span>
      ))}
    </span>
  );
}
