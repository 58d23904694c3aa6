import { useState, type ReactNode } from "react";
import type { Chain, Execution, Explanation, LinkState } from "../api/types";
import { count, plain, plural, size } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { Empty, Shown, StateDot } from "../ui/state";
import { Facts, Url, When } from "../ui/text";

/** One field: a URL; below it its story, in the order in which the crawler decides. */
export default function Explain({ x }: { x: Execution }) {
  const [params, set] = useParams();
  const url = params.get("url") ?? "";
  const [text, setText] = useState(url);
  const [shown, setShown] = useState(url);
  if (shown !== url) {
    setShown(url);
    setText(url);
  }
  const path = `/executions/${enc(x.id)}`;
  const story = useGet<Explanation>(url ? path + "/explain" : null, { url }, { topic: `execution:${x.id}` });
  return (
    <section>
      <form
        className="bar"
        onSubmit={(e) => {
          e.preventDefault();
          set({ url: text.trim() }, true);
        }}
      >
        <input
          type="search"
          data-search=""
          aria-label="Address to explain"
          placeholder="Any URL: was it fetched, and why or why not?"
          style={{ flex: 1, maxWidth: 720 }}
          value={text}
          onChange={(e) => setText(e.target.value)}
          spellCheck={false}
        />
        <button type="submit" className="primary">
          Explain
        </button>
      </form>
      {url ? (
        <Shown of={story}>{(e) => <Story x={x} e={e} />}</Shown>
      ) : (
        <Empty title="Every decision can be explained">
          <p>
            Type an address, or follow any URL of the other pages to here. You see its canonical form, the rule of the scope that let it in or left
            it out, the line of robots.txt, each attempt, what it is a copy of, and what its host waits for.
          </p>
        </Empty>
      )}
    </section>
  );
}

interface Step {
  name: string;
  short: ReactNode;
  tone: "good" | "wait" | "bad" | "none";
  decides?: boolean;
  body?: ReactNode;
}

function Story({ x, e }: { x: Execution; e: Explanation }) {
  const steps = stepsOf(x, e);
  return (
    <>
      <h2 style={{ overflowWrap: "anywhere", fontWeight: 500 }}>
        <span className="hidden">The story of </span>
        {plain(e.url, 2000)}
      </h2>
      <p className="answer">{e.answer}</p>
      <ol className="story">
        {steps.map((s) => (
          <li key={s.name} className={`${s.tone} ${s.decides ? "decides" : ""}`}>
            <span className="step" aria-hidden="true" />
            <details open={s.decides || undefined}>
              <summary>
                <span className="name">{s.name}</span>
                <span className="muted">{s.short}</span>
              </summary>
              {s.body && <div className="inside">{s.body}</div>}
            </details>
          </li>
        ))}
      </ol>
      <Found x={x} url={e.url} />
    </>
  );
}

