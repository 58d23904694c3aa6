import { useEffect, useState } from "react";
import type { Checked } from "../api/types";
import { call } from "./api";

/** What a definition says, asked a moment after one stops typing. */
export function useChecked(source: string): Checked | null {
  const [checked, setChecked] = useState<Checked | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      call<Checked>("POST", "/workflows:validate", { body: { source }, signal: stop.signal })
        .then(setChecked)
        .catch(() => {}); // it is asked again with the next change, and saving tells
    }, 300);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [source]);
  return checked;
}
