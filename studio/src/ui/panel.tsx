import { useEffect, useRef, type ReactNode } from "react";

/** A detail beside a list. Its address is its own, Esc closes it, and the focus goes back to where it came from. */
export function Panel({ title, close, children }: { title: ReactNode; close: () => void; children: ReactNode }) {
  const box = useRef<HTMLElement>(null);
  const shut = useRef(close);
  shut.current = close;
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    box.current?.focus();
    const onKey = (e: KeyboardEvent) => {
      if (e.key === "Escape" && !e.defaultPrevented && !document.querySelector("dialog[open]")) shut.current();
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      if (before?.isConnected) before.focus();
    };
  }, []);
  return (
    <aside className="panel" ref={box} tabIndex={-1} aria-label="Details">
      <div className="head">
        <h2 className="clip" style={{ flex: 1, minWidth: 0 }}>
          {title}
        </h2>
        <button type="button" onClick={close}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      {children}
    </aside>
  );
}