/** Which step decided: the first that says no, else the last that says anything. */
function stepsOf(x: Execution, e: Explanation): Step[] {
  const attempts = e.attempts ?? [];
  const made = attempts.filter((a) => a.verdict !== "excluded");
  const l = e.ledger;
  const steps: Step[] = [
    {
      name: "Canonical form",
      tone: "good",
      short: (e.rewritten ?? []).length ? `rewritten by ${e.rewritten!.join(", ")}` : "as it was given",
      body: <Facts of={[["Given", plain(e.given, 2000)], ["Known as", plain(e.url, 2000)], ["Met as", e.kind]]} />,
    },
    {
      name: "Rules of the job",
      tone: e.rules.allowed ? "good" : "bad",
      short: e.rules.allowed ? "let it in" : `leave it out: ${e.rules.reason ?? ""}`,
      body: (
        <Facts
          of={[
            ["Now", e.rules.text as string],
            ["When it was met", l.state === "excluded" ? (l.text ?? "") : ""],
            ["Rule", l.rule ? <code>{l.rule}</code> : ""],
            ["Revision", l.revision ? String(l.revision) : ""],
          ]}
        />
      ),
    },
    {
      name: "robots.txt",
      tone: e.robots.state === "unknown" ? "none" : e.robots.allowed ? "good" : "bad",
      short: robotsWord(e),
      body: (
        <Facts
          of={[
            ["Of", e.robots.origin],
            ["Rule", e.robots.rule ? <code>{e.robots.rule}</code> : "none matches"],
            ["Line", e.robots.line ? String(e.robots.line) : ""],
            ["Answered with", e.robots.status ? String(e.robots.status) : ""],
            ["Crawl-delay", e.robots.crawl_delay],
            ["Asked for", e.robots.fetched_at ? <When at={e.robots.fetched_at} /> : ""],
            ["Good until", e.robots.expires ? <When at={e.robots.expires} /> : ""],
          ]}
        />
      ),
    },
    {
      name: "State",
      tone: l.state === "excluded" ? "bad" : l.state === "open" ? "wait" : l.verdict === "done" ? "good" : l.state === "unknown" ? "none" : "bad",
      short: stateWord(l),
      body: <Facts of={[["Since", l.at ? <When at={l.at} /> : ""], ["Why", l.text ?? l.reason], ["Attempts", l.attempts ? count(l.attempts) : ""]]} />,
    },
    {
      name: "Attempts",
      tone: made.length === 0 ? "none" : made[made.length - 1]!.verdict === "done" ? "good" : "bad",
      short: made.length ? plural(made.length, "request") : "none was made",
      body: <Attempts x={x} e={e} />,
    },
    {
      name: "Content",
      tone: e.content ? (e.content.duplicate_of ? "wait" : "good") : "none",
      short: e.content ? (e.content.duplicate_of ? `${e.content.similarity === "near" ? "nearly " : ""}a copy of another page` : plain(e.content.title) || "stored") : "no record",
      body: e.content && <Stored x={x} e={e} />,
    },
    ...rendering(x, e),
    {
      name: "Host",
      tone: "none",
      short: e.host.known ? `${count(e.host.requests ?? 0)} requests, ${e.host.delay} between two` : "never asked",
      body: (
        <>
          <Facts
            of={[
              ["Host", <a href={at.host(x.id, e.host.key)}>{e.host.key}</a>],
              ["Address", e.host.address],
              ["Last contact", e.host.last_contact ? <When at={e.host.last_contact} /> : ""],
              ["Not before", e.host.not_before ? <When at={e.host.not_before} /> : ""],
              ["Back-off", e.host.backoff],
              ["Failures in a row", e.host.failures ? count(e.host.failures) : ""],
            ]}
          />
        </>
      ),
    },
  ];
  decide(steps, e);
  return steps;
}

/** What became of the page in a browser; nothing where that was never looked at. */
function rendering(x: Execution, e: Explanation): Step[] {
  const r = e.rendered;
  if (!r) return [];
  return [
    {
      name: "Render",
      tone: r.verdict === "failed" ? "bad" : r.verdict ? "good" : "none",
      short: plain(r.text, 400),
      body: (
        <Facts
          of={[
            ["Links gained", r.verdict ? count(r.links_gained) : ""],
            ["Text gained", r.verdict ? size(r.text_gained) : ""],
            ["Reason", r.reason],
            ["Detail", plain(r.detail)],
            ["When", r.time ? <When at={r.time} /> : ""],
            ["Templates", <a href={at.rendering(x.id)}>{plural((r.templates ?? []).length, "template fits", "templates fit")} its address</a>],
          ]}
        />
      ),
    },
  ];
}

function decide(steps: Step[], e: Explanation) {
  const named = (n: string) => steps.find((s) => s.name === n)!;
  const l = e.ledger;
  let step = named("State");
  if (l.state === "excluded") step = l.reason?.startsWith("robots") ? named("robots.txt") : named("Rules of the job");
  else if (l.state === "unknown") step = e.rules.allowed ? (e.robots.allowed ? step : named("robots.txt")) : named("Rules of the job");
  else if (l.state === "open") step = l.where === "queued" ? named("Host") : step;
  else if (l.verdict === "blocked") step = named("robots.txt");
  else if (l.verdict === "done") step = e.content ? named("Content") : named("Attempts");
  else step = named("Attempts");
  step.decides = true;
}

function robotsWord(e: Explanation): string {
  const r = e.robots;
  switch (r.state) {
    case "ignored":
      return "not asked: the job ignores it";
    case "unknown":
      return "not read yet";
    case "none":
      return "there is none: all is allowed";
    case "unavailable":
      return "could not be had: nothing may be fetched";
  }
  return (r.allowed ? "allows it" : "forbids it") + (r.line ? ` (line ${r.line})` : "");
}

function stateWord(l: Explanation["ledger"]): string {
  switch (l.state) {
    case "unknown":
      return "never met";
    case "open":
      return l.where === "in-flight" ? "being fetched" : "waits in its host's queue";
    case "excluded":
      return `left out: ${l.reason ?? ""}`;
  }
  return `${l.verdict ?? "done"}${l.status ? `, ${l.status}` : ""}${l.reason ? `: ${l.reason}` : ""}`;
}

