// Somebody in each role tries what the role forbids: twenty things by the API, from a page of the studio with its
// session and from none, and the pages of others by their addresses. All of it must be refused, and stand in the audit
// log.
//
//   node e2e/strangers.mjs PROGRAM     alone
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { api, browser, load, serve, until, web } from "./world.mjs";

const order = ["anyone", "viewer", "user", "operator", "admin"];
const wanted = 20;

/** Operations that a role forbids, spread over all there are; where there are fewer than wanted, they are tried with other ids. */
function forbidden(ops, role) {
  const all = ops.filter((o) => order.indexOf(o.role) > order.indexOf(role));
  const step = Math.max(1, all.length / wanted);
  return Array.from({ length: wanted }, (_, i) => all[Math.floor(i * step) % all.length]);
}

function operations(text) {
  const out = [];
  for (const [path, methods] of Object.entries(parse(text).paths)) {
    for (const [method, op] of Object.entries(methods)) {
      if (op["x-role"]) out.push({ method: method.toUpperCase(), path, role: op["x-role"], id: op.operationId });
    }
  }
  return out;
}

/** Asks from within a page of the studio, as a script in it or the person's console would. */
function tries(page, list) {
  return page.evaluate(async (list) => {
    const out = [];
    for (const t of list) {
      const body = t.method === "GET" || t.method === "DELETE" ? undefined : "{}";
      for (let left = 20; ; left--) {
        const r = await fetch(t.url, { method: t.method, headers: { "Content-Type": "application/json", "X-Request-Id": t.request, "If-Match": "*" }, body });
        await r.body?.cancel();
        if (r.status === 429 && left > 0) {
          await new Promise((done) => setTimeout(done, 1000 * Number(r.headers.get("Retry-After") ?? 1)));
          continue; // too many at once: that is no answer to the question
        }
        out.push(r.status);
        break;
      }
    }
    return out;
  }, list);
}

/** Whoever is behind context tries; returns what must stand in the audit log. */
async function attempt(context, srv, ops, role, faults) {
  const page = await context.newPage();
  await page.goto(srv.origin + "/#/");
  const list = forbidden(ops, role).map((o, i) => ({ ...o, request: `stranger-${role}-${i}`, url: o.path.replace(/\{(\w+)\}/g, (_, name) => `${name}-${i}`) }));
  const refused = role === "anyone" ? 401 : 403;
  (await tries(page, list)).forEach((status, i) => {
    if (status !== refused) faults.push(`strangers: ${role}: ${list[i].method} ${list[i].url}: ${status}, want ${refused}`);
  });
  await page.close();
  return list.map((t) => ({ request: t.request, status: refused, what: `${role}: ${t.method} ${t.url}`, path: t.url }));
}

/** Pages that are an admin's, opened by their addresses: they say that it is refused, and show nothing of it. */
async function addresses(context, srv, role, faults) {
  const seen = [];
  const page = await context.newPage();
  page.on("response", (r) => {
    const u = new URL(r.url());
    if (r.status() < 300 && ["/api/v1/audit", "/api/v1/users"].includes(u.pathname)) faults.push(`strangers: ${role} reads ${u.pathname} by opening a page`);
    if (r.status() === 403) seen.push(u.pathname);
  });
  for (const [hash, path] of [["#/audit", "/api/v1/audit"], ["#/access", "/api/v1/users"]]) {
    const answered = page.waitForResponse((r) => new URL(r.url()).pathname === path, { timeout: 15_000 }).catch(() => null);
    await load(page, srv, hash);
    if (!(await answered) && (await page.getByText("needs the role").count()) === 0 && (await page.locator("table tbody tr").count()) > 0) {
      faults.push(`strangers: ${role} sees rows on ${hash}`);
    }
  }
  // What the page does not let them press is refused by the server, too: the button is pressed by force.
  await load(page, srv, "#/settings");
  const change = page.getByRole("button", { name: "Change" }).first();
  await change.waitFor();
  if ((await change.getAttribute("aria-disabled")) !== "true") faults.push(`strangers: ${role} may press "Change" on the settings`);
  await page.close();
  return seen;
}

/** Tries as everybody, and reads the audit log as an admin. */
export async function strangers({ chrome, srv, admin }, faults) {
  const ops = operations(await (await fetch(srv.origin + "/api/openapi.yaml")).text());
  const begun = faults.length;
  let expected = [];
  for (const role of ["anyone", "viewer", "user", "operator"]) {
    const context = await chrome.newContext();
    if (role !== "anyone") {
      const link = await admin("POST", "/login-urls", { role });
      const page = await context.newPage();
      await page.goto(link.url);
      await until(`a session of the role ${role}`, async () => (await context.cookies()).length > 0);
      await page.close();
      await addresses(context, srv, role, faults);
    }
    expected = expected.concat(await attempt(context, srv, ops, role, faults));
    await context.close();
  }
  const entries = new Map();
  for (let cursor = ""; ; ) {
    const l = await admin("GET", "/audit?refused=true&limit=200" + (cursor ? "&cursor=" + encodeURIComponent(cursor) : ""));
    for (const e of l.items) if (e.status !== 429) entries.set(e.request, e);
    if (!(cursor = l.next ?? "")) break;
  }
  for (const e of expected) {
    const found = entries.get(e.request);
    if (!found) faults.push(`strangers: not in the audit log: ${e.what}`);
    else if (found.status !== e.status || found.path !== e.path) faults.push(`strangers: the audit log has ${found.status} ${found.path} of ${e.what}`);
  }
  console.log(`strangers: ${expected.length} things tried in four roles, ${faults.length - begun} faults`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const faults = [];
  const exe = process.argv[2];
  const net = await web(exe, ["-hosts", "2", "-pages", "10"]);
  const srv = await serve(exe, net.dns);
  const chrome = await browser();
  try {
    const first = await chrome.newContext();
    await (await first.newPage()).goto(srv.link);
    await until("an admin's session", async () => (await first.cookies()).length > 0);
    await strangers({ chrome, srv, admin: api(first, srv.origin) }, faults);
  } finally {
    await chrome.close();
    await srv.remove();
    await net.stop();
  }
  for (const f of faults) console.log("  " + f);
  process.exit(faults.length ? 1 : 0);
}
