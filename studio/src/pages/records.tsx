import { useState } from "react";
import type { Execution, Facets, Record_, RecordWhole } from "../api/types";
import { address } from "../lib/api";
import { count, duration, plain, plural, size } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Chips, Search, Set } from "../ui/filter";
import { useList, type ListOf } from "../ui/more";
import { Panel } from "../ui/panel";
import { Empty, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Copy, Facts, Url, When } from "../ui/text";
import { Links } from "./explain";

interface RecordList extends ListOf<Record_> {
  facets?: Facets;
}

function columns(x: Execution, fields: string[], link: (key: string) => string): Column<Record_>[] {
  return [
    {
      key: "title",
      label: "Page",
      grow: true,
      cell: (r) => (
        <div style={{ minWidth: 0, padding: "4px 0" }}>
          <a className="clip" style={{ display: "block", color: "var(--text)", fontWeight: 500 }} href={link(r.key)}>
            {plain(r.title) || "Without a title"}
          </a>
          <span className="small">
            <Url url={r.url} />
          </span>
          {r.snippet && r.snippet.length > 0 && (
            <span className="small muted" style={{ display: "block" }}>
              {r.snippet.map((p, i) => (p.hit ? <mark key={i}>{plain(p.text)}</mark> : <span key={i}>{plain(p.text)}</span>))}
            </span>
          )}
        </div>
      ),
    },
    ...fields.map(
      (f): Column<Record_> => ({ key: "field." + f, label: f, cell: (r) => <span className="clip">{plain(text(r.fields?.[f]), 80)}</span> }),
    ),
    { key: "lang", label: "Language", cell: (r) => r.lang ?? "" },
    { key: "type", label: "Type", cell: (r) => <span className="muted">{r.type}</span> },
    { key: "words", label: "Words", num: true, cell: (r) => count(r.words) },
    {
      key: "duplicate",
      label: "Copy of",
      cell: (r) => (r.duplicate_of ? <a href={at.explain(x.id, r.url)}>{r.similarity === "near" ? "nearly" : "exactly"}</a> : ""),
    },
    { key: "fetched", label: "Fetched", num: true, cell: (r) => <When at={r.fetched_at} /> },
  ];
}

function text(v: unknown): string {
  if (v === undefined || v === null) return "";
  return typeof v === "string" ? v : JSON.stringify(v);
}

/** What the crawl found: searched by words, narrowed by facets, each record with its links and copies. */
export default function Records({ x }: { x: Execution }) {
  const [params, set] = useParams();
  const path = `/executions/${enc(x.id)}/records`;
  const fields = (params.get("columns") ?? "").split(",").filter(Boolean);
  const query = {
    q: params.get("q") ?? "",
    lang: params.get("lang") ?? "",
    type: params.get("type") ?? "",
    status: params.get("status") ?? "",
    host: params.get("host") ?? "",
    duplicates: params.get("duplicates") ?? "",
    field: params.get("field") ?? "",
    columns: fields.join(","),
    facets: "true",
  };
  const list = useList<Record_>(path, query, { topic: `execution:${x.id}` });
  const facets = (list.first.data as RecordList | undefined)?.facets;
  const open = params.get("record");
  const link = (key: string) => {
    const q = new URLSearchParams(params);
    q.set("record", key);
    return `#/x/${enc(x.id)}/records?${q.toString()}`;
  };
  return (
    <section>
      <div className="bar" style={{ alignItems: "start" }}>
        <Search name="q" label="Search the records" hint='Words, "a phrase", word*, -not' />
        <Export x={x} query={query} />
      </div>
      {facets && (
        <div className="bar" style={{ gap: "var(--s-2) var(--s-4)" }}>
          <Facet name="lang" label="Language" of={facets.langs} />
          <Facet name="type" label="Type" of={facets.types} />
          <Facet name="duplicates" label="Copies" of={facets.duplicates} words={{ none: "originals", exact: "exact copies", near: "near copies" }} />
          {(facets.fields ?? []).length > 0 && (
            <details>
              <summary className="small muted">Columns</summary>
              <div className="bar" style={{ marginTop: "var(--s-2)" }}>
                {facets.fields!.slice(0, 30).map((f) => (
                  <button
                    key={f.name}
                    type="button"
                    className="chip"
                    aria-pressed={fields.includes(f.name)}
                    onClick={() => set({ columns: (fields.includes(f.name) ? fields.filter((n) => n !== f.name) : [...fields, f.name]).join(",") })}
                  >
                    {f.name}
                    <span className="n">{count(f.count)}</span>
                  </button>
                ))}
              </div>
            </details>
          )}
        </div>
      )}
      <Set names={{ host: "host", status: "status", field: "field" }} />
      <Shown of={list.first}>
        {() =>
          list.rows.length ? (
            <>
              <Table label="Records" rows={list.rows} columns={columns(x, fields, link)} id={(r) => r.key} selected={open ?? undefined} />
              {list.more}
            </>
          ) : (
            <Empty title={picks.some((k) => params.get(k)) ? "Nothing found" : "No record yet"}>
              <p>
                {query.q
                  ? "Fewer words find more; word* finds what begins so."
                  : "A record stands here within seconds after its page was fetched. noindex pages have none."}
              </p>
              {list.more}
            </Empty>
          )
        }
      </Shown>
      {open && <One x={x} id={open} close={() => set({ record: undefined })} />}
    </section>
  );
}

