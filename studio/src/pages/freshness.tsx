import type { CappedHost, DuePage, Execution, FreshnessDetail, FreshnessFigures, RateClass } from "../api/types";
import { count, duration, plain, plural, share } from "../lib/format";
import { useGet } from "../lib/query";
import { at, enc } from "../lib/route";
import { Chart } from "../pictures/chart";
import { Figure, Figures } from "../ui/figure";
import { Empty, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

const day = 86_400_000;

/** How fresh the pages of a continuous execution are: by how often they change, at which hosts, and what is visited next. */
export default function Freshness({ x }: { x: Execution }) {
  const path = `/executions/${enc(x.id)}/freshness`;
  const figures = useGet<FreshnessFigures>(path, {}, { topic: `execution:${x.id}`, every: 5000 });
  return (
    <Shown of={figures}>
      {(f) =>
        !f.continuous ? (
          <Empty title="Each page is visited once">
            <p>
              A crawl visits its pages again where the job says so: set <code>mode</code> to <code>continuous</code>, and{" "}
              <code>revisit.budget</code> to the visits a day that you can spare.
            </p>
            <a className="button" href={`#/x/${enc(x.id)}/edit`}>
              Settings
            </a>
          </Empty>
        ) : f.figures && f.figures.kept + f.figures.gone > 0 ? (
          <Pages x={x} f={f.figures} due={f.due} />
        ) : (
          <Empty title="No page was visited yet">The first figures come with the first pages.</Empty>
        )
      }
    </Shown>
  );
}

function Pages({ x, f, due }: { x: Execution; f: FreshnessDetail; due: DuePage[] }) {
  return (
    <>
      <Figures label="How fresh the pages are">
        <Figure label="Expected fresh" value={share(f.fresh, 1)} diff="by weight" />
        <Figure label="Pages kept" value={count(f.kept)} diff={`${count(f.gone)} gone`} />
        <Figure label="Visits in a day" value={f.last_day ? count(f.last_day) : "–"} diff={`of ${count(f.budget)}`} />
        <Figure label="Found a change" value={f.visits ? share(f.changed, f.visits) : "–"} diff={`of ${plural(f.visits, "visit")}`} />
        <Figure label="Due now" value={count(f.due_now)} diff={f.due_now ? `for ${duration(millis(f.late))}` : `${count(f.under_way)} under way`} />
      </Figures>
      <Curve f={f} />
      <section>
        <div className="section-head">
          <h2>Pages by how often they change</h2>
          <span className="muted small">as it is believed after what their visits found</span>
        </div>
        <Table label="Pages by how often they change" rows={f.rates.filter((r) => r.pages > 0)} columns={rates(f.kept)} id={(r) => String(r.from_days)} />
      </section>
      <section>
        <div className="section-head">
          <h2>Due next</h2>
          <span className="muted small">
            each page within {days(millis(f.longest) / day)}; {count(f.wanted)} visits a day are wanted{f.withdrawn ? `; ${count(f.withdrawn)} pages may not be kept` : ""}
          </span>
        </div>
        {due.length ? (
          <Table label="Pages that are visited next" rows={due} columns={next(x)} id={(p) => p.url} />
        ) : (
          <p className="muted">No page is due: their visits are queued or made now.</p>
        )}
      </section>
      <section>
        <div className="section-head">
          <h2>Hosts at their cap</h2>
          <span className="muted small">their politeness allows less than their pages want</span>
        </div>
        {f.hosts.length ? (
          <Table label="Hosts at their cap" rows={f.hosts} columns={hosts(x)} id={(h) => h.host} />
        ) : (
          <p className="muted">{f.capped_hosts ? `${plural(f.capped_hosts, "host")}, whose names are known once they are asked again.` : "None: each host allows what its pages want."}</p>
        )}
      </section>
    </>
  );
}

function Curve({ f }: { f: FreshnessDetail }) {
  if (f.curve.length < 2) return null;
  const last = f.curve[f.curve.length - 1]!;
  return (
    <section style={{ maxWidth: 640 }}>
      <Chart
        title="Freshness"
        unit="% of the pages, by weight, since the server began"
        at={f.curve.map((p) => Date.parse(p.at) / 1000)}
        lines={[{ name: "fresh", colour: "var(--accent)", values: f.curve.map((p) => 100 * p.fresh) }]}
        summary={`Expected freshness over time: ${share(f.curve[0]!.fresh, 1)} at first, ${share(last.fresh, 1)} now.`}
      />
    </section>
  );
}

function rates(kept: number): Column<RateClass>[] {
  return [
    { key: "every", label: "One change in", cell: (r) => <span className="nowrap">{span(r)}</span> },
    { key: "pages", label: "Pages", num: true, cell: (r) => count(r.pages) },
    { key: "part", label: "Of all", grow: true, cell: (r) => <Bar part={r.pages} whole={kept} /> },
    { key: "fresh", label: "Expected fresh", num: true, cell: (r) => share(r.fresh, 1) },
  ];
}

/** A part as a bar; the words beside it say the same. */
function Bar({ part, whole }: { part: number; whole: number }) {
  return (
    <span className="shares" style={{ display: "flex", gap: "var(--s-2)", alignItems: "center", minWidth: 160 }}>
      <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true" style={{ flex: "1 1 80px" }}>
        <rect className="whole" width="100" height="8" />
        <rect className="part" width={whole > 0 ? Math.max(0.5, Math.min(100, (100 * part) / whole)) : 0} height="8" />
      </svg>
      <span className="num" style={{ width: "5ch", textAlign: "right" }}>
        {share(part, whole)}
      </span>
    </span>
  );
}

function next(x: Execution): Column<DuePage>[] {
  return [
    {
      key: "url",
      label: "Page",
      grow: true,
      cell: (p) => (
        <div style={{ minWidth: 0, padding: "4px 0" }}>
          <a className="clip mono" style={{ display: "block" }} href={at.explain(x.id, p.url)} title={plain(p.url)}>
            {plain(p.url)}
          </a>
          <span className="small muted" style={{ display: "block" }}>
            {plain(p.why)}
          </span>
        </div>
      ),
    },
    { key: "due", label: "Due", cell: (p) => (p.due ? <When at={p.due} /> : "now") },
    { key: "every", label: "Changes every", num: true, cell: (p) => days(p.changes_every_days) },
    { key: "visits", label: "Changed", num: true, cell: (p) => `${count(p.changes)} of ${count(Math.max(p.visits - 1, 0))}` },
  ];
}

function hosts(x: Execution): Column<CappedHost>[] {
  return [
    { key: "host", label: "Host", grow: true, cell: (h) => <a href={at.host(x.id, h.host)}>{plain(h.host)}</a> },
    { key: "pages", label: "Pages", num: true, cell: (h) => count(h.pages) },
    { key: "allows", label: "Allows a day", num: true, cell: (h) => amount(h.allows_per_day) },
    { key: "wanted", label: "Wanted a day", num: true, cell: (h) => amount(h.wanted_per_day) },
  ];
}

const amount = (n: number) => (n < 10 ? n.toFixed(1) : count(n));

function span(r: RateClass): string {
  if (!r.from_days) return `${days(r.to_days)} or less`;
  return r.to_days ? `${days(r.from_days)} to ${days(r.to_days)}` : `more than ${days(r.from_days)}`;
}

function days(n: number): string {
  return n < 1 ? `${Number((24 * n).toPrecision(2))} h` : `${n < 10 ? Number(n.toFixed(1)) : count(n)} d`;
}

/** A duration as the API writes it ("2h30m0s") in milliseconds. */
function millis(text: string): number {
  const of: Record<string, number> = { h: 3_600_000, m: 60_000, s: 1000, ms: 1, "µs": 0.001, ns: 0.000001, d: day };
  let sum = 0;
  for (const [, n, unit] of text.matchAll(/([\d.]+)(ms|µs|ns|[dhms])/g)) sum += Number(n) * (of[unit!] ?? 0);
  return sum;
}
