package e2e_test

// shape is a small application whose links only scripts make. Its page is /NAME/; each link that needs no interaction
// leads to /t/NAME/N.
type shape struct {
	name  string
	page  string            // HTML of /NAME/
	files map[string]string // by path below /NAME/, which may have a query; those of other hosts by //HOST/PATH
	finds int               // links, numbered from 1
}

// linkScript is what a script writes to make the link n of the application that it is part of. The server puts the name
// in the place of NAME.
const linkScript = `const link = n => { const a = document.createElement("a"); a.href = "/t/NAME/" + n; a.textContent = "target " + n; return a };
const put = n => document.body.append(link(n));
`

// shell is a page that has a script and nothing else.
const shell = `<!doctype html><title>NAME</title><div id="root"></div><script src="/NAME/app.js"></script>`

const moduleShell = `<!doctype html><title>NAME</title><div id="root"></div><script type="module" src="/NAME/app.js"></script>`

func script(body string) map[string]string { return map[string]string{"app.js": linkScript + body} }

func with(files map[string]string, more ...string) map[string]string {
	for i := 0; i+1 < len(more); i += 2 {
		files[more[i]] = more[i+1]
	}
	return files
}

// shapes are what applications do to come by their links.
var shapes = []shape{
	{"timers", shell,
		script(`setTimeout(() => put(1), 2500); requestAnimationFrame(() => put(2)); requestIdleCallback(() => put(3));
		Promise.resolve().then(() => put(4)); queueMicrotask(() => put(5));
		const c = new MessageChannel(); c.port1.onmessage = () => put(6); c.port2.postMessage(1);
		new MutationObserver((_, o) => { o.disconnect(); put(7) }).observe(root, {childList: true}); root.append("x");
		setTimeout(() => setTimeout(() => setTimeout(() => put(8), 1000), 1000), 1000);
		const at = performance.now(); requestAnimationFrame(t => { if (t >= at && t - at < 4000) put(9) })`), 9},
	{"observers", shell,
		script(`const s = document.createElement("div"); s.textContent = "more"; root.append(s); let page = 0;
		new IntersectionObserver(async (es, o) => { if (es[0].isIntersecting && page < 3) { const r = await fetch("/NAME/api?page=" + ++page);
			for (const n of await r.json()) root.insertBefore(link(n), s); o.unobserve(s); o.observe(s) } }).observe(s);
		new ResizeObserver((_, o) => { o.disconnect(); put(7) }).observe(document.body)`),
		7},
	{"shadow", shell,
		script(`const a = document.createElement("div"), b = document.createElement("div"); document.body.append(a, b);
		a.attachShadow({mode: "open"}).append(link(1)); b.attachShadow({mode: "closed"}).append(link(2));
		customElements.define("x-card", class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "closed"}).append(link(this.getAttribute("n"))) } });
		document.body.insertAdjacentHTML("beforeend", "<x-card n=3></x-card>");
		class Y extends HTMLElement { constructor() { super(); this.attachInternals(); this.attachShadow({mode: "closed", slotAssignment: "manual"}).innerHTML = "<a href=/t/NAME/4>4</a>" } }
		customElements.define("y-card", Y); document.body.append(new Y())`), 4},
	{"element",
		`<!doctype html><title>NAME</title><shop-list></shop-list><script type="module" src="/NAME/app.js"></script>`,
		script(`customElements.define("shop-list", class extends HTMLElement { async connectedCallback() {
			const r = await fetch("/NAME/api"); for (const n of await r.json()) this.append(link(n)) } })`), 2},
	{"maps",
		`<!doctype html><title>NAME</title><script type="importmap">{"imports":{"lib":"/NAME/lib.js","far/":"http://cdn.test:PORT/NAME/"}}</script>
		<main></main><script type="module">import {link} from "lib"; import {n} from "far/n.js"; document.body.append(link(1), link(n))</script>`,
		map[string]string{"lib.js": linkScript + "export {link}", "//cdn.test/n.js": "export const n = 2"}, 2},
	{"chain", moduleShell, chain(9), 1},
	{"many", moduleShell, many(70), 1},
	{"lazy", moduleShell, with(script(
		`const routes = {list: () => import("./list.js"), side: () => import(new URL("side.js", import.meta.url).href)};
		for (const r of Object.values(routes)) (await r()).default(put)`), "list.js", `import d from "./d.json" with {type: "json"}; export default put => d.forEach(put)`,
		"d.json", "[1,2]", "side.js",
		`import sheet from "./s.css" with {type: "css"}; export default put => put(sheet ? 3 : 0)`, "s.css", "a{}"), 3},
	{"preload",
		`<!doctype html><title>NAME</title><link rel="modulepreload" crossorigin href="/NAME/lib.js"><link rel="preload" as="fetch" crossorigin href="/NAME/api">
		<div id="root"></div><script type="module" crossorigin src="/NAME/app.js"></script>`, map[string]string{"lib.js": linkScript + "export {put}",
			"app.js": `import {put} from "./lib.js"; (await (await fetch("/NAME/api")).json()).forEach(put)`}, 2},
	{"bust", shell,
		script(`const get = u => new Promise(done => { const x = new XMLHttpRequest(); x.open("GET", u); x.onload = () => done(JSON.parse(x.responseText)); x.send() });
		get("/NAME/api?_=" + Date.now()).then(l => l.forEach(put)); get("/NAME/more?r=" + Math.random()).then(l => l.forEach(put));
		get("/NAME/and?t=" + new Date().toISOString() + performance.now()).then(l => l.forEach(put))`), 6},
	{"jsonp", shell,
		script(`const cb = "cb" + Math.floor(Math.random() * 1e9) + "_" + Date.now(); window[cb] = l => l.forEach(put);
		const s = document.createElement("script"); s.src = "/NAME/jsonp?callback=" + cb; document.head.append(s)`), 2},
	{"headers", shell,
		script(`fetch("/NAME/negotiated", {headers: {Accept: "application/json"}}).then(r => r.json()).then(l => l.forEach(put));
		fetch("/NAME/xhr", {headers: {"X-Requested-With": "XMLHttpRequest"}}).then(r => r.json()).then(l => l.forEach(put));
		fetch("/NAME/bearer", {headers: {Authorization: "Bearer public"}}).then(r => r.json()).then(l => l.forEach(put));
		fetch("/NAME/apikey", {headers: {apikey: "public", "X-Client": "web"}}).then(r => r.json()).then(l => l.forEach(put))`), 8},
	{"cross", shell, script(`fetch("http://api.test:PORT/NAME/api").then(r => r.json()).then(l => l.forEach(put));
		fetch("http://api.test:PORT/NAME/cred", {credentials: "include"}).then(r => r.json()).then(l => l.forEach(put));
		fetch("http://api.test:PORT/NAME/key", {credentials: "include", headers: {"X-Key": "a", "Content-Type": "application/json"}}).then(r => r.json()).then(l => l.forEach(put))`), 6},
	{"graphql", shell,
		script(`fetch("/NAME/graphql?query=" + encodeURIComponent("query List($first: Int) { items(first: $first) { id url } }") + "&variables=" +
		encodeURIComponent(JSON.stringify({first: 2})), {headers: {"content-type": "application/json"}}).then(r => r.json()).then(d => d.data.items.forEach(i => put(i.id)))`), 2},
	{"sync", shell,
		script(`const x = new XMLHttpRequest(); x.open("GET", "/NAME/api", false); x.send(); JSON.parse(x.responseText).forEach(put)`), 2},
	{"stream", shell,
		script(`(async () => { const r = (await fetch("/NAME/lines")).body.pipeThrough(new TextDecoderStream()).getReader(); let text = "";
		for (;;) { const {done, value} = await r.read(); if (done) break; text += value } text.trim().split("\n").forEach(put) })()`), 2},
	{"workers", shell, with(script(
		`new Worker(URL.createObjectURL(new Blob(["postMessage(1)"]))).onmessage = e => put(e.data);
		new Worker("/NAME/w.js", {type: "module"}).onmessage = e => e.data.forEach(put);
		new Worker("/NAME/c.js").onmessage = e => put(e.data)`), "w.js", `import {get} from "./g.js"; postMessage(await get())`,
		"g.js", `export const get = async () => (await fetch("/NAME/api?from=2")).json()`, "c.js",
		`importScripts("/NAME/i.js"); postMessage(v)`, "i.js", `self.v = 4`), 4},
	{"wasm", shell, script(`WebAssembly.instantiateStreaming(fetch("/NAME/a.wasm")).then(m => put(m.instance.exports.n()));
		fetch("/NAME/a.wasm").then(r => r.arrayBuffer()).then(b => WebAssembly.instantiate(b)).then(m => put(m.instance.exports.n() + 1))`), 2},
	{"serviceworker", shell, with(
		script(`(async () => { try { if (navigator.serviceWorker) { await navigator.serviceWorker.register("/NAME/sw.js") } } catch (e) {} put(1) })();
		(async () => { if (navigator.serviceWorker) await Promise.race([navigator.serviceWorker.ready, new Promise(d => setTimeout(d, 1000))]); put(2) })()`),
		"sw.js", "self.oninstall = () => skipWaiting()"), 2},
	{"moves", `<!doctype html><title>NAME</title><script>location.replace("/NAME/home")</script>`,
		map[string]string{"home": shell,
			"app.js": linkScript + `put(1)`}, 1},
	{"pushed", shell, script(`history.replaceState({}, "", "/NAME/list?page=1"); addEventListener("popstate", () => 0);
		if (location.pathname === "/NAME/list") { history.pushState({}, "", "/NAME/list?page=2"); const a = link(1); a.href = "../t/NAME/1"; document.body.append(a) }
		setTimeout(() => history.pushState({}, "", "/t/NAME/2"), 2500)`), 2},
	{"frames", `<!doctype html><title>NAME</title><div id=root></div><script src="/NAME/app.js"></script>`, with(script(`
		document.body.insertAdjacentHTML("beforeend", "<iframe src=/NAME/inner.html></iframe><iframe srcdoc='<a href=/t/NAME/2>2</a>'></iframe><iframe loading=lazy src=/NAME/lazy.html></iframe>")`),
		"inner.html", `<body><script>document.body.innerHTML = "<a href=/t/NAME/1>1</a>"</script>`, "lazy.html",
		`<body><script>document.body.innerHTML = "<a href=/t/NAME/3>3</a>"</script>`), 3},
	{"storage", shell,
		script(`localStorage.setItem("a", "1"); sessionStorage.b = "2"; document.cookie = "c=3; path=/"; if (localStorage.getItem("a") === "1") put(1);
		if (sessionStorage.b === "2") put(2); if (document.cookie.includes("c=3")) put(3);
		const q = indexedDB.open("d", 1); q.onupgradeneeded = () => q.result.createObjectStore("s"); q.onsuccess = () => { const t = q.result.transaction("s", "readwrite");
			t.objectStore("s").put(1, "k"); t.oncomplete = () => put(4) };
		(self.caches ? caches.open("x").then(c => c.put("/NAME/k", new Response("v"))).catch(() => 0) : Promise.resolve()).then(() => put(5))`), 5},
	{"base",
		`<!doctype html><title>NAME</title><base href="/NAME/deep/"><div id="root"></div><script src="app.js"></script>`,
		map[string]string{
			"deep/app.js": `fetch("api").then(r => r.json()).then(l => { document.body.insertAdjacentHTML("beforeend", l.map(n => "<a href='../../t/NAME/" + n + "'>x</a>").join("")) })`,
			"deep/api":    "[1,2]"}, 2},
	{"hash", shell,
		script(`const views = {"": () => "<a href='#/list'>list</a>", "#/list": () => "<a href='/t/NAME/2'>2</a><a href='#/more'>more</a>", "#/more": () => "<a href='/t/NAME/3'>3</a>"};
		const show = () => root.innerHTML = "<a href='/t/NAME/1'>1</a>" + (views[location.hash] || views[""])(); addEventListener("hashchange", show); show()`), 3},
	{"scroll",
		`<!doctype html><title>NAME</title><style>.i{height:400px}</style><div id="root"></div><script src="/NAME/app.js"></script>`,
		script(`let n = 0; const more = () => { for (let i = 0; i < 60; i++) { const d = document.createElement("p"); d.append(link(++n)); root.append(d) } };
		more(); addEventListener("scroll", () => { if (n < 100 && innerHeight + scrollY >= document.documentElement.scrollHeight - 200) more() })`), 120},
	{"box", shell,
		script(`root.innerHTML = "<div id=box style='height:600px;overflow:auto'><div id=list></div></div><div id=plain></div>"; let n = 0;
		const more = (to, k) => { for (let i = 0; i < k; i++) { const d = document.createElement("p"); d.append(link(++n)); to.append(d) } };
		more(list, 30); box.addEventListener("scroll", () => { if (n < 50 && box.scrollTop + box.clientHeight >= box.scrollHeight - 50) more(list, 20) });
		let once = 0; plain.addEventListener("scroll", () => { if (!once++) more(plain, 10) })`), 60},
	{"sized", shell,
		script(`root.style.cssText = "width:900px;height:500px"; let n = 0; const rows = h => { while (n < h / 50) root.append(link(++n)) };
		new ResizeObserver(([e]) => rows(e.contentRect.height)).observe(root); const late = document.createElement("div");
		setTimeout(() => { root.style.height = "800px" }, 700); new ResizeObserver((es, o) => es.forEach(e => { if (e.borderBoxSize[0].inlineSize > 100) { o.unobserve(e.target); document.body.append(link(17)) } })).observe(document.body)`), 17},
	{"attributes", shell,
		script(`root.innerHTML = "<div data-href='/t/NAME/1'>a</div><button onclick=\"location.href='/t/NAME/2'\">b</button><tr></tr>" +
		"<span role=link tabindex=0 data-url='/t/NAME/3'>c</span><form action='/t/NAME/4'><button>d</button></form><button routerlink='/t/NAME/5'>e</button>" +
		"<li onclick='window.open(\"/t/NAME/6\", \"_blank\")'>f</li><i onclick='history.pushState({a: 1}, \"\", \"/t/NAME/7\")'>g</i>" +
		"<u data-href='javascript:void 0'></u><u data-href='/NAME/x.js'></u><u onclick=\"location.href='/NAME/no/'+id\"></u>"`), 7},
	{"frameloop", shell,
		script(`let n = 0; const step = () => { if (n < 40) { put(++n); requestAnimationFrame(step) } }; requestAnimationFrame(step);
		const gone = requestAnimationFrame(() => put(99)); cancelAnimationFrame(gone)`), 40},
	{"cards", shell,
		script(`const seen = new IntersectionObserver((es, o) => es.forEach(e => { if (!e.isIntersecting) return; o.unobserve(e.target);
		fetch("/NAME/api?from=" + e.target.dataset.n).then(r => r.json()).then(l => e.target.append(...l.map(link))) }), {rootMargin: "200px 0px", threshold: [0, .5]});
		for (let i = 0; i < 4; i++) { const d = document.createElement("section"); d.dataset.n = 2 * i + 1; d.style.minHeight = "300px"; root.append(d); seen.observe(d) }`), 8},
	{"hydrated",
		`<!doctype html><title>NAME</title><div id="root"><main><h1>Products of the season</h1><p>A page that the server has rendered, with words of its own. More of it comes when
		the scripts have taken over, as most shops do it today.</p><ul><li><a href="/t/NAME/1">One</a></li></ul><div id="more">Loading</div></main></div>
		<script id="__NEXT_DATA__" type="application/json">{"props":{"pageProps":{"first":1}},"page":"/","buildId":"x1"}</script><script src="/NAME/_next/app.js" defer></script>`,
		map[string]string{"_next/app.js": linkScript +
			`fetch("/NAME/api?from=2").then(r => r.json()).then(l => more.replaceChildren(...l.map(link)))`}, 3},
	{"refresh", shell,
		script(`const m = document.createElement("meta"); m.httpEquiv = "refresh"; m.content = "1;url=/t/NAME/1"; document.head.append(m)`), 1},
	{"window", shell,
		script(`const rows = 400; root.style.cssText = "position:relative;height:" + rows * 30 + "px"; const show = () => { root.innerHTML = ""; const first = Math.floor(scrollY / 30);
		for (let i = first; i < Math.min(first + 60, rows); i++) { const a = link(i + 1); a.style.cssText = "position:absolute;top:" + i * 30 + "px"; root.append(a) } };
		addEventListener("scroll", show); show()`), 60},
	{"writes", `<!doctype html><title>NAME</title><script src="/NAME/app.js"></script>`, with(map[string]string{
		"app.js": `document.write("<a href=/t/NAME/1>1</a><script src=/NAME/two.js><\/script>")`,
		"two.js": `document.write("<a href=/t/NAME/2>2</a>")`}), 2},
	{"island",
		`<!doctype html><title>NAME</title><div id="root"></div><script id="data" type="application/json">{"list":[1,2,3]}</script><script src="/NAME/app.js" defer></script>`,
		script(`JSON.parse(document.getElementById("data").textContent).list.forEach(put)`), 3},
	{"images", shell,
		script(`for (let i = 0; i < 260; i++) { const m = new Image(); m.src = "/NAME/i/" + i + ".png"; root.append(m) }
		fetch("/NAME/api").then(r => r.json()).then(l => l.forEach(put))`), 2},
	{"onload", shell,
		script(`const l = document.createElement("link"); l.rel = "stylesheet"; l.href = "/NAME/s.css"; l.onload = () => put(1); document.head.append(l);
		document.fonts.ready.then(() => put(2)); const m = new Image(); m.onload = m.onerror = () => put(3); m.src = "/NAME/x.png";
		Promise.race([document.fonts.load("12px Nice"), new Promise(d => setTimeout(d, 500))]).then(() => put(4));
		addEventListener("load", () => put(5)); const k = new Image(); k.onload = () => put(6); k.src = "/NAME/only.png"`), 6},
	{"socket", shell,
		script(`const poll = () => fetch("/NAME/api").then(r => r.json()).then(l => l.forEach(put)); const s = new WebSocket("ws://" + location.host + "/NAME/ws"); s.onerror = poll`), 2},
	{"online", shell,
		script(`if (navigator.onLine) put(1); if (document.visibilityState === "visible" && !document.hidden) put(2); if (document.hasFocus()) put(3);
		if (navigator.languages.length) put(4); if (!navigator.connection || navigator.connection.effectiveType !== "slow-2g") put(5)`), 5},
	{"transition", shell,
		script(`if (document.startViewTransition) document.startViewTransition(() => put(1)); else put(1);
		const a = document.createElement("div"); root.append(a); a.animate([{opacity: 0}, {opacity: 1}], 300).finished.then(() => put(2));
		a.style.cssText = "transition:opacity .2s;opacity:1"; matchMedia("(min-width: 600px)").matches && put(3);
		scheduler.postTask(() => put(4), {priority: "background"})`), 4},
	{"navigation", shell,
		script(`navigation.addEventListener("navigate", e => { if (e.canIntercept && e.destination.url.includes("/NAME/in")) e.intercept({handler: async () => put(1)}) });
		navigation.navigate("/NAME/in")`), 1},
	{"retry", shell,
		script(`const get = async (u, n) => { try { const r = await fetch(u); if (!r.ok) throw 0; return r.json() } catch (e) { if (n < 2) { await new Promise(d => setTimeout(d, 300)); return get(u, n + 1) } root.textContent = "failed"; throw e } };
		get("/NAME/api", 0).then(l => l.forEach(put))`), 2},
	{"waterfall", shell,
		script(`(async () => { let next = "/NAME/page?n=1"; while (next) { const d = await (await fetch(next)).json(); put(d.n); next = d.next } })()`), 6},
	{"late", shell, script(`setTimeout(() => put(1), 4500)`), 1},
	{"busy", shell,
		script(`const t = performance.now(); let x = 0; for (let i = 0; i < 3e7; i++) x += i % 7; put(x > 0 ? 1 : 0); fetch("/NAME/api?from=2").then(r => r.json()).then(l => l.forEach(put))`), 3},
	{"svg", shell,
		script(`root.innerHTML = '<svg><a href="/t/NAME/1"><text>x</text></a><a xlink:href="/t/NAME/2"><text>y</text></a></svg><map><area href="/t/NAME/3"></map>'`), 3},
	{"static",
		`<!doctype html><title>NAME</title><header><h1>The shop of many things</h1><nav><a href="/">Home</a> <a href="/static/">Static</a> <a href="/timers/">Timers</a></nav></header>
		<main id="list"></main><footer><p>All rights reserved. This page has a footer with words that stand in its HTML, so that it looks as if it had something to say,
		though what people come for is put into it by a script. Imprint, privacy, terms and conditions apply as they do everywhere.</p></footer>
		<script src="/NAME/shop.js" defer></script>`, map[string]string{"shop.js": linkScript + `fetch("/NAME/api").then(r => r.json()).then(l => l.forEach(put))`}, 2},
	{"skeleton",
		`<!doctype html><title>NAME</title><div class="page"><div class="cards"><div class="card">Loading</div><div class="card">Loading</div></div><p>Welcome to the catalogue.
		It has all the things that you may want to have, from here and from there, new ones and old ones, large and small, and each of them has a page of its own with pictures and a price.
		Use the list below to find what you look for. There is a newsletter too.</p><a href="/">Home</a></div>
		<script type="module" src="/NAME/entry.mjs"></script>`, map[string]string{"entry.mjs": linkScript + `fetch("/NAME/api").then(r => r.json()).then(l => { document.querySelector(".cards").replaceChildren(...l.map(link)) })`}, 2},
	{"csp",
		`<!doctype html><title>NAME</title><meta http-equiv="Content-Security-Policy" content="default-src 'self'; script-src 'self' 'nonce-a1'; connect-src 'self'"><div id="root"></div>
		<script nonce="a1">window.__boot = 1</script><script nonce="a1" src="/NAME/app.js" integrity=""></script>`, script(`if (window.__boot) put(1); fetch("/NAME/api?from=2").then(r => r.json()).then(l => l.forEach(put))`), 3},
	{"redirected", shell, with(script(`fetch("/NAME/old").then(r => r.json()).then(l => l.forEach(put))`), "old",
		"→/NAME/api"), 2},
	{"vanishing", shell,
		script(`put(1); const a = link(2); document.body.append(a); setTimeout(() => a.remove(), 1200); setTimeout(() => put(3), 2000)`), 3},
}