function Attempts({ x, e }: { x: Execution; e: Explanation }) {
  const list = e.attempts ?? [];
  if (list.length === 0) return <p className="muted">crawl.log has no line about it.</p>;
  return (
    <table aria-label="Attempts">
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Outcome</th>
          <th scope="col">Why</th>
          <th scope="col">From</th>
        </tr>
      </thead>
      <tbody>
        {list.map((a, i) => (
          <tr key={i}>
            <td className="nowrap">
              <When at={a.time} form="time" />
            </td>
            <td className="nowrap">
              <StateDot state={a.verdict} word={`${a.verdict}${a.status ? ` ${a.status}` : ""}`} />
            </td>
            <td style={{ overflowWrap: "anywhere" }}>{plain([a.reason, a.detail].filter(Boolean).join(": "))}</td>
            <td className="grow">{a.referrer && <Url url={a.referrer} href={at.explain(x.id, a.referrer)} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Stored({ x, e }: { x: Execution; e: Explanation }) {
  const c = e.content!;
  return (
    <>
      <Facts
        of={[
          ["Title", plain(c.title)],
          ["Type", c.content_type],
          ["Size", size(c.bytes)],
          ["Fetched", <When at={c.fetched_at} />],
          ["Links", count(c.links)],
          ["Fields", c.fields ? count(c.fields) : ""],
          ["Copy of", c.duplicate_of ? <Url url={c.duplicate_of} href={at.explain(x.id, c.duplicate_of)} /> : ""],
          ["Cut", c.truncated],
          ["Rules", c.older_rules ? `of revision ${c.revision}: not those of now` : ""],
        ]}
      />
      <p className="bar" style={{ marginTop: "var(--s-3)" }}>
        <a className="button" href={at.record(x.id, e.url)}>
          The whole record
        </a>
        <a className="button" href={at.dryRun({ execution: x.id, url: e.url })}>
          Dry run
        </a>
        {c.duplicate_of && (
          <a className="button" href={at.diff(x.id, e.url, x.id, c.duplicate_of)}>
            Both texts side by side
          </a>
        )}
      </p>
    </>
  );
}

/** How it was found, back to a seed, and what its page links to. */
function Found({ x, url }: { x: Execution; url: string }) {
  const chain = useGet<Chain>(`/executions/${enc(x.id)}/graph`, { around: url });
  if (!chain.data) return null;
  const hops = chain.data.hops ?? [];
  return (
    <div className="cols">
      <section>
        <div className="section-head">
          <h2>How it was found</h2>
        </div>
        {hops.length ? (
          <ol style={{ display: "grid", gap: "var(--s-1)" }}>
            {[...hops].reverse().map((t, i) => (
              <li key={t.url + i} style={{ display: "flex", gap: "var(--s-2)", minWidth: 0 }}>
                <span className="muted num" style={{ minWidth: "2ch" }}>
                  {i}
                </span>
                <Url url={t.url} href={at.explain(x.id, t.url)} />
              </li>
            ))}
          </ol>
        ) : (
          <p className="muted">No page that links to it is known.</p>
        )}
        {chain.data.note && <p className="small muted">{chain.data.note}</p>}
      </section>
      <section>
        <div className="section-head">
          <h2>What it links to</h2>
          <span className="muted small">{count(chain.data.links?.length ?? 0)}</span>
        </div>
        <Links x={x} links={chain.data.links ?? []} />
      </section>
    </div>
  );
}

export function Links({ x, links }: { x: Execution; links: LinkState[] }) {
  const [all, setAll] = useState(false);
  if (links.length === 0) return <p className="muted">Nothing, as far as is stored.</p>;
  return (
    <>
      <ul style={{ fontSize: "var(--t-13)" }}>
        {links.slice(0, all ? 200 : 15).map((l, i) => (
          <li key={i} style={{ display: "grid", gridTemplateColumns: "minmax(0,1fr) auto", gap: "var(--s-3)", minHeight: 28, alignItems: "center" }}>
            <Url url={l.url} href={at.explain(x.id, l.url)} title={plain(l.text) || undefined} />
            <StateDot state={l.state ?? ""} word={l.reason ?? l.state ?? "queued"} />
          </li>
        ))}
      </ul>
      {links.length > 15 && (
        <button type="button" className="plain small" onClick={() => setAll(!all)}>
          {all ? "Fewer" : `All ${count(links.length)}`}
        </button>
      )}
    </>
  );
}
