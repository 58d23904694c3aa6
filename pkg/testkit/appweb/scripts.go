package appweb

// script is the application: a list from an API, a chunk that is loaded when it is needed, a link after a timer, and
// what a page must not get.
const script = `const root = document.getElementById("root");
fetch("/api/list?of=" + encodeURIComponent(location.pathname)).then(r => r.json()).then(async list => {
  const { show } = await import("/chunk-1a2b3c4d.js");
  root.innerHTML = "<h1>Page " + location.pathname + "</h1>";
  for (const n of list) root.append(show(n));
  setTimeout(() => { const a = document.createElement("a"); a.href = "/late/1"; a.textContent = "late"; root.append(a) }, 3000);
});
fetch("/private/data").catch(() => 0);
fetch("/api/send", { method: "POST", body: "x" }).catch(() => 0);
new Image().src = "/pixel.png";
navigator.sendBeacon("/beacon", "x");
try { new WebSocket("ws://" + location.host + "/socket") } catch (e) {}
try { new EventSource("/events") } catch (e) {}
if (navigator.serviceWorker) navigator.serviceWorker.register("/worker.js").catch(() => 0);
`

const chunk = `export function show(n) { const p = document.createElement("p"), a = document.createElement("a");
  a.href = "/item/" + n; a.textContent = "Item number " + n; p.append("It is the item number " + n + " of a long list. ", a); return p }
`
