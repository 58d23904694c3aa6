import type { ReactNode } from "react";

interface Props {
  label: string;
  value: ReactNode;
  unit?: string;
  diff?: ReactNode; // what it was a while ago
  href?: string; // the list behind it
  width?: number; // characters that are kept free, so that nothing jumps
}

/** A figure with its name; a link to the list behind it. */
export function Figure({ label, value, unit, diff, href, width = 7 }: Props) {
  const body = (
    <>
      <span className="label">{label}</span>
      <span className="value" style={{ minWidth: `${width}ch` }}>
        {value}
        {unit && <span className="unit">{unit}</span>}
      </span>
      {diff !== undefined && <span className="was">{diff}</span>}
    </>
  );
  return href ? (
    <a className="figure" href={href}>
      {body}
    </a>
  ) : (
    <div className="figure">{body}</div>
  );
}

export function Figures({ children, label }: { children: ReactNode; label: string }) {
  return (
    <div className="figures" role="group" aria-label={label}>
      {children}
    </div>
  );
}
