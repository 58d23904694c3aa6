import { useRef, useState } from "react";
import type { Plugin, PluginList } from "../api/types";
import { call, Problem } from "../lib/api";
import { plain } from "../lib/format";
import { renew, useGet } from "../lib/query";
import { Act } from "../ui/act";
import { useMe } from "../ui/me";
import { Head } from "../ui/shell";
import { Empty, Notice, Shown } from "../ui/state";
import { Table, type Column } from "../ui/table";
import { When } from "../ui/text";

const trusts: Record<Plugin["trust"]["level"], string> = {
  builtin: "comes with the program",
  signed: "signed",
  approved: "approved",
  unsigned: "nobody vouches for it",
  disabled: "disabled",
};

const roomy = { display: "block", padding: "0.4rem 0" };
const file = { border: 0, padding: "0.3rem 0", background: "none", maxWidth: "100%" };

const pathOf = (p: Plugin) => `/plugins/${p.name.split("/").map(encodeURIComponent).join("/")}/${encodeURIComponent(p.version)}`;

/** What pipelines can use, who vouches for it, and a form that adds one. */
export default function Plugins() {
  const { may } = useMe();
  const list = useGet<PluginList>("/plugins", {}, { every: 30_000 });
  const columns: Column<Plugin>[] = [
    {
      key: "use",
      label: "Plug-in",
      grow: true,
      cell: (p) => (
        <span style={roomy}>
          <strong>{plain(p.use)}</strong>
          <span className="small muted" style={{ display: "block", overflowWrap: "anywhere" }}>
            {plain(p.summary)}
          </span>
        </span>
      ),
    },
    { key: "points", label: "At", cell: (p) => <span style={{ display: "block", maxWidth: "16rem", minWidth: "9rem" }}>{[...new Set(p.serves.map((s) => s.point))].join(", ")}</span> },
    { key: "tier", label: "Kind", cell: (p) => ({ builtin: "built in", wasm: "module", process: "program" })[p.tier] },
    { key: "trust", label: "Trust", cell: (p) => <Trust of={p} /> },
    { key: "pushed", label: "Pushed", cell: (p) => (p.pushed ? <When at={p.pushed} /> : "–") },
    { key: "acts", label: "Actions", cell: (p) => (p.tier === "builtin" ? null : <Acts of={p} />) },
  ];
  return (
    <>
      <Head where={<a href="#/w">Workflows</a>} title="Plug-ins">
        <a href="#/compose">Compose a crawl</a>
      </Head>
      <Shown of={list}>
        {(l) => {
          const own = l.items.filter((p) => p.tier !== "builtin");
          return (
            <>
              {l.faults?.map((f) => (
                <Notice key={f} tone="bad">
                  {plain(f)}
                </Notice>
              ))}
              <section>
                <div className="section-head">
                  <h2>Pushed here</h2>
                </div>
                {own.length ? (
                  <Table label="Plug-ins that were pushed" rows={own} columns={columns} id={(p) => p.use} />
                ) : (
                  <Empty title="None yet">
                    <p>
                      <code>whirlpool plugin init OWNER/NAME</code> writes one that works, and <code>whirlpool plugin build</code> makes the package that is pushed.
                    </p>
                  </Empty>
                )}
              </section>
              {may("operator") && <Push />}
              <section>
                <div className="section-head">
                  <h2>Of the program</h2>
                </div>
                <Table
                  label="Plug-ins that come with the program"
                  rows={l.items.filter((p) => p.tier === "builtin")}
                  columns={columns.filter((c) => ["use", "points"].includes(c.key))}
                  id={(p) => p.use}
                />
              </section>
            </>
          );
        }}
      </Shown>
    </>
  );
}

function Trust({ of: p }: { of: Plugin }) {
  const t = p.trust;
  return (
    <span style={{ ...roomy, minWidth: "11rem" }}>
      <span className={t.usable ? undefined : "word-bad"}>{trusts[t.level]}</span>
      {t.by && t.level !== "builtin" && <span className="muted"> by {plain(t.by)}</span>}
      <span className="small muted" style={{ display: "block", overflowWrap: "anywhere" }}>
        {plain([t.why, !t.usable && p.tier === "process" && t.level === "approved" ? t.wants : "", p.digest?.slice(0, 19) + "…"].filter(Boolean).join(" · "))}
      </span>
    </span>
  );
}

