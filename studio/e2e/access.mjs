// The pages Users and keys and Audit log, with people that no issuer signed in here.
import { load } from "./world.mjs";
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const full = {
  "**/api/v1/users": { items: [
    { id: "us_1", name: "Ada Example", email: "ada@example.org", issuer: "https://login.example.org", auto: "operator", role: "operator", seen: ago(12), created: ago(9000), lock: 3 },
    { id: "us_2", name: "", email: "a-person-with-a-very-long-address@department.example.org", issuer: "https://login.example.org", auto: "viewer", manual: "admin", role: "admin", by: "admin", seen: ago(4000), created: ago(9000), lock: 7 },
    { id: "us_3", name: "Bob", email: "bob@example.org", issuer: "https://login.example.org", role: "viewer", disabled: true, created: ago(9000), lock: 1 },
  ] },
  "**/api/v1/quotas": { items: [
    { of: "role:user", name: "user", role: "user", own: true, quota: { running: 2, pages_per_day: 100000, bytes: 50e9, min_delay: "2s" }, usage: { running: 0, pages_day: 0, bytes: 0, day: "2026-11-27" } },
    { of: "role:operator", name: "operator", role: "operator", own: false, quota: { running: 5 }, usage: { running: 1, pages_day: 12, bytes: 0, day: "2026-11-27" } },
    { of: "role:admin", name: "admin", role: "admin", own: false, quota: { ignore_robots: true } },
    { of: "us_2", name: "a-person-with-a-very-long-address@department.example.org", role: "user", own: false, quota: { running: 2, builtin_only: true }, usage: { running: 2, pages_day: 99999, bytes: 51e9, day: "2026-11-27" } },
  ] },
  "**/api/v1/api-keys": { items: [
    { id: "k1", name: "nightly", role: "operator", owner: "ada@example.org", scopes: ["executions", "workflows:read"], rate: 5, burst: 20, created: ago(5000), used: ago(3), expires: ago(-90 * 1440) },
    { id: "k2", name: "dashboard", role: "viewer", owner: "admin", created: ago(90) },
  ] },
};
const empty = { "**/api/v1/users": { items: [] }, "**/api/v1/quotas": { items: [] }, "**/api/v1/api-keys": { items: [] } };

/** Looks at the pages with people and keys, and without any; the audit log is the server's own. */
export async function accessPages(page, srv, look, name) {
  for (const [answers, state] of [[full, "access"], [empty, "access-empty"]]) {
    for (const [where, body] of Object.entries(answers)) await page.route(where, (r) => r.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(body) }));
    await load(page, srv, "#/access");
    await page.waitForTimeout(500);
    await look(page, name(state));
    for (const where of Object.keys(answers)) await page.unroute(where);
  }
  for (const [state, query] of [["audit", ""], ["audit-none", "?actor=nobody-at-all"]]) {
    await load(page, srv, `#/audit${query}`);
    await page.waitForTimeout(500);
    await look(page, name(state));
  }
}
