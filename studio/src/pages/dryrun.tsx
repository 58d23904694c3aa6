import type { DryRunResult } from "../api/types";
import { plain } from "../lib/format";
import { hand } from "../lib/hand";
import { at, go, useParams } from "../lib/route";
import { DryRun, type Definition } from "../ui/dryrun";
import { Head } from "../ui/shell";

/** The page of a dry run is where fields can be picked from. */
function pick(r: DryRunResult) {
  const html = r.html;
  if (!html) return null;
  return (
    <button
      type="button"
      onClick={() => {
        hand(html, r.url);
        go("/rules?pick=1");
      }}
    >
      Pick fields on this page
    </button>
  );
}

/** One address through the whole pipeline of a workflow, or of an execution, as it would be. */
export default function DryRunPage() {
  const [params, set] = useParams();
  const workflow = params.get("workflow") ?? "";
  const version = Number(params.get("version") ?? "") || undefined;
  const execution = params.get("execution") ?? "";
  const of: Definition = execution ? { execution } : workflow ? { workflow, version } : {};
  const where = execution ? <a href={at.execution(execution)}>{plain(execution)}</a> : workflow ? <a href={at.workflow(workflow)}>{plain(workflow)}</a> : <a href="#/w">Workflows</a>;
  return (
    <>
      <Head where={where} title="Dry run" />
      <p className="sub">
        One address through every step, as it would be. Nothing is stored, claimed or counted, and its host is asked in its turn.{" "}
        {execution
          ? "The page is compared with what the execution has stored."
          : workflow
            ? `With ${version ? `version ${version}` : "the current version"} of the workflow.`
            : "With the defaults of a new crawl."}
      </p>
      <div className="bar" style={{ marginTop: "var(--s-4)" }}>
        <label className="field">
          <span>As in the workflow</span>
          <input value={workflow} placeholder="name" disabled={!!execution} onChange={(e) => set({ workflow: e.target.value, version: undefined })} />
        </label>
        <label className="field">
          <span>Or in the execution</span>
          <input value={execution} placeholder="name-1" onChange={(e) => set({ execution: e.target.value })} />
        </label>
      </div>
      <DryRun of={of} url={params.get("url") ?? ""} onURL={(url) => set({ url })} step={params.get("step") ?? undefined} onStep={(step) => set({ step })} after={pick} />
    </>
  );
}
