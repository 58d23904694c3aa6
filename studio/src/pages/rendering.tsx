import { useState } from "react";
import type { Execution, RenderFigures, RenderTemplate } from "../api/types";
import { call, Problem } from "../lib/api";
import { count, duration, plain, plural, share, size } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { at, enc } from "../lib/route";
import { Shares } from "../pictures/shares";
import { Figure, Figures } from "../ui/figure";
import { useMe } from "../ui/me";
import { Empty, Failure, Shown, type Tone } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

const states: Record<string, [Tone | "off", string]> = {
  keep: ["good", "pays"],
  sampling: ["wait", "being tried"],
  stop: ["off", "given up"],
};

const switches = [
  ["always", "always"],
  ["never", "never"],
  ["auto", "as the test says"],
] as const;

/** What renders in a browser brought, by templates of pages, and what people decided about them. */
export default function Rendering({ x }: { x: Execution }) {
  const path = `/executions/${enc(x.id)}/rendering`;
  const figures = useGet<RenderFigures>(path, {}, { topic: `execution:${x.id}`, every: 5000 });
  return (
    <Shown of={figures}>
      {(f) =>
        f.templates.length ? (
          <Templates x={x} f={f} path={path} />
        ) : (
          <Empty title="Nothing was rendered">
            <p>
              Pages that only scripts make go through a browser where the job says so: set <code>render.mode</code> to <code>auto</code> or{" "}
              <code>always</code>.
            </p>
            <a className="button" href={`#/x/${enc(x.id)}/edit`}>
              Settings
            </a>
          </Empty>
        )
      }
    </Shown>
  );
}

function Templates({ x, f, path }: { x: Execution; f: RenderFigures; path: string }) {
  const [problem, setProblem] = useState<Problem | null>(null);
  const { me, may } = useMe();
  const hosts = [...new Set(f.templates.map((t) => t.host))];
  const turn = async (t: RenderTemplate, to: string) => {
    setProblem(null);
    try {
      await call("POST", path + ":switch", { body: { host: t.host, template: t.template, switch: to } });
      renew(path);
    } catch (e) {
      setProblem(e instanceof Problem ? e : new Problem(0, String(e), "", ""));
    }
  };
  return (
    <>
      <Figures label="What renders brought">
        <Figure label="Pages rendered" value={count(f.rendered)} diff={share(f.rendered, f.pages) + " of all"} />
        <Figure label="With gain" value={share(f.gained, f.renders)} diff={f.failed ? `${count(f.failed)} failed` : "none failed"} />
        <Figure label="Links found only so" value={count(f.links)} diff={share(f.links, f.claimed) + " of all"} />
        <Figure label="Text gained" value={size(f.text)} />
        <Figure label="Processor time" value={duration(f.cpu_ms)} diff={f.links ? `${(f.cpu_ms / 1000 / f.links).toFixed(2)} s a link` : "no link"} />
      </Figures>
      <section>
        <Shares
          label={`${share(f.rendered, f.pages)} of the pages were rendered, and ${share(f.links, f.claimed)} of the URLs were found only by renders.`}
          of={[
            { label: "Pages", part: f.rendered, whole: f.pages, word: "rendered" },
            { label: "URLs", part: f.links, whole: f.claimed, word: "found only by renders" },
          ]}
        />
      </section>
      {problem && <Failure problem={problem} />}
      {me && !may("user") && <p className="muted sub">Your role is {me.role}: to switch a template takes user.</p>}
      {hosts.map((host) => (
        <section key={host}>
          <div className="section-head">
            <h2>
              <a href={at.host(x.id, host)}>{plain(host)}</a>
            </h2>
          </div>
          <Table
            label={`Templates of ${host}`}
            rows={f.templates.filter((t) => t.host === host)}
            columns={columns(x, turn, !me || may("user"))}
            id={(t) => t.template}
          />
        </section>
      ))}
      {!!f.more && <p className="more">{plural(f.more, "template")} with fewer renders are not listed.</p>}
    </>
  );
}

function columns(x: Execution, turn: (t: RenderTemplate, to: string) => Promise<void>, may: boolean): Column<RenderTemplate>[] {
  return [
    {
      key: "shape",
      label: "Template",
      grow: true,
      cell: (t) => (
        <div style={{ minWidth: 0, padding: "4px 0" }}>
          <span className="clip mono" style={{ display: "block" }} title={plain(t.shape)}>
            {t.example ? <a href={at.explain(x.id, t.example)}>{plain(t.shape) || t.template}</a> : plain(t.shape) || t.template}
          </span>
          <span className="small muted" style={{ display: "block" }}>
            {plain(t.sentence)}
          </span>
        </div>
      ),
    },
    { key: "state", label: "State", cell: (t) => <State t={t} /> },
    { key: "renders", label: "Renders", num: true, cell: (t) => count(t.renders) },
    { key: "gain", label: "Gain", num: true, cell: (t) => (t.renders ? share(t.gained, t.renders) : "–") },
    { key: "links", label: "Links", num: true, cell: (t) => count(t.links) },
    { key: "cpu", label: "CPU", num: true, cell: (t) => duration(t.cpu_ms) },
    { key: "per", label: "s a link", num: true, cell: (t) => (t.links ? (t.seconds_per_link ?? 0).toFixed(2) : "–") },
    { key: "switch", label: "Render", cell: (t) => <Switch t={t} turn={turn} may={may} /> },
  ];
}

function State({ t }: { t: RenderTemplate }) {
  const [tone, word] = t.switch === "always" ? ["good", "always"] : t.switch === "never" ? ["off", "never"] : (states[t.state] ?? ["none", t.state]);
  return (
    <span className={`dot ${tone}`}>
      {word}
      {t.since && !t.switch && (
        <span className="muted small">
          <When at={t.since} />
        </span>
      )}
    </span>
  );
}

/** What people decide about a template: three buttons, of which one is pressed. */
function Switch({ t, turn, may }: { t: RenderTemplate; turn: (t: RenderTemplate, to: string) => Promise<void>; may: boolean }) {
  const [busy, setBusy] = useState("");
  const now = t.switch || "auto";
  return (
    <div role="group" aria-label={`Render ${plain(t.shape, 80)} of ${plain(t.host, 80)}`} className="switch">
      {switches.map(([to, word]) => (
        <button
          key={to}
          type="button"
          className="chip"
          aria-pressed={now === to}
          aria-disabled={!may || !!busy || undefined}
          title={may ? undefined : "This takes the role user"}
          onClick={() => {
            if (!may || busy || now === to) return;
            setBusy(to);
            void turn(t, to).then(() => setBusy(""));
          }}
        >
          {word}
        </button>
      ))}
    </div>
  );
}
