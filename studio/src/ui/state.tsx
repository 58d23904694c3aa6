import type { ReactNode } from "react";
import type { Problem } from "../lib/api";
import { useNow } from "../lib/clock";
import { duration } from "../lib/format";
import { useLost } from "../lib/live";
import type { Answer } from "../lib/query";

export type Tone = "good" | "wait" | "bad" | "live" | "none";

const tones: Record<string, Tone> = {
  running: "live",
  starting: "live",
  finalizing: "live",
  active: "live",
  pending: "wait",
  pausing: "wait",
  paused: "wait",
  stopping: "wait",
  cancelling: "wait",
  stopped: "wait",
  scheduled: "wait",
  interrupted: "wait",
  partial: "bad",
  failed: "bad",
  timed_out: "bad",
  gone: "bad",
  refused: "bad",
  blocked: "bad",
  succeeded: "good",
  done: "good",
};

export const toneOf = (state: string): Tone => tones[state] ?? "none";

/** A state: a mark, whose form differs too, and its word. */
export function StateDot({ state, word }: { state: string; word?: ReactNode }) {
  return <span className={`dot ${toneOf(state)}`}>{word ?? state.replaceAll("_", " ")}</span>;
}

export function Skeleton({ lines = 6 }: { lines?: number }) {
  return (
    <div className="skeleton" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, i) => (
        <span key={i} style={{ width: `${[72, 94, 58, 86, 64, 90][i % 6]}%` }} />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

/** What happened, what to do, and how to ask again. */
export function Failure({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return (
    <div className="notice bad" role="alert">
      <div className="body">
        <strong>{problem.message}</strong>
        {problem.detail && <div className="muted">{problem.detail}</div>}
        {problem.status === 404 && <div className="muted">It may have been deleted, or the address is cut.</div>}
        {problem.errors
          .filter((e) => !problem.detail.includes(e.message)) // one that is alone is told above
          .map((e, i) => (
            <div key={i} className="small">
              {e.location ? <code>{e.location}</code> : null} {e.message}
            </div>
          ))}
        {problem.requestId && <div className="muted small">Request {problem.requestId}</div>}
      </div>
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Notice({ tone, children, action }: { tone: Tone; children: ReactNode; action?: ReactNode }) {
  return (
    <div className={`notice ${tone}`}>
      <div className="body">{children}</div>
      {action}
    </div>
  );
}

/** Shows an answer: a skeleton before it is there, the problem where there is none, greyed when it is not renewed. */
export function Shown<T>({ of, children, lines }: { of: Answer<T>; children: (data: T) => ReactNode; lines?: number }) {
  const lost = useLost();
  if (of.data === undefined) return of.error ? <Failure problem={of.error} retry={of.reload} /> : <Skeleton lines={lines} />;
  return (
    <>
      {of.error && of.error.status !== 0 && <Failure problem={of.error} retry={of.reload} />}
      <div className={lost || of.error?.status === 0 ? "stale" : undefined}>{children(of.data)}</div>
    </>
  );
}

/** Says that live figures have stopped. */
export function LostBanner() {
  const lost = useLost();
  const now = useNow();
  if (!lost || now - lost < 2000) return null;
  return (
    <div className="banner" role="status">
      Live figures stopped {duration(now - lost)} ago. What you see is as it was then; trying again.
    </div>
  );
}
