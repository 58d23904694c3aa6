// What a document has become: itself with its open shadow roots, where that is wanted, and its links. It runs in a
// world of its own, in which nothing is as the page may have changed it.
(max => {
  const roots = [], links = [];
  const walk = (root, depth) => {
    for (const el of root.querySelectorAll("*")) {
      if ((el.localName === "a" || el.localName === "area") && el.hasAttribute("href")) {
        if (links.length < 20000 && typeof el.href === "string" && el.href) links.push(el.href);
      }
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
  return {html: html.slice(0, max), cut: html.length > max, links, url: document.URL,
    height: root ? Math.max(root.scrollHeight, document.body ? document.body.scrollHeight : 0) : 0};
})
