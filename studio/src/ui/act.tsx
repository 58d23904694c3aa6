import { useRef, useState, type ReactNode } from "react";
import { Problem } from "../lib/api";
import type { Me } from "../api/types";
import { useMe } from "./me";
import { Failure } from "./state";

interface Props {
  role: Me["role"]; // that it takes
  run: () => Promise<unknown>;
  kind?: "primary" | "bad";
  sure?: ReactNode; // what is lost: asked before
  verb?: string; // on the button of that question
  children: ReactNode;
  disabled?: boolean;
  why?: string; // it is disabled
}

/** A button that does something. Who may not sees why; what fails is told beside it; what destroys asks first. */
export function Act({ role, run, kind, sure, verb, children, disabled, why }: Props) {
  const { me, may } = useMe();
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  const box = useRef<HTMLDialogElement>(null);
  const barred = !!me && !may(role);

  async function act() {
    box.current?.close();
    setBusy(true);
    setProblem(null);
    try {
      await run();
    } catch (e) {
      setProblem(e instanceof Problem ? e : new Problem(0, String(e), "", ""));
    }
    setBusy(false);
  }

  return (
    <>
      <button
        type="button"
        className={kind}
        aria-disabled={barred || busy || disabled || undefined}
        title={barred ? `Your role is ${me!.role}; this takes ${role}` : disabled ? why : undefined}
        onClick={() => {
          if (barred || busy || disabled) return;
          if (sure) box.current?.showModal();
          else void act();
        }}
      >
        {children}
      </button>
      {sure && (
        <dialog ref={box}>
          <div>{sure}</div>
          <div className="actions">
            <button type="button" onClick={() => box.current?.close()}>
              Keep it
            </button>
            <button type="button" className="bad" onClick={() => void act()}>
              {verb ?? children}
            </button>
          </div>
        </dialog>
      )}
      {problem && (
        <dialog open className="floating">
          <Failure problem={problem} />
          <div className="actions">
            <button type="button" onClick={() => setProblem(null)}>
              Close
            </button>
          </div>
        </dialog>
      )}
    </>
  );
}