function Facet({ name, label, of, words = {} }: { name: string; label: string; of: Facets["langs"]; words?: Record<string, string> }) {
  const some = (of ?? []).filter((c) => c.value).slice(0, 6);
  if (some.length < 2) return null;
  return <Chips name={name} label={label} of={some.map((c) => ({ value: c.value, word: words[c.value], n: c.count }))} />;
}

/** What of a filter picks records; the rest says how they are shown. */
const picks = ["q", "lang", "type", "status", "host", "duplicates", "field"];

/** The records as a file: those that the page shows. */
function Export({ x, query }: { x: Execution; query: Record<string, string> }) {
  const picked = Object.fromEntries(picks.map((k) => [k, query[k]]));
  const some = Object.values(picked).some(Boolean);
  return (
    <details style={{ marginLeft: "auto" }}>
      <summary className="button">Export</summary>
      <div className="bar" style={{ marginTop: "var(--s-2)" }}>
        <span className="small muted">{some ? "What is found" : "All records"}</span>
        {["csv", "jsonl", "parquet"].map((format) => (
          <a key={format} className="button" href={address(`/executions/${enc(x.id)}/export`, { ...picked, format })} download>
            {format}
          </a>
        ))}
      </div>
    </details>
  );
}

function One({ x, id, close }: { x: Execution; id: string; close: () => void }) {
  const path = `/executions/${enc(x.id)}/records/${enc(id)}`;
  const whole = useGet<RecordWhole>(path);
  const r = whole.data?.record as Record<string, unknown> | undefined;
  return (
    <Panel title={plain(text(r?.["title"])) || "Record"} close={close}>
      <Shown of={whole}>{(w) => <Whole x={x} w={w} path={path} />}</Shown>
    </Panel>
  );
}

interface RenderedPart {
  at?: string;
  wall_ms?: number;
  cpu_ms?: number;
  settled?: string;
  final_url?: string;
  links_gained?: number;
  text_gained?: number;
  screenshot?: string;
}

/** The picture of a rendered page; where it is not here, as on a cluster, the file that has it is named. */
function Picture({ name, src }: { name: string; src: string }) {
  const [missing, setMissing] = useState(false);
  if (missing)
    return (
      <p className="small muted" style={{ marginTop: "var(--s-3)" }}>
        Its screenshot is not on this machine: <code>{plain(name)}</code> lies with the node that rendered the page.
      </p>
    );
  return (
    <a className="shot" href={src} download>
      <img src={src} alt="Screenshot of the rendered page" loading="lazy" onError={() => setMissing(true)} />
    </a>
  );
}

/** What a browser made of the page. */
function Rendered({ x, of, path }: { x: Execution; of: RenderedPart; path: string }) {
  return (
    <section>
      <div className="section-head">
        <h3>Rendered</h3>
        <a className="right small" href={at.rendering(x.id)}>
          All renders
        </a>
      </div>
      <Facts
        of={[
          ["Links gained", count(of.links_gained ?? 0)],
          ["Text gained", size(of.text_gained ?? 0)],
          ["Took", `${duration(of.wall_ms ?? 0)}, of a processor ${duration(of.cpu_ms ?? 0)}`],
          ["Settled by", plain(of.settled)],
          ["Scripts led to", plain(of.final_url, 2000)],
          ["When", of.at ? <When at={of.at} /> : ""],
        ]}
      />
      {of.screenshot && <Picture key={path} name={of.screenshot} src={address(path + "/screenshot")} />}
    </section>
  );
}

const told = ["url", "title", "text", "markdown", "links", "assets", "fields", "structured", "duplicate_of", "similarity", "rendered", "versions"];

const shownAssets = 20;

