import { useState } from "react";
import { address, call, Problem } from "../lib/api";
import { dec } from "../lib/route";
import { Spiral } from "../ui/icons";
import { Failure } from "../ui/state";

/** Why the issuer's sign-in came to nothing: the server's words for it (pkg/api/oidcroutes.go), and what they mean. */
const failures: Record<string, string> = {
  trouble: "Sign-ins cannot be stored or read. Try again later.",
  silent: "The issuer does not answer. Try again later.",
  used: "This sign-in was used, was begun by another browser, or is older than a quarter of an hour. Sign in again.",
  refused: "The issuer did not sign you in. Sign in again.",
  bad: "The issuer's answer is not good. Sign in again.",
  "no-role": "You have no role here. Ask an administrator of this server for one.",
};

/** The failure that an address tells of; null: none. */
export function failureOf(hash: string): Problem | null {
  const word = new URLSearchParams(hash.split("?")[1]).get("signin") ?? "";
  return failures[word] ? new Problem(0, "You are not signed in", failures[word], "") : null;
}

/** What is shown to who has a session, and tried to sign in once more. */
export function StillSignedIn({ problem, go }: { problem: Problem; go: () => void }) {
  return (
    <main className="page" style={{ maxWidth: 520, margin: "10vh auto 0" }}>
      <Spiral size={40} />
      <h1 style={{ fontSize: "var(--t-28)", margin: "var(--s-4) 0" }}>Sign in</h1>
      <Failure problem={problem} />
      <p>
        <button type="button" className="primary" onClick={go}>
          Go on as before
        </button>
      </p>
    </main>
  );
}

/** What is shown to who has no session: how to get one. */
export function SignIn({ refused, again, oidc }: { refused: Problem | null; again: () => void; oidc?: boolean }) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState(refused);
  async function enter(e: React.FormEvent) {
    e.preventDefault();
    const token = /token=([^&\s]+)/.exec(text)?.[1] ?? text.trim();
    try {
      await call("POST", "/session", { body: { token: dec(token) } });
      again();
    } catch (p) {
      setProblem(p as Problem);
    }
  }
  return (
    <main className="page" style={{ maxWidth: 520, margin: "10vh auto 0" }}>
      <Spiral size={40} />
      <h1 style={{ fontSize: "var(--t-28)", marginTop: "var(--s-4)" }}>Sign in</h1>
      <p style={{ margin: "var(--s-3) 0 var(--s-6)" }}>
        Open the link that <code>whirlpool serve</code> printed. It works once; <code>whirlpool login-url</code> prints another.
      </p>
      {oidc && (
        <p>
          <a className="button primary" href={address("/auth/login")}>
            Sign in with your account
          </a>
        </p>
      )}
      {problem && <Failure problem={problem} />}
      <form onSubmit={(e) => void enter(e)} style={{ display: "flex", gap: "var(--s-2)", marginTop: "var(--s-4)" }}>
        <label className="field" style={{ flex: 1 }}>
          <span>Or paste the link here</span>
          <input value={text} onChange={(e) => setText(e.target.value)} autoComplete="off" required />
        </label>
        <button className="primary" type="submit" style={{ alignSelf: "flex-end" }}>
          Sign in
        </button>
      </form>
    </main>
  );
}
