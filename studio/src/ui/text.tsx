import { useState, type ReactNode } from "react";
import { useNow } from "../lib/clock";
import { ago, date, plain, readable, time } from "../lib/format";

/** An address as text: its host dark, its path muted and cut before its end. */
export function Url({ url, href, title }: { url: string; href?: string; title?: string }) {
  const shown = plain(url, 2000);
  const m = /^([a-z][a-z0-9+.-]*:\/\/[^/?#]*)(.*)$/i.exec(shown);
  const host = m ? m[1]!.replace(/^https?:\/\//, "") : "";
  const path = readable(m ? m[2]! : shown);
  const tail = path.length > 24 ? 12 : 0;
  const body = (
    <>
      {host && <span className="host">{host.length > 60 ? host.slice(0, 57) + "…" : host}</span>}
      <span className="path">{tail ? path.slice(0, -tail) : path}</span>
      {tail > 0 && <span className="end">{path.slice(-tail)}</span>}
    </>
  );
  return href ? (
    <a className="url" href={href} title={title ?? shown}>
      {body}
    </a>
  ) : (
    <span className="url" title={title ?? shown}>
      {body}
    </span>
  );
}

/** A time as how long ago it was, with the whole of it on hover. */
export function When({ at, form = "ago" }: { at: string | undefined; form?: "ago" | "time" }) {
  const now = useNow();
  const d = date(at);
  if (!d) return <span className="muted">–</span>;
  const whole = `${d.toLocaleString("en-GB")} · ${d.toISOString()} UTC`;
  return (
    <time dateTime={d.toISOString()} title={whole} className="nowrap">
      {form === "ago" ? ago(at, now) : time(at, now)}
    </time>
  );
}

/** A button that copies a text, seen on hover and focus. */
export function Copy({ text, what = "address" }: { text: string; what?: string }) {
  const [done, setDone] = useState(false);
  return (
    <button
      type="button"
      className="copy"
      aria-label={`Copy ${what}`}
      onClick={() => {
        void navigator.clipboard?.writeText(text).then(() => {
          setDone(true);
          setTimeout(() => setDone(false), 1500);
        });
      }}
    >
      {done ? "copied" : "copy"}
    </button>
  );
}

/** A list of facts: names and values. Those without a value are left out. */
export function Facts({ of }: { of: [string, ReactNode][] }) {
  const there = of.filter(([, v]) => v !== undefined && v !== null && v !== "" && v !== false);
  return (
    <dl className="facts">
      {there.map(([name, value]) => (
        <div key={name} style={{ display: "contents" }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