function Whole({ x, w, path }: { x: Execution; w: RecordWhole; path: string }) {
  const r = w.record as Record<string, unknown>;
  const url = text(r["url"]);
  const [raw, setRaw] = useState(false);
  const fields = (r["fields"] ?? {}) as Record<string, unknown>;
  const copies = w.copies ?? [];
  const assets = [...new window.Set((r["assets"] ?? []) as string[])];
  return (
    <>
      <p className="with-copy" style={{ display: "flex", marginTop: "var(--s-2)" }}>
        <Url url={url} href={at.explain(x.id, url)} />
        <Copy text={url} />
      </p>
      <p className="bar" style={{ marginTop: "var(--s-3)" }}>
        <a className="button" href={at.explain(x.id, url)}>
          Explain
        </a>
        {w.body && (
          <a className="button" href={address(path + "/body")} download>
            Its body, as a file
          </a>
        )}
        {w.original && (
          <a className="button" href={at.diff(x.id, w.key, x.id, w.original.key)}>
            Beside its original
          </a>
        )}
        <button type="button" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? "Readable" : "JSON"}
        </button>
      </p>
      {raw ? (
        <pre className="source" tabIndex={0}>
          {plain(JSON.stringify(r, null, 2).replaceAll("\u0000", ""), 200_000)}
        </pre>
      ) : (
        <>
          <section>
            <Facts
              of={Object.entries(r)
                .filter(([k]) => !told.includes(k))
                .map(([k, v]) => [k.replaceAll("_", " "), plain(k === "bytes" ? size(Number(v)) : text(v), 400)])}
            />
          </section>
          {r["rendered"] != null && <Rendered x={x} of={r["rendered"] as RenderedPart} path={path} />}
          {Object.keys(fields).length > 0 && (
            <section>
              <div className="section-head">
                <h3>Fields</h3>
                <a className="right small" href={`#/rules?execution=${enc(x.id)}&url=${enc(url)}`}>
                  Which rule took them
                </a>
              </div>
              <Facts of={Object.entries(fields).map(([k, v]) => [k, plain(text(v), 2000)])} />
            </section>
          )}
          {(copies.length > 0 || w.original) && (
            <section>
              <div className="section-head">
                <h3>{w.original ? "Copy of" : plural(copies.length, "copy", "copies")}</h3>
                <a className="right small" href={at.clusters(x.id, w.original?.key ?? w.key)}>
                  The whole group
                </a>
              </div>
              <ul>
                {(w.original ? [w.original] : copies.slice(0, 10)).map((m) => (
                  <li key={m.key} style={{ display: "flex", gap: "var(--s-3)", minHeight: 28 }}>
                    <Url url={m.url} href={at.diff(x.id, w.key, x.id, m.key)} />
                    <span className="muted small nowrap">{m.similarity === "near" ? `${m.distance} of 64 bits differ` : m.similarity}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          {(w.versions ?? []).length > 0 && (
            <section>
              <div className="section-head">
                <h3>{plural(w.versions!.length, "earlier version", "earlier versions")}</h3>
              </div>
              <ul>
                {w.versions!.map((v) => (
                  <li key={v.visit} style={{ display: "flex", gap: "var(--s-3)", minHeight: 28 }}>
                    <a href={at.versions(x.id, w.key, v.visit)}>
                      <When at={v.fetched_at} />
                    </a>
                    <span className="clip">{plain(v.title) || "Without a title"}</span>
                    <span className="muted small nowrap">{plural(v.words, "word", "words")}</span>
                  </li>
                ))}
              </ul>
            </section>
          )}
          <section>
            <div className="section-head">
              <h3>Text</h3>
              {w.cut?.includes("text") && <span className="muted small">cut here; the export has all of it</span>}
            </div>
            <pre className="source" tabIndex={0} style={{ fontFamily: "var(--font)", fontSize: "var(--t-13)" }}>
              {plain(text(r["text"]), 20_000) || "Its main text is empty."}
            </pre>
          </section>
          <section>
            <div className="section-head">
              <h3>Links</h3>
            </div>
            <Links x={x} links={w.links ?? []} />
          </section>
          {assets.length > 0 && (
            <section>
              <div className="section-head">
                <h3>Assets</h3>
                {assets.length > shownAssets && <span className="muted small">the first of {count(assets.length)}; the JSON has all</span>}
              </div>
              <ul>
                {assets.slice(0, shownAssets).map((a) => (
                  <li key={a} style={{ display: "flex", minHeight: 28 }}>
                    <Url url={a} href={at.explain(x.id, a)} />
                  </li>
                ))}
              </ul>
            </section>
          )}
        </>
      )}
    </>
  );
}
