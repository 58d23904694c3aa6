// What a page has become: its document with open shadow roots, and its links. It runs in a world of its own, in which
// nothing is as the page may have changed it, and which may look into all frames.
(max => {
  const most = {links: 20000, frames: 100, depth: 4};
  let frames = 0;

  // walk visits the elements below a root, and those below the shadow roots in it.
  const walk = (root, visit, roots, depth) => {
    for (const el of root.querySelectorAll("*")) {
      visit(el);
      if (el.shadowRoot && depth < 32) {
        roots.push(el.shadowRoot);
        walk(el.shadowRoot, visit, roots, depth + 1);
      }
    }
  };

  const read = (doc, depth, out) => {
    const found = {url: doc.URL, links: []};
    out.push(found);
    const roots = [];
    walk(doc, el => {
      if ((el.localName === "a" || el.localName === "area") && el.hasAttribute("href")) {
        if (found.links.length < most.links && typeof el.href === "string" && el.href) found.links.push(el.href);
      } else if (el.localName === "iframe" || el.localName === "frame") {
        let inner = null;
        try { inner = el.contentDocument; } catch { /* of another process */ }
        if (inner && depth < most.depth && ++frames <= most.frames) read(inner, depth + 1, out);
      }
    }, roots, 0);
    return roots;
  };

  const documents = [];
  const roots = read(document, 0, documents);
  const root = document.documentElement;
  let html = "";
  if (root) {
    const shell = root.cloneNode(false).outerHTML;
    const end = shell.lastIndexOf("</");
    const type = document.doctype ? "<!DOCTYPE " + document.doctype.name + ">" : "";
    html = type + shell.slice(0, end) + root.getHTML({serializableShadowRoots: true, shadowRoots: roots}) + shell.slice(end);
  }
  return {html: html.slice(0, max), cut: html.length > max, documents,
    height: root ? Math.max(root.scrollHeight, document.body ? document.body.scrollHeight : 0) : 0};
})
