// Icons of one stroke, 18 px, drawn for this page.

const paths = {
  overview: "M3 9.5 9 4l6 5.5M4.5 8.5V15h9V8.5",
  workflows: "M4 4h4v4H4zM10 10h4v4h-4zM6 8v3.5c0 .3.2.5.5.5H10",
  rules: "M3 5h7M3 9h5M3 13h7M12.5 7.5l2 2-2 2",
  alerts: "M4.5 12.5V8a4.5 4.5 0 0 1 9 0v4.5M3 12.5h12M7.5 15h3",
  logs: "M3 4.5h12M3 9h12M3 13.5h8",
  nodes: "M3 4h12v4H3zM3 10h12v4H3zM5.5 6h.01M5.5 12h.01",
  settings: "M3 5.5h6M13 5.5h2M3 12.5h2M9 12.5h6M11 3.5v4M7 10.5v4",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg width="18" height="18" viewBox="0 0 18 18" fill="none" stroke="currentColor" strokeWidth="1.5" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}

/** The mark: a whirl. */
export function Spiral({ size = 22 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="var(--accent)" strokeWidth="2.2" strokeLinecap="round" aria-hidden="true">
      <path d={spiral} />
    </svg>
  );
}

/** Two and a half turns of an Archimedean spiral round (12, 12). */
const spiral = (() => {
  const points: string[] = [];
  for (let i = 0; i <= 60; i++) {
    const turn = (i / 60) * 2.4 * 2 * Math.PI;
    const r = 1 + (i / 60) * 9;
    points.push(`${(12 + r * Math.cos(turn)).toFixed(2)} ${(12 + r * Math.sin(turn)).toFixed(2)}`);
  }
  return "M" + points.join("L");
})();
