// A page that one page of the studio hands to another: it is too long for an address.
let handed: { html: string; url: string } | null = null;

export function hand(html: string, url: string) {
  handed = { html, url };
}

/** What was handed, once. */
export function taken(): { html: string; url: string } | null {
  const t = handed;
  handed = null;
  return t;
}
