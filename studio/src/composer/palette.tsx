// What can be put into a pipeline: chosen by typing and Enter, or dragged.
import { useEffect, useRef, useState, type KeyboardEvent } from "react";
import type { Plugin } from "../api/types";
import { plain } from "../lib/format";
import type { Placing } from "./board";
import type { Point } from "./document";
import { servedBy, shortName } from "./kinds";

interface Props {
  plugins: Plugin[];
  at: Point | null; // only those that serve it
  choose: (p: Plugin) => void;
  hold: (what: Placing | null) => void;
}

export function Palette({ plugins, at, choose, hold }: Props) {
  const [text, setText] = useState("");
  const field = useRef<HTMLInputElement>(null);
  const box = useRef<HTMLUListElement>(null);
  useEffect(() => field.current?.focus(), [at]);
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = plugins.filter((p) => (!at || servedBy(p).includes(at)) && words.every((w) => `${p.use} ${p.summary}`.toLowerCase().includes(w)));
  const step = (e: KeyboardEvent<HTMLElement>) => {
    const all = [...(box.current?.querySelectorAll("button") ?? [])];
    const now = all.indexOf(e.currentTarget as HTMLButtonElement);
    if (e.key === "ArrowDown") all[now + 1]?.focus();
    else if (e.key === "ArrowUp") (now > 0 ? all[now - 1] : field.current)?.focus();
    else return;
    e.preventDefault();
  };
  return (
    <div className="c-palette">
      <input
        ref={field}
        type="search"
        aria-label={at ? `Plug-ins for ${at}` : "Plug-ins"}
        placeholder="Search"
        value={text}
        onChange={(e) => setText(e.target.value)}
        onKeyDown={(e) => {
          if (e.key === "Enter" && shown[0]) {
            e.preventDefault();
            choose(shown[0]);
          } else step(e);
        }}
      />
      <p className="muted small" role="status">
        {shown.length === 0 ? "None fits" : at ? `${shown.length} can stand at ${at}` : `${shown.length} plug-ins; choose one, or drag it to its place`}
      </p>
      <ul ref={box}>
        {shown.map((p) => (
          <li key={p.use}>
            <button
              type="button"
              draggable
              onDragStart={(e) => {
                e.dataTransfer.setData("text/plain", p.use);
                setTimeout(() => hold({ use: p.use, dragged: true }));
              }}
              onDragEnd={() => hold(null)}
              onClick={() => choose(p)}
              onKeyDown={step}
            >
              <span className="c-name">
                <span>{plain(shortName(p.use))}</span>
                {!p.trust.usable && <span className="dot wait small">not approved</span>}
              </span>
              <span className="muted small">{plain(p.summary)}</span>
              <span className="c-points small">{servedBy(p).join(" · ")}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
