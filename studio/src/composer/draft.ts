// What is typed and not saved survives a reload: in the tab, and for the next one.

export interface Draft {
  version: number; // that was edited
  base: string; // its text
  source: string;
}

const name = (of: string) => `composer:${of}`;

function read(store: Storage, of: string): Draft | null {
  try {
    const d = JSON.parse(store.getItem(name(of)) ?? "null") as Draft | null;
    return d && typeof d.version === "number" && typeof d.base === "string" && typeof d.source === "string" && d.source !== d.base ? d : null;
  } catch {
    return null; // of an older studio, or the browser keeps nothing
  }
}

/** The draft of this tab, or else the last one of any. */
export const kept = (of: string): Draft | null => read(sessionStorage, of) ?? read(localStorage, of);

/** Keeps a draft; null: there is none any more. What another tab has kept since stays. */
export function keep(of: string, d: Draft | null) {
  try {
    if (d) {
      const text = JSON.stringify(d);
      sessionStorage.setItem(name(of), text);
      localStorage.setItem(name(of), text);
      return;
    }
    const mine = sessionStorage.getItem(name(of));
    sessionStorage.removeItem(name(of));
    if (mine !== null && localStorage.getItem(name(of)) === mine) localStorage.removeItem(name(of));
  } catch {
    // it is full, or forbidden: the text stays on the page
  }
}

/** Forgets the draft, whichever tab has kept it. */
export function forget(of: string) {
  try {
    sessionStorage.removeItem(name(of));
    localStorage.removeItem(name(of));
  } catch {
    // as above
  }
}
