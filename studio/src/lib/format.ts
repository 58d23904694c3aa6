// Figures and times as people read them.

const groups = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** 12 345, with thin spaces. */
export function count(n: number | undefined | null): string {
  if (n === undefined || n === null || Number.isNaN(n)) return "–";
  return groups.format(n).replaceAll(",", "\u202f");
}

export function rate(n: number | undefined): string {
  if (n === undefined || Number.isNaN(n)) return "–";
  return n >= 100 ? count(n) : n.toFixed(1);
}

const units = ["B", "KB", "MB", "GB", "TB"];

export function bytes(n: number | undefined): [string, string] {
  if (n === undefined) return ["–", ""];
  let i = 0;
  while (n >= 1000 && i < units.length - 1) {
    n /= 1000;
    i++;
  }
  return [i === 0 || n >= 100 ? n.toFixed(0) : n.toFixed(1), units[i]!];
}

export const size = (n: number | undefined) => bytes(n).join("\u202f").trim();

/** 2 min 14 s */
export function duration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const s = Math.round(ms / 1000);
  if (s < 60) return ms < 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${s} s`;
  const parts: [number, string][] = [
    [Math.floor(s / 86400), "d"],
    [Math.floor(s / 3600) % 24, "h"],
    [Math.floor(s / 60) % 60, "min"],
    [s % 60, "s"],
  ];
  const from = parts.findIndex(([n]) => n > 0);
  return parts
    .slice(from, from + 2)
    .filter(([n]) => n > 0)
    .map(([n, u]) => `${n} ${u}`)
    .join(" ");
}

export function date(at: string | number | undefined): Date | null {
  if (!at) return null;
  const d = new Date(at);
  return Number.isNaN(d.getTime()) || d.getUTCFullYear() < 1970 ? null : d;
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });

const year = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

/** The time of day, with the date where that is not today, and the year where that is another one. */
export function time(at: string | number | undefined, now = Date.now()): string {
  const d = date(at);
  if (!d) return "–";
  const today = new Date(now);
  if (today.getFullYear() !== d.getFullYear()) return year.format(d);
  return today.toDateString() === d.toDateString() ? clock.format(d) : day.format(d);
}

/** 3 min ago, in 4 s */
export function ago(at: string | number | undefined, now = Date.now()): string {
  const d = date(at);
  if (!d) return "–";
  const ms = now - d.getTime();
  if (Math.abs(ms) < 1500) return "now";
  const whole = duration(Math.max(1, Math.round(Math.abs(ms) / 1000)) * 1000).replace(/\.0 s$/, " s");
  return ms > 0 ? `${whole} ago` : `in ${whole}`;
}

export function share(part: number, whole: number): string {
  if (whole <= 0) return "0 %";
  const p = (100 * part) / whole;
  return `${p > 0 && p < 1 ? "<1" : p > 99 && p < 100 ? ">99" : Math.round(p)} %`;
}

export const plural = (n: number, one: string, many = one + "s") => `${count(n)} ${n === 1 ? one : many}`;

/**
 * Text of a page as it may be shown: control characters are visible, the direction cannot be turned for what follows
 * (Unicode's bidirectional controls), and it is bounded. Joiners stay: Persian, Hindi and many emoji need them.
 */
export function plain(text: string | undefined, most = 300): string {
  if (!text) return "";
  const cut = text.length > most ? text.slice(0, most).replace(/[\ud800-\udbff]$/, "") + "…" : text;
  // eslint-disable-next-line no-control-regex
  return cut.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, "\ufffd");
}

/** The path of an address with the letters of other scripts as letters; what else is escaped stays so. */
export function readable(path: string): string {
  return path.replace(/(?:%[89a-f][\da-f])+/gi, (escaped) => {
    try {
      const text = decodeURIComponent(escaped);
      return /^[\p{L}\p{M}\p{N}]+$/u.test(text) ? text : escaped;
    } catch {
      return escaped; // no UTF-8
    }
  });
}
