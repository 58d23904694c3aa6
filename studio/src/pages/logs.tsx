import { useState } from "react";
import type { LogLine } from "../api/types";
import { plain } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Chips, Choice, Moment, Search, Set } from "../ui/filter";
import { useList } from "../ui/more";
import { Panel } from "../ui/panel";
import { Head } from "../ui/shell";
import { Empty, Shown, StateDot } from "../ui/state";
import { Copy, Facts, Url, When } from "../ui/text";

/** The classes of HTTP statuses, and those that people look for. */
const STATUSES = [
  { value: "", word: "any status" },
  { value: "2", word: "2xx: answered" },
  { value: "3", word: "3xx: elsewhere" },
  { value: "4", word: "4xx: refused" },
  { value: "404", word: "404 not found" },
  { value: "403", word: "403 forbidden" },
  { value: "429", word: "429 too many requests" },
  { value: "5", word: "5xx: the server failed" },
  { value: "503", word: "503 unavailable" },
];

/** What the list is narrowed by, as it stands in the address. */
const FILTERS = ["source", "level", "execution", "host", "verdict", "reason", "status", "since", "until", "q"];

/** Lines of the server's log and, of an execution, of its crawl.log: one list. */
export default function Logs() {
  const [params, set] = useParams();
  const [follow, setFollow] = useState(true);
  const query = Object.fromEntries(FILTERS.map((k) => [k, params.get(k) ?? ""]));
  const list = useList<LogLine>("/logs", query, follow ? { every: 2000 } : {}, 100);
  const open = params.get("line");
  const link = (id: string) => {
    const q = new URLSearchParams(params);
    q.set("line", id);
    return `#/logs?${q.toString()}`;
  };
  return (
    <>
      <Head title="Logs">
        <button type="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
          {follow ? "Stop following" : "Follow"}
        </button>
      </Head>
      <section>
        <div className="bar">
          <Search name="q" label="Search the lines" hint="Part of a message or URL" />
          <Chips
            name="level"
            label="Level"
            of={[
              { value: "WARN", word: "warnings" },
              { value: "ERROR", word: "errors" },
            ]}
          />
          {params.get("execution") && (
            <Chips
              name="source"
              label="Source"
              of={[
                { value: "crawl", word: "URLs" },
                { value: "server", word: "the program" },
              ]}
            />
          )}
        </div>
        <div className="bar">
          {params.get("execution") && (
            <>
              <Search name="reason" label="Reason" hint="Reason, as timeout or scope" />
              <Choice name="status" label="Status" of={STATUSES} />
            </>
          )}
          <Moment name="since" label="Since" />
          <Moment name="until" label="Until" />
        </div>
        <Set names={{ execution: "execution", host: "host", verdict: "verdict" }} />
        <Shown of={list.first}>
          {() =>
            list.rows.length ? (
              <>
                <ul className="tail">
                  {list.rows.map((l) => (
                    <li key={l.id}>
                      <a className="muted small" href={link(l.id)}>
                        <When at={l.at} form="time" />
                      </a>
                      <span style={{ minWidth: 0 }}>
                        {l.url ? <Url url={l.url} href={link(l.id)} /> : <Said l={l} />}
                      </span>
                      <span className="clip">
                        <Word l={l} />
                      </span>
                    </li>
                  ))}
                </ul>
                {list.more}
              </>
            ) : (
              <Empty title="No line">
                <p>
                  {Object.values(query).some(Boolean)
                    ? "The filter leaves none. Take a part of it back."
                    : "What the program says stands here. Choose an execution to see every attempt and every URL that it left out."}
                </p>
                {list.more}
              </Empty>
            )
          }
        </Shown>
      </section>
      {open && <One id={open} close={() => set({ line: undefined })} />}
    </>
  );
}

/** A line of the program, with the execution that it speaks of. */
function Said({ l }: { l: LogLine }) {
  return (
    <span className="said" style={{ overflowWrap: "anywhere" }}>
      {plain(l.message)} {l.execution && <a href={at.execution(l.execution)}>{l.execution}</a>}
    </span>
  );
}

function Word({ l }: { l: LogLine }) {
  if (l.verdict) return <StateDot state={l.verdict} word={`${l.verdict}${l.status ? " " + l.status : ""}`} />;
  const tone = l.level === "ERROR" ? "word-bad" : l.level === "WARN" ? "word-wait" : "muted";
  return <span className={tone + " small"}>{l.level.toLowerCase()}</span>;
}

function One({ id, close }: { id: string; close: () => void }) {
  const line = useGet<LogLine>(`/logs/${enc(id)}`);
  return (
    <Panel title="Line" close={close}>
      <Shown of={line}>
        {(l) => (
          <section className="with-copy">
            <Facts
              of={[
                ["Time", <When at={l.at} form="time" />],
                ["Message", plain(l.message, 5000)],
                ["URL", l.url && l.execution ? <Url url={l.url} href={at.explain(l.execution, l.url)} /> : plain(l.url, 2000)],
                ["Execution", l.execution ? <a href={at.execution(l.execution)}>{l.execution}</a> : ""],
                ["Level", l.level],
                ...Object.entries((l.fields ?? {}) as Record<string, unknown>).map(([k, v]): [string, string] => [k, plain(typeof v === "string" ? v : JSON.stringify(v), 5000)]),
              ]}
            />
            <Copy text={location.href} what="the link to this line" />
          </section>
        )}
      </Shown>
    </Panel>
  );
}
