import { useCallback, useState } from "react";

interface Past {
  before: string[];
  now: string;
  after: string[];
  kind: string; // of the last change: typing in one field is one step
  at: number;
}

export interface History {
  now: string;
  set: (text: string, kind?: string) => void;
  undo?: () => void; // not there: there is nothing to undo
  redo?: () => void;
}

const most = 200;

/** A text, or a draft of it, with what it was before. Changes of the same kind within a second are one. */
export function useHistory(first: string, draft = first): History {
  const [p, setP] = useState<Past>({ before: draft === first ? [] : [first], now: draft, after: [], kind: "", at: 0 });
  const set = useCallback((text: string, kind = "") => {
    setP((p) => {
      if (text === p.now) return p;
      const same = kind !== "" && kind === p.kind && Date.now() - p.at < 1000;
      return { before: same ? p.before : [...p.before.slice(-most), p.now], now: text, after: [], kind, at: Date.now() };
    });
  }, []);
  const undo = () => setP((p) => (p.before.length ? { before: p.before.slice(0, -1), now: p.before.at(-1)!, after: [p.now, ...p.after], kind: "", at: 0 } : p));
  const redo = () => setP((p) => (p.after.length ? { before: [...p.before, p.now], now: p.after[0]!, after: p.after.slice(1), kind: "", at: 0 } : p));
  return { now: p.now, set, undo: p.before.length ? undo : undefined, redo: p.after.length ? redo : undefined };
}
