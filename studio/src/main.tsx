import { lazy, StrictMode, Suspense, useEffect, useState, type ReactNode } from "react";
import { createRoot } from "react-dom/client";
import { Route, Router, Switch } from "wouter";
import { useHashLocation } from "wouter/use-hash-location";
import type { Me } from "./api/types";
import { call, Problem, signedOut } from "./lib/api";
import { useGet } from "./lib/query";
import { dec, usePath } from "./lib/route";
import { Overview } from "./pages/overview";
import { failureOf, SignIn, StillSignedIn } from "./pages/signin";
import { Boundary } from "./ui/boundary";
import { Frame, Head } from "./ui/shell";
import { Empty, Failure, Skeleton } from "./ui/state";
import "./tokens.css";
import "./style.css";

const ExecutionPages = lazy(() => import("./pages/execution"));
const Workflows = lazy(() => import("./pages/workflows"));
const WorkflowPage = lazy(() => import("./pages/workflow"));
const Composer = lazy(() => import("./pages/composer"));
const Compare = lazy(() => import("./pages/compare"));
const Diff = lazy(() => import("./pages/diff"));
const Rules = lazy(() => import("./pages/rules"));
const DryRun = lazy(() => import("./pages/dryrun"));
const Logs = lazy(() => import("./pages/logs"));
const Nodes = lazy(() => import("./pages/nodes"));
const Alerts = lazy(() => import("./pages/alerts"));
const Access = lazy(() => import("./pages/access"));
const Audit = lazy(() => import("./pages/audit"));
const Plugins = lazy(() => import("./pages/plugins"));
const Settings = lazy(() => import("./pages/settings"));

/** The token of a first visit stands behind the # of the link: it is exchanged for a session and taken away. */
async function exchange(): Promise<Problem | null> {
  const token = /^#token=(.+)$/.exec(location.hash)?.[1];
  if (!token) return null;
  history.replaceState(null, "", location.pathname + location.search + "#/");
  try {
    await call("POST", "/session", { body: { token: dec(token) } });
    return null;
  } catch (e) {
    return e as Problem;
  }
}

function App({ refused }: { refused: Problem | null }) {
  const me = useGet<Me>("/me");
  useEffect(() => {
    addEventListener(signedOut, me.reload); // /me says whether it has ended: then this shows how to sign in
    return () => removeEventListener(signedOut, me.reload);
  }, [me.reload]);
  const [failed, setFailed] = useState(() => failureOf(location.hash));
  const go = () => {
    setFailed(null);
    location.hash = "#/";
  };
  if (me.data?.role === "anyone" || me.error?.status === 401) {
    const enter = () => {
      if (failed) go();
      me.reload();
    };
    return <SignIn refused={refused ?? failed} again={enter} oidc={!!me.data?.oidc} />;
  }
  if (me.data === undefined) {
    return <main className="page">{me.error ? <Failure problem={me.error} retry={me.reload} /> : <Skeleton />}</main>;
  }
  if (failed) return <StillSignedIn problem={failed} go={go} />;
  return (
    <Router hook={usePath as typeof useHashLocation}>
      <Frame>
        <Guarded>
          <Switch>
            <Route path="/">
              <Overview />
            </Route>
            <Route path="/x/:id/:tab?">{(p) => <ExecutionPages key={p.id} id={dec(p.id)} tab={p.tab ?? ""} />}</Route>
            <Route path="/w">
              <Workflows />
            </Route>
            <Route path="/compose">
              <Composer />
            </Route>
            <Route path="/w/:slug/compose">{(p) => <Composer key={p.slug} slug={dec(p.slug)} />}</Route>
            <Route path="/w/:slug">{(p) => <WorkflowPage key={p.slug} slug={dec(p.slug)} />}</Route>
            <Route path="/compare">
              <Compare />
            </Route>
            <Route path="/diff">
              <Diff />
            </Route>
            <Route path="/rules">
              <Rules />
            </Route>
            <Route path="/dry-run">
              <DryRun />
            </Route>
            <Route path="/logs">
              <Logs />
            </Route>
            <Route path="/nodes">
              <Nodes />
            </Route>
            <Route path="/alerts">
              <Alerts />
            </Route>
            <Route path="/access">
              <Access />
            </Route>
            <Route path="/audit">
              <Audit />
            </Route>
            <Route path="/plugins">
              <Plugins />
            </Route>
            <Route path="/settings">
              <Settings />
            </Route>
            <Route>
              <Head title="No such page" />
              <Empty title="This address leads nowhere">
                <p>
                  It may be of another version of Whirlpool. <a href="#/">Go to the overview</a>
                </p>
              </Empty>
            </Route>
          </Switch>
        </Guarded>
      </Frame>
    </Router>
  );
}

function Guarded({ children }: { children: ReactNode }) {
  const [path] = usePath();
  return (
    <Boundary at={path}>
      <Suspense fallback={<Skeleton />}>{children}</Suspense>
    </Boundary>
  );
}

function Start() {
  const [refused, setRefused] = useState<Problem | null | undefined>(undefined);
  useEffect(() => {
    void exchange().then(setRefused);
    // A link that is opened where the studio is open changes what stands behind the # alone: nothing is loaded.
    const again = () => location.hash.startsWith("#token=") && location.reload();
    addEventListener("hashchange", again);
    return () => removeEventListener("hashchange", again);
  }, []);
  return refused === undefined ? null : <App refused={refused} />;
}

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <Start />
  </StrictMode>,
);
