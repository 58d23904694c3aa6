// The page Alerts in its states. What fires is made up, as that takes crawls that fail.
import { load } from "./world.mjs";
const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const tries = [
  { at: ago(12), error: "the receiver answered 500", answer: "try later", took_ms: 31 },
  { at: ago(11), answer: "thanks", took_ms: 12 },
];
const full = {
  "**/api/v1/alerts": { items: [
    { rule: "failed", subject: "postings", state: "firing", severity: "critical", text: "execution postings-3 failed: the seeds cannot be read", value: 1, execution: "postings-3", since: ago(12), fired: ago(12) },
    { rule: "slot", subject: "postings/nightly", state: "firing", severity: "warning", text: "slot 2026-11-24T02:30 was skipped: execution postings-2 is running", value: 1, since: ago(300), fired: ago(300) },
    { rule: "stalled", subject: "news-7", state: "pending", severity: "warning", text: "execution news-7 has fetched no page for 4m10s, and 812 URLs are queued", value: 250, execution: "news-7", since: ago(4) },
  ] },
  "**/api/v1/alert-rules": { items: [
    { name: "failed", on: "failed", severity: "critical", channels: ["ops", "mail"] },
    { name: "slot", on: "slot", workflow: "postings", channels: ["ops"], silenced_until: ago(-60) },
    { name: "stalled", on: "stalled", for: "10m", disabled: true },
    { name: "blocked", on: "blocked", threshold: 0.3 },
  ] },
  "**/api/v1/alert-channels": { items: [{ name: "ops", kind: "webhook", url: "${HOOK}", secrets: ["${HOOK_SECRET}"] }, { name: "mail", kind: "email", host: "smtp.example.org", from: "crawler@example.org", to: ["ops@example.org"] }] },
  "**/api/v1/deliveries?**": { items: [
    { id: "dl_1", channel: "ops", rule: "failed", type: "org.whirlpool.alert.firing", title: "critical: failed postings is firing", text: "execution postings-3 failed: the seeds cannot be read\n\nRule: failed\n", state: "sent", created: ago(12), left: 10, tries },
    { id: "dl_2", channel: "mail", rule: "failed", type: "org.whirlpool.alert.firing", title: "critical: failed postings is firing", text: "", state: "due", created: ago(12), next: ago(-3), left: 9, tries: tries.slice(0, 1) },
    { id: "dl_3", channel: "ops", type: "org.whirlpool.test", title: "Whirlpool: a test of channel ops", text: "", state: "dead", created: ago(90), left: 0, tries: [{ at: ago(90), error: "webhooks do not go to addresses that are not public (loopback): start the server with --allow-private to allow it", took_ms: 2 }] },
  ] },
};
const empty = Object.fromEntries(Object.keys(full).map((where) => [where, { items: [] }]));

/** Looks at the page with alerts and without any, and at its panels. */
export async function alertPages(page, srv, look, name) {
  for (const [answers, views] of [[full, { alerts: "", "alert-rule": "?rule=failed", "alert-channel": "?channel=ops", "alert-mail": "?channel=mail", delivery: "?delivery=dl_1" }], [empty, { "alerts-empty": "", "alert-new-rule": "?rule=%2B" }]]) {
    for (const [where, body] of Object.entries(answers)) await page.route(where, (r) => r.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(body) }));
    for (const [state, query] of Object.entries(views)) {
      await load(page, srv, `#/alerts${query}`);
      await page.waitForTimeout(500);
      await look(page, name(state));
    }
    for (const where of Object.keys(answers)) await page.unroute(where);
  }
}
