// What a document has become: itself with its open shadow roots, where that is wanted, and its links. Those are href of
// a and area, also in SVG; and where scripts lead on a click whose target stands in the element: data-href and the
// like, the attribute onclick with a plain address, and forms that ask by GET without a field to fill in. It runs in a
// world of its own, in which nothing is as the page may have changed it. Links that say nofollow are a list of their
// own, and so are those of a document that says so, to all or to the agent, unless all are wanted.
(({max, all, agent}) => {
  const roots = [], links = [], unfollowed = [];
  let to = links;
  const add = href => {
    if (to.length >= 20000 || !href || href.startsWith("#")) return;
    try { to.push(new URL(href, document.baseURI).href) } catch {}
  };
  const address = /^(https?:\/\/[^\s/]|\.{0,2}\/(?!\/))[^\s<>"'{}]*$/;
  const file = /\.(js|mjs|css|json|xml|png|jpe?g|gif|svg|webp|avif|ico|woff2?|mp4|webm|mp3|m3u8)([?#]|$)/i;
  const goes = /(?:\blocation(?:\.href)?\s*=(?!=)|\blocation\.(?:assign|replace)\(|\bopen\(|\b(?:push|replace)State\([^()]*,)\s*(["'`])([^"'`<>{}\s]+)\1\s*(?=[;,)}\n]|$)/;
  const other = el => {
    for (const name of el.getAttribute("role") === "link" ? ["data-href", "data-url", "data-link", "data-to"] : ["data-href", "routerlink"]) {
      const value = el.getAttribute(name)?.trim();
      if (value && address.test(value) && !file.test(value)) add(value);
    }
    const script = el.getAttribute("onclick");
    if (script && script.length < 2000) add(goes.exec(script)?.[2]);
    if (el.localName === "form" && (el.getAttribute("method") || "get").toLowerCase() === "get" && el.getAttribute("action") &&
      !el.querySelector("input:not([type=hidden]):not([type=submit]):not([type=button]):not([type=image]),select,textarea")) {
      try { add(new URL(el.getAttribute("action"), document.baseURI).href.split("?")[0] + query(el)) } catch {}
    }
  };
  const query = form => {
    const text = new URLSearchParams([...form.querySelectorAll("input[type=hidden][name]")].map(i => [i.name, i.value])).toString();
    return text && "?" + text;
  };
  const says = (text, words) => !all && text !== null && words.test(text);
  const ours = meta => ["robots", agent].includes(meta.getAttribute("name").trim().toLowerCase());
  const silent = [...document.querySelectorAll("meta[name]")].some(m => ours(m) && says(m.getAttribute("content"), /(^|[\s,])(nofollow|none)($|[\s,])/i));
  const walk = (root, depth) => {
    for (const el of root.querySelectorAll("*")) {
      to = silent || says(el.getAttribute("rel"), /(^|\s)nofollow($|\s)/i) ? unfollowed : links;
      if (el.localName === "a" || el.localName === "area") {
        const href = el.getAttribute("href") ?? el.getAttributeNS("http://www.w3.org/1999/xlink", "href");
        if (href !== null) add(typeof el.href === "string" && el.href ? el.href : href);
      }
      other(el);
      if (el.shadowRoot && depth < 32) {
        roots.push(el.shadowRoot);
        walk(el.shadowRoot, depth + 1);
      }
    }
  };
  walk(document, 0);

  const root = document.documentElement;
  let html = "";
  if (root && max) {
    const shell = root.cloneNode(false).outerHTML;
    const end = shell.lastIndexOf("</");
    const type = document.doctype ? "<!DOCTYPE " + document.doctype.name + ">" : "";
    html = type + shell.slice(0, end) + root.getHTML({serializableShadowRoots: true, shadowRoots: roots}) + shell.slice(end);
  }
  return {html: html.slice(0, max), cut: html.length > max, links, unfollowed, url: document.URL,
    height: root ? Math.max(root.scrollHeight, document.body ? document.body.scrollHeight : 0) : 0};
})
