// The pages Users and keys and Audit log, with people that no issuer signed in here.
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const full = {
  "**/api/v1/users": { items: [
    { id: "us_1", name: "Ada Example", email: "ada@example.org", issuer: "https://login.example.org", auto: "operator", role: "operator", seen: ago(12), created: ago(9000), lock: 3 },
    { id: "us_2", name: "", email: "a-person-with-a-very-long-address@department.example.org", issuer: "https://login.example.org", auto: "viewer", manual: "admin", role: "admin", by: "admin", seen: ago(4000), created: ago(9000), lock: 7 },
    { id: "us_3", name: "Bob", email: "bob@example.org", issuer: "https://login.example.org", role: "viewer", disabled: true, created: ago(9000), lock: 1 },
  ] },
  "**/api/v1/api-keys": { items: [
    { id: "k1", name: "nightly", role: "operator", owner: "ada@example.org", scopes: ["executions", "workflows:read"], rate: 5, burst: 20, created: ago(5000), used: ago(3), expires: ago(-90 * 1440) },
    { id: "k2", name: "dashboard", role: "viewer", owner: "admin", created: ago(90) },
  ] },
};
const empty = { "**/api/v1/users": { items: [] }, "**/api/v1/api-keys": { items: [] } };

/** Looks at the pages with people and keys, and without any; the audit log is the server's own. */
export async function accessPages(page, srv, look, name) {
  for (const [answers, state] of [[full, "access"], [empty, "access-empty"]]) {
    for (const [where, body] of Object.entries(answers)) await page.route(where, (r) => r.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(body) }));
    await page.goto("about:blank");
    await page.goto(`${srv.origin}/#/access`);
    await page.waitForTimeout(500);
    await look(page, name(state));
    for (const where of Object.keys(answers)) await page.unroute(where);
  }
  for (const [state, query] of [["audit", ""], ["audit-none", "?actor=nobody-at-all"]]) {
    await page.goto("about:blank");
    await page.goto(`${srv.origin}/#/audit${query}`);
    await page.waitForTimeout(500);
    await look(page, name(state));
  }
}
