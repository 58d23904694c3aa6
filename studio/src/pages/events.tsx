import type { Event, Execution, Letter, Revision, Step } from "../api/types";
import { call } from "../lib/api";
import { plain, plural } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { enc } from "../lib/route";
import { Act } from "../ui/act";
import type { ListOf } from "../ui/more";
import { Empty, Notice, Shown, StateDot } from "../ui/state";
import { When } from "../ui/text";

/** What happened to the execution as a whole, how it was finished, what was changed, what could not be handled. */
export default function Events({ x }: { x: Execution }) {
  const path = `/executions/${enc(x.id)}`;
  const topic = `execution:${x.id}`;
  const events = useGet<ListOf<Event>>(path + "/events", { limit: 200, last: true }, { topic });
  const steps = useGet<ListOf<Step>>(path + "/steps", {}, { topic });
  const revisions = useGet<ListOf<Revision>>(path + "/revisions", {}, { topic });
  const letters = useGet<ListOf<Letter> & { away?: string }>(path + "/dead-letters", {}, { every: 10_000 });
  const dead = letters.data?.items ?? [];
  const given = letters.data?.total ?? dead.length; // the list has the first of them
  return (
    <>
      {letters.data?.away && (
        <Notice tone="wait">
          <strong>The broker of {letters.data.away} does not answer.</strong> Messages there that could not be handled are not shown.
        </Notice>
      )}
      {dead.length > 0 && (
        <Notice
          tone="bad"
          action={
            <Act
              role="operator"
              run={async () => {
                await call("POST", path + "/dead-letters:replay", { body: {} });
                renew(path);
              }}
            >
              Deliver {given === 1 ? "it" : "them"} again
            </Act>
          }
        >
          <strong>{plural(given, "message")} could not be handled.</strong> The first: {plain(dead[0]!.reason)}
        </Notice>
      )}
      {x.audit && (
        <Notice tone={x.audit.ok ? "good" : "bad"}>
          <strong>{x.audit.ok ? "The audit found no fault." : "The audit found faults."}</strong> <When at={x.audit.at} />
          {x.audit.faults?.slice(0, 20).map((f, i) => <div key={i}>{plain(f)}</div>)}
        </Notice>
      )}
      <div className="cols">
        <section>
          <div className="section-head">
            <h2>Events</h2>
          </div>
          <Shown of={events}>
            {(l) =>
              l.items.length ? (
                <ul className="tail events">
                  {[...l.items].reverse().map((e) => (
                    <li key={e.id}>
                      <span className="muted small">
                        <When at={e.at} form="time" />
                      </span>
                      <span>
                        {e.type.replace(/^execution\./, "").replaceAll("_", " ")} <span className="muted">{detail(e.data)}</span>
                      </span>
                      <span className="muted clip">{e.actor}</span>
                    </li>
                  ))}
                </ul>
              ) : (
                <Empty title="No event yet" />
              )
            }
          </Shown>
        </section>
        <div>
          <section>
            <div className="section-head">
              <h2>How it was finished</h2>
            </div>
            <Shown of={steps} lines={3}>
              {(l) =>
                l.items.length ? (
                  <ul className="tail">
                    {l.items.map((s) => (
                      <li key={s.name}>
                        <span className="muted small">
                          <When at={s.at} form="time" />
                        </span>
                        <span>{s.name.replaceAll("_", " ")}</span>
                        <StateDot state={s.state} />
                      </li>
                    ))}
                  </ul>
                ) : (
                  <p className="muted">Figures and audit are made when it ends.</p>
                )
              }
            </Shown>
          </section>
          <section>
            <div className="section-head">
              <h2>Settings over time</h2>
            </div>
            <Shown of={revisions} lines={2}>
              {(l) => (
                <ol style={{ display: "grid", gap: "var(--s-3)" }}>
                  {[...l.items].reverse().map((r) => (
                    <li key={r.epoch}>
                      <strong>Revision {r.epoch}</strong>{" "}
                      <span className="muted small">
                        <When at={r.at} />
                      </span>
                      {(r.changes ?? []).map((c) => (
                        <div key={c.key} className="small" style={{ overflowWrap: "anywhere" }}>
                          <code>{c.key}</code> <del>{plain(c.from)}</del> <ins>{plain(c.to)}</ins>
                        </div>
                      ))}
                      {!r.changes?.length && <div className="small muted">as it began</div>}
                    </li>
                  ))}
                </ol>
              )}
            </Shown>
          </section>
        </div>
      </div>
    </>
  );
}

function detail(data: unknown): string {
  if (data === undefined || data === null || typeof data !== "object") return data ? plain(String(data)) : "";
  return Object.entries(data as Record<string, unknown>)
    .filter(([, v]) => v !== "" && v !== null && typeof v !== "object")
    .map(([k, v]) => `${k.replaceAll("_", " ")}: ${plain(String(v), 120)}`)
    .join(", ");
}
