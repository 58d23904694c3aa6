// What a document has become: itself with its open shadow roots, where that is wanted, and its links. Those are href
// of a and area, also in SVG; and where scripts lead on a click whose target stands in the element: data-href and the
// like, the attribute onclick with a plain address, menus that go where one chooses, and forms that ask by GET without
// a field to fill in, also by a button of theirs (formaction). It runs in a world of its own, in which nothing is as
// the page may have changed it. Only names in the page reach into it, as a field named getAttribute does in its form:
// so nothing of forms and documents is asked for by its name. Links that say nofollow are a list of their own, and so
// are those of a document that says so, to all or to the agent, unless all are wanted.
(({max, all, agent}) => {
  const getter = (of, name) => { const {get} = Object.getOwnPropertyDescriptor(of.prototype, name); return el => get.call(el) };
  const base = getter(Node, "baseURI")(document), rootElement = getter(Document, "documentElement")(document), body = getter(Document, "body")(document);
  const attr = (el, name) => Element.prototype.getAttribute.call(el, name), tag = getter(Element, "localName"), shadow = getter(Element, "shadowRoot");
  const find = (root, what) => [...(root === document ? Document : root instanceof ShadowRoot ? DocumentFragment : Element).prototype.querySelectorAll.call(root, what)];
  const roots = [], links = [], unfollowed = [];
  let to = links;
  const add = href => {
    if (to.length >= 20000 || !href || href.startsWith("#")) return;
    try { to.push(new URL(href, base).href) } catch {}
  };
  const address = /^(https?:\/\/[^\s/]|\.{0,2}\/(?!\/))[^\s<>"'{}]*$/;
  const file = /\.(js|mjs|css|json|xml|png|jpe?g|gif|svg|webp|avif|ico|woff2?|mp4|webm|mp3|m3u8)([?#]|$)/i;
  const goes = /(?:\blocation(?:\.href)?\s*=(?!=)|\blocation\.(?:assign|replace)\(|\bopen\(|\b(?:push|replace)State\([^()]*,)\s*(["'`])([^"'`<>{}\s]+)\1\s*(?=[;,)}\n]|$)/;
  const leads = script => script !== null && script.length < 2000 && /\blocation\b|\bopen\(/.test(script);
  const unasked = "input:not([type=hidden]):not([type=submit]):not([type=button]):not([type=image]),select,textarea";
  const formOf = el => [HTMLButtonElement, HTMLInputElement].filter(of => el instanceof of).map(of => getter(of, "form")(el))[0];
  const isGet = (method, otherwise) => (method || otherwise || "get").toLowerCase() === "get";
  const asks = (form, to) => {
    if (form && to && !find(form, unasked).length) try { add(new URL(to, base).href.split("?")[0] + query(form)) } catch {}
  };
  const other = el => {
    for (const name of attr(el, "role") === "link" || leads(attr(el, "onclick")) ? ["data-href", "data-url", "data-link", "data-to"] : ["data-href", "routerlink"]) {
      const value = attr(el, name)?.trim();
      if (value && address.test(value) && !file.test(value)) add(value);
    }
    const script = attr(el, "onclick");
    if (script && script.length < 2000) add(goes.exec(script)?.[2]);
    const href = tag(el) === "a" && attr(el, "href");
    if (href && href.length < 2000 && /^\s*javascript:/i.test(href)) add(goes.exec(href)?.[2]);
    if (tag(el) === "form" && isGet(attr(el, "method"))) asks(el, attr(el, "action"));
    const form = attr(el, "formaction") && attr(el, "type") !== "button" && formOf(el);
    if (form && isGet(attr(el, "formmethod"), attr(form, "method"))) asks(form, attr(el, "formaction"));
    if (tag(el) === "select" && leads(attr(el, "onchange"))) {
      for (const option of find(el, "option[value]")) if (address.test(attr(option, "value"))) add(attr(option, "value"));
    }
  };
  const query = form => {
    const text = new URLSearchParams(find(form, "input[type=hidden][name]").map(i => [i.name, i.value])).toString();
    return text && "?" + text;
  };
  const says = (text, words) => !all && text !== null && words.test(text);
  const ours = meta => ["robots", agent].includes(attr(meta, "name").trim().toLowerCase());
  const silent = find(document, "meta[name]").some(m => ours(m) && says(m.getAttribute("content"), /(^|[\s,])(nofollow|none)($|[\s,])/i));
  const walk = (root, depth) => {
    for (const el of find(root, "*")) {
      to = silent || says(attr(el, "rel"), /(^|\s)nofollow($|\s)/i) ? unfollowed : links;
      if (tag(el) === "a" || tag(el) === "area") {
        const href = attr(el, "href") ?? el.getAttributeNS("http://www.w3.org/1999/xlink", "href");
        if (href !== null) add(typeof el.href === "string" && el.href ? el.href : href);
      }
      other(el);
      const inner = shadow(el);
      if (inner && depth < 32) {
        roots.push(inner);
        walk(inner, depth + 1);
      }
    }
  };
  walk(document, 0);

  const root = rootElement, doctype = getter(Document, "doctype")(document);
  let html = "";
  if (root && max) {
    const shell = root.cloneNode(false).outerHTML;
    const end = shell.lastIndexOf("</");
    const type = doctype ? "<!DOCTYPE " + doctype.name + ">" : "";
    html = type + shell.slice(0, end) + root.getHTML({serializableShadowRoots: true, shadowRoots: roots}) + shell.slice(end);
  }
  return {html: html.slice(0, max), cut: html.length > max, links, unfollowed, url: getter(Document, "URL")(document),
    height: root ? Math.max(root.scrollHeight, body ? body.scrollHeight : 0) : 0};
})