function Acts({ of: p }: { of: Plugin }) {
  const [why, setWhy] = useState("");
  const say = async (verb: string, body?: unknown) => {
    await call("POST", `${pathOf(p)}:${verb}`, { body });
    renew("/plugins");
  };
  return (
    <span className="bar" style={{ margin: 0, flexWrap: "nowrap" }}>
      {p.trust.level !== "approved" && (
        <Act
          role="admin"
          sure={
            <p>
              Crawls may use {plain(p.use)} from then on: what it does to their pages is yours to know.
              {p.tier === "process" && " It is a program, and can do what Whirlpool can do."} Its content is <code className="small">{p.digest}</code>
            </p>
          }
          verb="Approve"
          run={() => say("approve")}
        >
          Approve
        </Act>
      )}
      {p.trust.level !== "disabled" && (
        <Act
          role="admin"
          kind="bad"
          sure={
            <>
              <p>Crawls that use {plain(p.use)} call it no more within ten seconds.</p>
              <label className="field">
                <span>Why, for those who see it fail</span>
                <input value={why} maxLength={500} onChange={(e) => setWhy(e.target.value)} />
              </label>
            </>
          }
          verb="Disable"
          run={() => say("disable", { why })}
        >
          Disable
        </Act>
      )}
    </span>
  );
}

/** The bytes of a file in base64. */
async function base64(file: File): Promise<string> {
  return new Promise((done, fail) => {
    const r = new FileReader();
    r.onload = () => done(String(r.result).replace(/^[^,]*,/, ""));
    r.onerror = () => fail(new Problem(0, `${file.name} cannot be read`, "Choose it again.", ""));
    r.readAsDataURL(file);
  });
}

function Push() {
  const pack = useRef<HTMLInputElement>(null);
  const signature = useRef<HTMLInputElement>(null);
  const [chosen, setChosen] = useState(false);
  const [source, setSource] = useState("");
  const [pushed, setPushed] = useState<Plugin | null>(null);
  const push = async () => {
    const tar = pack.current?.files?.[0];
    if (!tar) return;
    setPushed(null);
    const signed = await signature.current?.files?.[0]?.text();
    setPushed(await call<Plugin>("POST", "/plugins", { body: { package: await base64(tar), signature: signed } }));
    if (pack.current) pack.current.value = "";
    if (signature.current) signature.current.value = "";
    setChosen(false);
    renew("/plugins");
  };
  const take = async () => {
    setPushed(null);
    setPushed(await call<Plugin>("POST", "/plugins", { body: { source: source.trim() } }));
    setSource("");
    renew("/plugins");
  };
  return (
    <section>
      <div className="section-head">
        <h2>Push one</h2>
      </div>
      <form className="bar" onSubmit={(e) => e.preventDefault()}>
        <label className="field">
          <span>Package (.tar)</span>
          <input ref={pack} style={file} type="file" accept=".tar" onChange={(e) => setChosen(!!e.target.files?.length)} />
        </label>
        <label className="field">
          <span>Signature (.minisig), if there is one</span>
          <input ref={signature} style={file} type="file" accept=".minisig" />
        </label>
        <Act role="operator" kind="primary" run={push} disabled={!chosen} why="Choose the package that whirlpool plugin build made">
          Push
        </Act>
      </form>
      <form className="bar" onSubmit={(e) => e.preventDefault()}>
        <label className="field" style={{ flex: "1 1 24rem", maxWidth: "44rem" }}>
          <span>Or where a registry of containers has it</span>
          <input
            value={source}
            maxLength={1000}
            placeholder="oci://registry.example.com/plugins/shop/price:1.2.0"
            spellCheck={false}
            onChange={(e) => setSource(e.target.value)}
          />
        </label>
        <Act role="operator" run={take} disabled={!source.trim()} why="Give the address of a plug-in, with its version">
          Take
        </Act>
      </form>
      {pushed && (
        <Notice tone={pushed.trust.usable ? "good" : "wait"}>
          {plain(pushed.use)} is here{pushed.trust.usable ? ", and crawls may use it." : ". Crawls may use it once an administrator approves it."}
        </Notice>
      )}
    </section>
  );
}
