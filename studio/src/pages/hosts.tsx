import type { Execution, Host, HostStory } from "../api/types";
import { call } from "../lib/api";
import { useNow } from "../lib/clock";
import { ago, count, duration, plural, size } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { at, enc, useParams } from "../lib/route";
import { HostLine } from "../pictures/hostline";
import { Act } from "../ui/act";
import { Figure, Figures } from "../ui/figure";
import { Chips, Search } from "../ui/filter";
import { useList } from "../ui/more";
import { Panel } from "../ui/panel";
import { Empty, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { Facts, When } from "../ui/text";

/** Why a host waits, in a word or two. */
export const whyWords: Record<string, string> = {
  delay: "the job's delay",
  "crawl-delay": "its Crawl-delay",
  "retry-after": "it asked for rest",
  backoff: "failures: back-off",
  robots: "robots.txt first",
  address: "shares an address",
  held: "held by a person",
  window: "no free place",
  parallelism: "job's parallelism",
  idle: "nothing queued",
  ready: "its turn",
};

function Why({ h }: { h: Host }) {
  const now = useNow();
  if (!h.why && h.in_flight > 0) return <span className="dot live">being asked</span>;
  if (!h.why) return <span className="muted">–</span>;
  return (
    <span title={h.text} className="nowrap">
      {whyWords[h.why] ?? h.why}
      {h.until && Date.parse(h.until) > now && <span className="muted"> · {ago(h.until, now)}</span>}
    </span>
  );
}

const columns = (id: string): Column<Host>[] => [
  { key: "key", label: "Host", grow: true, sort: true, cell: (h) => <HostLink id={id} host={h.key} /> },
  { key: "why", label: "Waits for", cell: (h) => <Why h={h} /> },
  { key: "queued", label: "Queued", num: true, sort: true, cell: (h) => count(h.queued) },
  { key: "in_flight", label: "In flight", num: true, sort: true, cell: (h) => (h.in_flight ? count(h.in_flight) : "") },
  { key: "pages", label: "Pages", num: true, sort: true, cell: (h) => count(h.pages) },
  { key: "failed", label: "Failed", num: true, sort: true, cell: (h) => (h.failed ? <span className="word-bad">{count(h.failed)}</span> : "") },
  { key: "bytes", label: "Size", num: true, sort: true, cell: (h) => size(h.bytes) },
  { key: "p50", label: "Median", num: true, sort: true, cell: (h) => (h.p50_ms ? duration(h.p50_ms) : "") },
  { key: "p95", label: "p95", num: true, sort: true, cell: (h) => (h.p95_ms ? duration(h.p95_ms) : "") },
];

function HostLink({ id, host }: { id: string; host: string }) {
  const [params] = useParams();
  const q = new URLSearchParams(params);
  q.set("host", host);
  return (
    <a className="clip" style={{ display: "block", color: "var(--text)" }} href={at.hosts(id, q.toString())}>
      {host}
    </a>
  );
}

/** The frontier by hosts: what waits, for what, and until when. */
export default function Hosts({ x }: { x: Execution }) {
  const [params, set] = useParams();
  const path = `/executions/${enc(x.id)}/hosts`;
  const topic = `execution:${x.id}`;
  const query = { q: params.get("q") ?? "", why: params.get("why") ?? "", sort: params.get("sort") ?? "-queued" };
  const list = useList<Host>(path, query, { topic });
  const open = params.get("host");
  return (
    <section>
      <div className="bar">
        <Search name="q" label="Search hosts" hint="Part of a host's name" />
        <Chips
          name="why"
          label="What they wait for"
          of={["delay", "crawl-delay", "retry-after", "backoff", "robots", "address", "held"].map((v) => ({ value: v, word: whyWords[v] }))}
        />
      </div>
      <Shown of={list.first}>
        {() =>
          list.rows.length ? (
            <>
              <Table label="Hosts" rows={list.rows} columns={columns(x.id)} id={(h) => h.key} selected={open ?? undefined} sort="-queued" />
              {list.more}
            </>
          ) : (
            <Empty title={query.q || query.why ? "No such host" : "No host yet"}>
              <p>
                {query.q || query.why
                  ? "Take the filter back to see all hosts."
                  : "Hosts stand here as soon as the first URL is queued, with what each waits for."}
              </p>
            </Empty>
          )
        }
      </Shown>
      {open && <One x={x} host={open} close={() => set({ host: undefined })} />}
    </section>
  );
}

function One({ x, host, close }: { x: Execution; host: string; close: () => void }) {
  const path = `/executions/${enc(x.id)}/hosts/${enc(host)}`;
  const story = useGet<HostStory>(path, {}, { every: 2000 });
  const hold = (verb: string) => async () => {
    await call("POST", `${path}:${verb}`, { body: {} });
    renew(`/executions/${enc(x.id)}/hosts`);
  };
  return (
    <Panel title={host} close={close}>
      <Shown of={story}>
        {(h) => (
          <>
            <p style={{ marginTop: "var(--s-3)" }}>{h.text || (h.queued ? "" : "Nothing of it is queued.")}</p>
            <Figures label="Figures of this host">
              <Figure label="Requests" value={count(h.requests)} />
              <Figure label="Pages" value={count(h.pages)} href={at.urls(x.id, { host, state: "done" })} />
              <Figure label="Queued" value={count(h.queued)} href={at.urls(x.id, { host, state: "scheduled" })} />
              <Figure label="Failed" value={count(h.failed)} href={at.urls(x.id, { host, state: "failed" })} />
              <Figure label="Left out" value={count(h.excluded)} href={at.urls(x.id, { host, state: "excluded" })} />
              <Figure label="Median · p95" value={h.p50_ms ? `${duration(h.p50_ms)} · ${duration(h.p95_ms)}` : "–"} width={14} />
            </Figures>
            <section>
              <div className="section-head">
                <h3>Its last requests</h3>
              </div>
              <HostLine line={h.line ?? []} explain={(url) => at.explain(x.id, url)} />
            </section>
            <section>
              <Facts
                of={[
                  ["Next request", h.next ? <When at={h.next} /> : ""],
                  ["Address", h.address],
                  ["robots.txt", h.robots],
                  ["Back-off", h.backoff_s ? duration(h.backoff_s * 1000) : ""],
                  ["Last request", h.last ? <When at={h.last} /> : ""],
                  ["Deepest URL", `${plural(h.depth, "hop")} from a seed`],
                ]}
              />
            </section>
            <section className="bar">
              {h.held ? (
                <Act role="operator" kind="primary" run={hold("release")}>
                  Release
                </Act>
              ) : (
                <Act role="operator" run={hold("hold")}>
                  Hold this host
                </Act>
              )}
              <a className="button" href={at.urls(x.id, { host })}>
                All its URLs
              </a>
            </section>
          </>
        )}
      </Shown>
    </Panel>
  );
}
