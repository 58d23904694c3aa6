// Opens every page of the studio in every state, light and dark, wide and narrow, in a real browser over a running
// crawl; checks accessibility with axe, that nothing is asked of another origin, and goes through what people do.
//
//   node e2e/run.mjs PROGRAM OUT [ROUND...]
//
// PROGRAM is a whirlpool program; screenshots and a contact sheet go to the folder OUT. A ROUND opens all pages in one
// theme and one size of the window: light.wide, light.narrow, dark.wide, dark.narrow; all four where none is named.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { accessPages } from "./access.mjs";
import { alertPages } from "./alerts.mjs";
import { firstTime } from "./firsttime.mjs";
import { flows } from "./flows.mjs";
import { freshnessPages } from "./freshness.mjs";
import { pluginPages, pushing } from "./plugins.mjs";
import { renderingOfAReader, renderings, screenshots, switching } from "./rendering.mjs";
import { schedulePages, scheduling } from "./schedules.mjs";
import { strangers } from "./strangers.mjs";
import { api, browser, load, serve, until, web } from "./world.mjs";

const [exe, out, ...named] = process.argv.slice(2);
if (!exe || !out) throw new Error("usage: node e2e/run.mjs PROGRAM OUT [ROUND...]");
const every = ["light.wide", "dark.wide", "light.narrow", "dark.narrow"];
const rounds = named.length ? named : every;
for (const r of rounds) if (!every.includes(r)) throw new Error(`no such round: ${r}; there are ${every.join(", ")}`);
mkdirSync(out, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const sizes = { wide: { width: 1280, height: 860 }, narrow: { width: 390, height: 844 } };
const faults = [];
const shots = [];
const foreign = new Set();
let checked = 0;

const chrome = await browser();
const net = await web(exe, ["-hosts", "14", "-pages", "420", "-page-bytes", "6000", "-delay", "40ms", "-near-duplicates", "0.1", "-exact-duplicates", "0.08", "-trap-hosts", "1"]);
const srv = await serve(exe, net.dns);

/** A context that notes what goes wrong in it. */
async function context(theme, size) {
  const c = await chrome.newContext({ viewport: sizes[size], colorScheme: theme, reducedMotion: "reduce", deviceScaleFactor: size === "narrow" ? 2 : 1 });
  c.on("request", (r) => {
    const u = new URL(r.url());
    if (u.protocol.startsWith("http") && u.origin !== srv.origin) foreign.add(r.url());
  });
  c.on("weberror", (e) => faults.push(`error in a page: ${e.error().message}`));
  return c;
}

// A dark page is the light one in other colours: beside that one it needs the rules of axe about colours alone.
const all = { type: "tag", values: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };
const colours = { type: "rule", values: ["color-contrast", "link-in-text-block"] };

function rulesOf(name) {
  const [, theme, size] = name.split(".");
  return theme === "dark" && rounds.includes(`light.${size}`) ? colours : all;
}

async function look(page, name, rules = rulesOf(name)) {
  await page.waitForLoadState("load");
  await page.waitForFunction(() => document.querySelector("h1, main") && !document.querySelector(".skeleton"), null, { timeout: 20_000 }).catch(() => {});
  await page.evaluate(() => document.fonts.ready);
  const path = join(out, name + ".png");
  await page.screenshot({ path, fullPage: false });
  shots.push(name);
  await page.evaluate(axe);
  const result = await page.evaluate((runOnly) => globalThis.axe.run(document, { runOnly, resultTypes: ["violations"] }), rules);
  checked++;
  for (const v of result.violations) {
    faults.push(`${name}: axe ${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((n) => n.target.join(" ") + (n.any[0] ? ` (${n.any[0].message})` : "")).join("; ")}`);
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 1) faults.push(`${name}: the page is ${wide} px wider than the window`);
}

try {
  const first = await context("light", "wide");
  const page = await first.newPage();
  const told = { exe, net, srv, page, api: api(first, srv.origin), until, shot: (name) => look(page, name, all), out };
  await page.goto(srv.link);
  await until("the empty studio", () => page.getByRole("heading", { name: "What shall be crawled?" }).isVisible());
  const x = await flows(told, faults);
  await switching(page, srv, x.first, until, faults);
  await scheduling(page, srv, x.workflow, until, faults);
  await pushing(told, faults);
  await strangers({ chrome, srv, admin: api(first, srv.origin) }, faults);
  await firstTime({ chrome, exe, srv, net }, faults);
  const cookies = await first.cookies();
  const reader = await chrome.newContext();
  await (await reader.newPage()).goto(srv.viewer);
  await until("a reader's session", async () => (await reader.cookies()).length > 0);
  const readers = await reader.cookies();

  const pages = {
    overview: "#/",
    live: `#/x/${x.running}`,
    ended: `#/x/${x.first}`,
    hosts: `#/x/${x.first}/hosts`,
    host: `#/x/${x.first}/hosts?host=${encodeURIComponent(x.host)}`,
    urls: `#/x/${x.first}/urls`,
    "left-out": `#/x/${x.first}/urls?state=excluded`,
    "no-urls": `#/x/${x.first}/urls?q=nowhere-at-all`,
    explain: `#/x/${x.first}/explain?url=${encodeURIComponent(x.leftOut)}`,
    "explain-page": `#/x/${x.first}/explain?url=${encodeURIComponent(x.page)}`,
    "explain-empty": `#/x/${x.first}/explain`,
    records: `#/x/${x.first}/records?q=${encodeURIComponent(x.word)}`,
    record: `#/x/${x.first}/records?record=${encodeURIComponent(x.record)}`,
    "no-records": `#/x/${x.first}/records?q=qqxyzzy`,
    duplicates: `#/x/${x.first}/clusters`,
    cluster: `#/x/${x.first}/clusters?cluster=${encodeURIComponent(x.cluster)}`,
    texts: `#/diff?a=${x.first}&ka=${x.cluster}&b=${x.first}&kb=${x.copy}`,
    events: `#/x/${x.first}/events`,
    workflows: "#/w",
    workflow: `#/w/${x.workflow}`,
    version: `#/w/${x.workflow}?version=1`,
    edit: `#/w/${x.workflow}?edit=1`,
    compare: `#/compare?a=${x.first}&b=${x.second}`,
    rules: "#/rules",
    "dry-run": `#/dry-run?workflow=${x.workflow}`,
    logs: "#/logs",
    "crawl-log": `#/logs?execution=${x.first}&source=crawl`,
    nodes: "#/nodes",
    settings: "#/settings",
    missing: "#/x/no-such-execution-1",
    "no-such-page": "#/somewhere",
  };
  const round = async (theme, size) => {
    const c = await context(theme, size);
    await c.addCookies(cookies);
    const p = await c.newPage();
    for (const [name, hash] of Object.entries(pages)) {
      await load(p, srv, hash);
      await look(p, `${name}.${theme}.${size}`);
    }
    await renderings(p, srv, x.first, look, (state) => `${state}.${theme}.${size}`);
    await screenshots(p, srv, x.first, x.record, look, (state) => `${state}.${theme}.${size}`);
    await freshnessPages(p, srv, x.first, look, (state) => `${state}.${theme}.${size}`);
    await schedulePages(p, srv, x.workflow, look, (state) => `${state}.${theme}.${size}`);
    await alertPages(p, srv, look, (state) => `${state}.${theme}.${size}`);
    await pluginPages(p, srv, look, (state) => `${state}.${theme}.${size}`);
    await accessPages(p, srv, look, (state) => `${state}.${theme}.${size}`);
    // Loading: the answers are held. Error: they fail. Disconnected: the server is away.
    const state = async (name, handle) => {
      await p.route("**/api/v1/executions**", handle);
      await load(p, srv, "#/");
      await p.waitForTimeout(400);
      await look(p, `${name}.${theme}.${size}`);
      await p.unroute("**/api/v1/executions**");
    };
    await state("loading", () => {});
    await state("error", (r) =>
      r.fulfill({ status: 500, contentType: "application/problem+json", headers: { "X-Request-Id": "0123456789" }, body: JSON.stringify({ title: "Internal Server Error", status: 500, detail: "The log of the server has the reason under this request's id." }) }),
    );
    await p.goto(srv.origin + `/#/x/${x.first}`);
    await until("the page", () => p.getByText("Pages a second").first().isVisible().catch(() => false), 20_000).catch(() => {});
    await c.setOffline(true);
    await p.waitForTimeout(4500);
    await look(p, `disconnected.${theme}.${size}`);
    await c.setOffline(false);
    await c.close();
    const r = await context(theme, size);
    await r.addCookies(readers);
    const q = await r.newPage();
    await q.goto(srv.origin + `/#/x/${x.running}`);
    await look(q, `no-rights.${theme}.${size}`);
    await renderingOfAReader(q, srv, x.first, look, (state) => `${state}.${theme}.${size}`, faults);
    await r.clearCookies();
    await load(q, srv, "#/");
    await look(q, `sign-in.${theme}.${size}`);
    await load(q, srv, "#/?signin=no-role");
    await look(q, `sign-in-refused.${theme}.${size}`);
    await r.close();
  };
  await Promise.all(rounds.map((r) => round(...r.split("."))));
  await sheet();
} catch (e) {
  faults.push(`ended early: ${e.stack ?? e}`);
  faults.push("the server's output:\n" + srv.out.join("").slice(-4000));
} finally {
  await chrome.close();
  await srv.remove();
  await net.stop();
}

/** All screenshots on one page, to be looked at as a whole. */
async function sheet() {
  const names = [...new Set(shots.map((s) => s.split(".")[0]))];
  const cells = names
    .map((n) => `<h2>${n}</h2><div>${every.filter((v) => shots.includes(`${n}.${v}`)).map((v) => `<img class="${v.split(".")[1]}" src="${n}.${v}.png">`).join("")}</div>`)
    .join("");
  writeFileSync(join(out, "sheet.html"), `<style>body{font:14px sans-serif;margin:24px;background:#888}div{display:flex;gap:12px;align-items:start}img.wide{width:560px}img.narrow{width:180px}</style>${cells}`);
  const p = await chrome.newPage({ viewport: { width: 1560, height: 1000 } });
  await p.goto(pathToFileURL(resolve(out, "sheet.html")).href);
  await p.screenshot({ path: join(out, "sheet.png"), fullPage: true }).catch(() => {});
  await p.close();
}

for (const u of foreign) faults.push(`asked of another origin: ${u}`);
console.log(`studio: ${shots.length} screenshots, axe on ${checked} states, ${faults.length} faults`);
for (const f of faults) console.log("  " + f);
process.exit(faults.length ? 1 : 0);
