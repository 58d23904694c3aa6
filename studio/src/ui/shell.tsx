import { useEffect, useRef, useState, type ReactNode } from "react";
import { go, usePath } from "../lib/route";
import { Icon, Spiral, type IconName } from "./icons";
import { LostBanner } from "./state";

interface Door {
  to: string;
  word: string;
  icon: IconName;
  key: string; // after g
  wide?: boolean; // not on a phone
}

export const doors: Door[] = [
  { to: "/", word: "Overview", icon: "overview", key: "o" },
  { to: "/w", word: "Workflows", icon: "workflows", key: "w" },
  { to: "/rules", word: "Rules", icon: "rules", key: "r" },
  { to: "/alerts", word: "Alerts", icon: "alerts", key: "a", wide: true },
  { to: "/logs", word: "Logs", icon: "logs", key: "l" },
  { to: "/nodes", word: "Nodes", icon: "nodes", key: "n", wide: true },
  { to: "/settings", word: "Settings", icon: "settings", key: "s" },
];

function opened(door: Door, path: string): boolean {
  if (door.to === "/") return path === "/" || path.startsWith("/x/");
  return path === door.to || path.startsWith(door.to + "/") || (door.to === "/w" && (path.startsWith("/compare") || path.startsWith("/dry-run") || path.startsWith("/compose") || path === "/plugins"));
}

export function Frame({ children }: { children: ReactNode }) {
  const [path] = usePath();
  const main = useRef<HTMLElement>(null);
  useEffect(() => {
    scrollTo(0, 0); // it may return a promise
  }, [path]);
  return (
    <div className="frame">
      <a
        className="hidden"
        href="#main"
        onClick={(e) => {
          e.preventDefault();
          main.current?.focus();
        }}
      >
        Skip to the page
      </a>
      <nav className="rail" aria-label="Studio">
        <a className="brand" href="#/" aria-label="Whirlpool: overview">
          <Spiral />
          <span className="word">Whirlpool</span>
        </a>
        {doors.map((d) => (
          <a
            key={d.to}
            className={d.wide ? "door wide" : "door"}
            href={"#" + d.to}
            title={d.word}
            aria-current={opened(d, path) ? "page" : undefined}
          >
            <Icon name={d.icon} />
            <span className="word">{d.word}</span>
          </a>
        ))}
        <span className="fill" />
        <Help />
      </nav>
      <div style={{ minWidth: 0 }}>
        <LostBanner />
        <main className="page" id="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
    </div>
  );
}

interface HeadProps {
  where?: ReactNode;
  title: ReactNode;
  tab?: string; // what the browser's tab is called, where that is not the title
  state?: ReactNode;
  children?: ReactNode;
}

/** The head of a page. The browser's tab, its history and its bookmarks have the title, too. */
export function Head({ where, title, tab, state, children }: HeadProps) {
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = tab ?? `${head.current!.textContent} · Whirlpool`;
  });
  return (
    <header className="head">
      {where && <div className="where">{where}</div>}
      <h1 ref={head}>{title}</h1>
      {state && (
        <span role="status" aria-live="polite">
          {state}
        </span>
      )}
      {children && <div className="actions">{children}</div>}
    </header>
  );
}

export function Tabs({ label, of }: { label: string; of: { href: string; word: string; on: boolean }[] }) {
  const bar = useRef<HTMLElement>(null);
  const on = of.findIndex((t) => t.on);
  useEffect(() => {
    // In a narrow window the bar is wider than the page: the tab that is open has to be in sight.
    const tab = bar.current?.children[on] as HTMLElement | undefined;
    if (tab) bar.current!.scrollLeft = tab.offsetLeft - bar.current!.offsetLeft - (bar.current!.clientWidth - tab.offsetWidth) / 2;
  }, [on]);
  return (
    <nav className="tabs" aria-label={label} ref={bar}>
      {of.map((t) => (
        <a key={t.word} href={t.href} aria-current={t.on ? "page" : undefined}>
          {t.word}
        </a>
      ))}
    </nav>
  );
}

/** Keys that work on every page, and the list of them. */
function Help() {
  const box = useRef<HTMLDialogElement>(null);
  const [pressed, setPressed] = useState("");
  useEffect(() => {
    let waits: ReturnType<typeof setTimeout> | undefined;
    const onKey = (e: KeyboardEvent) => {
      const t = e.target as HTMLElement;
      if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(t.tagName)) return;
      if (document.querySelector("dialog:modal:not([data-keys])")) return; // it asks something: nothing moves behind it
      if (pressed === "g") {
        setPressed("");
        const door = doors.find((d) => d.key === e.key);
        if (door) {
          box.current?.close();
          go(door.to);
        }
      } else if (e.key === "g") {
        setPressed("g");
        waits = setTimeout(() => setPressed(""), 1500);
      } else if (e.key === "?") {
        if (!box.current?.open) box.current?.showModal();
      } else if (e.key === "/") {
        const field = document.querySelector<HTMLInputElement>("[data-search]");
        if (!field) return;
        e.preventDefault();
        field.focus();
        field.select();
      } else if (e.key === "j" || e.key === "k") {
        row(e.key === "j" ? 1 : -1);
      }
    };
    addEventListener("keydown", onKey);
    return () => {
      removeEventListener("keydown", onKey);
      clearTimeout(waits);
    };
  }, [pressed]);
  return (
    <>
      <button type="button" className="plain wide" title="Keys" aria-label="Keys" onClick={() => box.current?.showModal()}>
        <kbd>?</kbd> <span className="word">Keys</span>
      </button>
      <dialog ref={box} aria-label="Keys" data-keys="">
        <h2>Keys</h2>
        <dl className="facts" style={{ marginTop: "var(--s-4)" }}>
          {doors.map((d) => (
            <div key={d.key} style={{ display: "contents" }}>
              <dt>
                <kbd>g</kbd> <kbd>{d.key}</kbd>
              </dt>
              <dd>{d.word}</dd>
            </div>
          ))}
          <dt>
            <kbd>/</kbd>
          </dt>
          <dd>Search on this page</dd>
          <dt>
            <kbd>j</kbd> <kbd>k</kbd>
          </dt>
          <dd>Next and previous row; Enter opens it</dd>
          <dt>
            <kbd>Esc</kbd>
          </dt>
          <dd>Close what lies beside the page</dd>
        </dl>
        <div className="actions">
          <form method="dialog">
            <button type="submit">Close</button>
          </form>
        </div>
      </dialog>
    </>
  );
}

/** Moves the focus to the link of the next row. */
function row(step: number) {
  const links = [...document.querySelectorAll<HTMLElement>("main tbody tr")]
    .map((r) => r.querySelector<HTMLElement>("a, button:not(.copy)"))
    .filter((l) => l !== null);
  if (links.length === 0) return;
  const now = links.findIndex((l) => l === document.activeElement);
  links[Math.min(Math.max(now + step, 0), links.length - 1)]!.focus();
}
