// The form of a node: what every node has, and its plug-in's settings by their JSON Schema.
import { useEffect, useId, useState, type ReactNode } from "react";
import { parse, stringify } from "yaml";
import type { Fault, Plugin } from "../api/types";
import { plain } from "../lib/format";
import { put, type Part, type Point } from "./document";
import { about, isEnd, schemaOf, servedBy, type Schema } from "./kinds";

interface Props {
  part: Part;
  plugin: Plugin | undefined;
  source: string;
  faults: Fault[];
  change: (source: string, kind: string) => void;
  rename: (id: string) => void; // it is known by its name elsewhere
  moveTo: (at: Point) => void;
}

/** Faults of one key, without that of its parents. */
const faultsOf = (faults: Fault[], part: Part, key: string) =>
  faults.filter((f) => {
    const own = `pipeline.nodes[${part.index}].${key}`;
    return f.key === own || f.key?.startsWith(own + ".") || f.key?.startsWith(own + "[");
  });

const messageOf = (f: Fault) => plain(f.key && f.message.startsWith(f.key) ? f.message.slice(f.key.length).replace(/^[: ]+/, "") : f.message);

function Field({ label, hint, faults, children }: { label: ReactNode; hint?: string; faults: Fault[]; children: (a: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode }) {
  const id = useId();
  const said = faults.length > 0 || hint ? id + "-said" : undefined;
  return (
    <div className="c-field">
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-describedby": said, "aria-invalid": faults.length ? true : undefined })}
      {said && (
        <div id={said} className="small">
          {faults.map((f, i) => (
            <div key={i} className="word-bad">
              {messageOf(f)}
            </div>
          ))}
          {hint && <span className="muted">{hint}</span>}
        </div>
      )}
    </div>
  );
}

export function Form({ part, plugin, source, faults, change, rename, moveTo }: Props) {
  const schema = schemaOf(plugin);
  const set = (path: string[], value: unknown) => change(put(source, part.index, path, value), path.join("."));
  const own = (key: string) => faultsOf(faults, part, key);
  const fits = servedBy(plugin);
  const needs = (key: string) => Number(schema.required?.includes(key) ?? false);
  const known = Object.keys(schema.properties ?? {}).sort((a, b) => needs(b) - needs(a)); // what is needed comes first
  const others = Object.keys(part.with).filter((k) => !known.includes(k));
  const anyOther = schema.additionalProperties !== false && known.length === 0;
  return (
    <div className="c-form">
      {own("use").map((f, i) => (
        <p key={i} className="word-bad">
          {messageOf(f)}
        </p>
      ))}
      {faultsOf(faults, part, "with")
        .filter((f) => f.key === `pipeline.nodes[${part.index}].with`)
        .map((f, i) => (
          <p key={i} className="word-bad">
            {messageOf(f)}
          </p>
        ))}
      {known.map((key) => (
        <Setting key={key} name={key} schema={schema.properties![key]!} needed={schema.required?.includes(key) ?? false} value={part.with[key]} faults={own(`with.${key}`)} set={(v) => set(["with", key], v)} />
      ))}
      {others.map((key) => (
        <Other key={key} name={key} value={part.with[key]} faults={own(`with.${key}`)} set={(v) => set(["with", key], v)} />
      ))}
      {anyOther && others.length === 0 && <Other name="settings" value={Object.keys(part.with).length ? part.with : undefined} faults={own("with")} set={(v) => set(["with"], v)} />}
      <hr />
      <Field label="Runs only when" hint={`An expression over the ${about[part.at]?.type ?? "message"}; empty: always`} faults={own("when")}>
        {(a) => <textarea {...a} rows={2} value={part.when} spellCheck={false} onChange={(e) => set(["when"], e.target.value || undefined)} />}
      </Field>
      {!isEnd(part.at) && <div className="c-pair">
        <Field label="If it fails" faults={own("on_error")}>
          {(a) => (
            <select {...a} value={part.onError} onChange={(e) => set(["on_error"], e.target.value || undefined)}>
              <option value="">go on without it</option>
              <option value="retry">try the page again</option>
              <option value="drop">leave the page out</option>
              <option value="stop">pause the crawl</option>
              {part.onError === "pass" && <option value="pass">pass: go on without it</option>}
            </select>
          )}
        </Field>
        <Field label="Time of a call" faults={own("timeout")}>
          {(a) => <input {...a} value={part.timeout} placeholder="50ms" onChange={(e) => set(["timeout"], e.target.value || undefined)} />}
        </Field>
      </div>}
      <div className="c-pair">
        <Field label="Name" faults={own("id")}>
          {(a) => <input {...a} value={part.id} maxLength={32} spellCheck={false} onChange={(e) => rename(e.target.value)} />}
        </Field>
        <Field label="Point" faults={own("at")}>
          {(a) => (
            <select {...a} value={part.at} onChange={(e) => moveTo(e.target.value as Point)}>
              {(fits.includes(part.at) ? fits : [part.at, ...fits]).map((p) => (
                <option key={p} value={p}>
                  {p}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      {part.digest && (
        <p className="muted small" style={{ overflowWrap: "anywhere" }}>
          Pinned to <code>{plain(part.digest)}</code>
        </p>
      )}
    </div>
  );
}

interface SettingProps {
  name: string;
  schema: Schema;
  needed: boolean;
  value: unknown;
  faults: Fault[];
  set: (v: unknown) => void;
}

const isText = (v: unknown) => v === undefined || typeof v === "string";
const isTexts = (v: unknown): v is string[] | undefined => v === undefined || (Array.isArray(v) && v.every((e) => typeof e === "string"));
const isMapping = (v: unknown): v is Record<string, string> | undefined =>
  v === undefined || (!!v && typeof v === "object" && !Array.isArray(v) && Object.values(v).every((e) => typeof e === "string"));

/** A setting by its schema; what no field fits is edited as YAML. */
function Setting(p: SettingProps) {
  const { schema: s, value, set, name } = p;
  const hint = s.description && plain(s.description);
  const label = (
    <>
      {s.title ? plain(s.title) : name}
      {p.needed && <span className="muted"> needed</span>}
    </>
  );
  const field = (control: Parameters<typeof Field>[0]["children"]) => (
    <Field label={label} hint={hint} faults={p.faults}>
      {control}
    </Field>
  );
  if (s.enum && (value === undefined || s.enum.includes(value))) {
    return field((a) => (
      <select {...a} value={value === undefined ? "" : String(s.enum!.indexOf(value))} onChange={(e) => set(e.target.value === "" ? undefined : s.enum![Number(e.target.value)])}>
        <option value="">{s.default === undefined ? "as it is by default" : `default: ${String(s.default)}`}</option>
        {s.enum!.map((v, i) => (
          <option key={i} value={i}>
            {String(v)}
          </option>
        ))}
      </select>
    ));
  }
  if (s.type === "string" && isText(value)) {
    const code = /expression|regular|pointer/i.test(hint ?? "");
    return field((a) =>
      code && !/pointer/i.test(hint ?? "") ? (
        <textarea {...a} rows={2} value={(value as string) ?? ""} spellCheck={false} onChange={(e) => set(e.target.value || undefined)} />
      ) : (
        <input {...a} className={code ? "mono" : undefined} value={(value as string) ?? ""} onChange={(e) => set(e.target.value || undefined)} />
      ),
    );
  }
  if ((s.type === "number" || s.type === "integer") && (value === undefined || typeof value === "number")) {
    return field((a) => (
      <input {...a} type="number" min={s.minimum} max={s.maximum} step={s.type === "integer" ? 1 : "any"} value={(value as number) ?? ""} onChange={(e) => set(Number.isNaN(e.target.valueAsNumber) ? undefined : e.target.valueAsNumber)} />
    ));
  }
  if (s.type === "boolean" && (value === undefined || typeof value === "boolean")) {
    return (
      <div className="c-field">
        <label>
          <input type="checkbox" checked={value === true} onChange={(e) => set(e.target.checked || undefined)} /> {label}
        </label>
        {hint && <span className="muted small">{hint}</span>}
      </div>
    );
  }
  if (s.type === "array" && s.items?.enum && isTexts(value)) {
    const chosen = value ?? [];
    return (
      <fieldset className="c-field">
        <legend>{label}</legend>
        <div className="c-checks">
          {s.items.enum.map((v) => {
            const t = String(v);
            return (
              <label key={t}>
                <input
                  type="checkbox"
                  checked={chosen.includes(t)}
                  onChange={(e) => {
                    const now = e.target.checked ? [...chosen, t] : chosen.filter((c) => c !== t);
                    set(now.length ? now : undefined);
                  }}
                />
                {t}
              </label>
            );
          })}
        </div>
        {hint && <span className="muted small">{hint}</span>}
      </fieldset>
    );
  }
  if (s.type === "array" && s.items?.type === "string" && isTexts(value)) return <Lines {...p} value={value} label={label} hint={hint} />;
  const more = s.additionalProperties;
  if (s.type === "object" && !s.properties && typeof more === "object" && more.type === "string" && isMapping(value)) return <Mapping {...p} value={value} label={label} hint={hint} />;
  return <Other {...p} hint={hint} />;
}

/** Keeps what one types while the document has what it means. */
function useDraft(value: string, meaning: (text: string) => unknown, current: unknown): [string, (t: string) => void] {
  const [draft, setDraft] = useState(value);
  useEffect(() => {
    let same = false;
    try {
      same = JSON.stringify(meaning(draft)) === JSON.stringify(current);
    } catch {
      same = true; // it is being typed
    }
    if (!same) setDraft(value);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [value]);
  return [draft, setDraft];
}

const linesOf = (t: string) => {
  const l = t.split("\n").map((s) => s.trim()).filter(Boolean);
  return l.length ? l : undefined;
};

function Lines({ value, label, hint, faults, set }: SettingProps & { value: string[] | undefined; label: ReactNode; hint?: string }) {
  const [draft, setDraft] = useDraft((value ?? []).join("\n"), linesOf, value);
  return (
    <Field label={label} hint={[hint, "one a line"].filter(Boolean).join("; ")} faults={faults}>
      {(a) => (
        <textarea
          {...a}
          rows={Math.min(8, Math.max(2, draft.split("\n").length))}
          value={draft}
          spellCheck={false}
          onChange={(e) => {
            setDraft(e.target.value);
            set(linesOf(e.target.value));
          }}
        />
      )}
    </Field>
  );
}

const mapOf = (rows: [string, string][]) => {
  const there = rows.filter(([k]) => k.trim());
  return there.length ? Object.fromEntries(there.map(([k, v]) => [k.trim(), v])) : undefined;
};

function Mapping({ name, value, label, hint, faults, set }: SettingProps & { value: Record<string, string> | undefined; label: ReactNode; hint?: string }) {
  const [rows, setRows] = useState<[string, string][]>(Object.entries(value ?? {}));
  const now = JSON.stringify(value);
  useEffect(() => {
    if (JSON.stringify(mapOf(rows)) !== now) setRows(Object.entries(value ?? {}));
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [now]);
  const take = (next: [string, string][]) => {
    setRows(next);
    set(mapOf(next));
  };
  const shown: [string, string][] = rows.length ? rows : [["", ""]];
  return (
    <fieldset className="c-field">
      <legend>{label}</legend>
      {shown.map(([k, v], i) => (
        <div key={i} className="c-row">
          <input aria-label={`${name}, name ${i + 1}`} value={k} placeholder="name" spellCheck={false} onChange={(e) => take(shown.map((r, j) => (j === i ? [e.target.value, r[1]] : r)))} />
          <input aria-label={`${name}, value ${i + 1}`} className="mono" value={v} placeholder="value" spellCheck={false} onChange={(e) => take(shown.map((r, j) => (j === i ? [r[0], e.target.value] : r)))} />
          <button type="button" className="plain" aria-label={`Remove ${k || "the row"} from ${name}`} onClick={() => take(shown.filter((_, j) => j !== i))}>
            ×
          </button>
        </div>
      ))}
      <button type="button" className="plain" style={{ justifySelf: "start" }} onClick={() => setRows([...shown, ["", ""]])}>
        + Another
      </button>
      {faults.map((f, i) => (
        <div key={i} className="word-bad small">
          {messageOf(f)}
        </div>
      ))}
      {hint && <span className="muted small">{hint}</span>}
    </fieldset>
  );
}

const yamlOf = (v: unknown) => (v === undefined ? "" : stringify(v, { lineWidth: 0 }).trimEnd());

/** What no field fits: its YAML. */
function Other({ name, value, faults, set, hint }: { name: string; value: unknown; faults: Fault[]; set: (v: unknown) => void; hint?: string }) {
  const [draft, setDraft] = useDraft(yamlOf(value), (t) => (t.trim() ? (parse(t) as unknown) : undefined), value);
  const [wrong, setWrong] = useState("");
  const told = wrong ? [{ message: wrong } as Fault] : faults;
  return (
    <Field label={name} hint={[hint, "as YAML"].filter(Boolean).join("; ")} faults={told}>
      {(a) => (
        <textarea
          {...a}
          rows={Math.min(12, Math.max(2, draft.split("\n").length))}
          value={draft}
          spellCheck={false}
          onChange={(e) => {
            setDraft(e.target.value);
            try {
              set(e.target.value.trim() ? parse(e.target.value) : undefined);
              setWrong("");
            } catch (err) {
              setWrong(String(err).split("\n")[0]!.replace(/^YAML\w+: /, ""));
            }
          }}
        />
      )}
    </Field>
  );
}
