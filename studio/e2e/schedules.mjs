// The schedules of a workflow: the form tells the next five times, and what became of slots is told.
import { load } from "./world.mjs";

/** A person runs a workflow by the clock. */
export async function scheduling(page, srv, slug, until, faults) {
  await load(page, srv, `#/w/${slug}`);
  await page.getByRole("button", { name: "Run it by the clock" }).click();
  const panel = page.getByRole("complementary", { name: "Details" });
  const words = (text) => until(`the words "${text}"`, () => panel.getByText(text).first().isVisible());
  await panel.getByLabel("Time zone").fill("Europe/Copenhagen");
  await panel.getByLabel("At", { exact: true }).fill("02:30");
  await words("Every day at 02:30, Europe/Copenhagen");
  if ((await panel.locator("ol li").count()) !== 5) faults.push("flow: the form does not tell five times");
  await panel.getByLabel("When").selectOption("cron");
  await panel.getByLabel("Minute, hour, day of month, month, day of week").fill("61 * * * *");
  await until("a fault", () => panel.locator(".word-bad").isVisible());
  await panel.getByLabel("When").selectOption("week");
  await words("On Mondays at 02:30, Europe/Copenhagen");
  await panel.getByRole("button", { name: "Add" }).click();
  await until("the schedule", () => page.getByRole("table", { name: "Schedules" }).getByText("On Mondays at 02:30", { exact: false }).isVisible().catch(() => false), 10_000).catch(() =>
    until("the schedule", () => page.getByText("on Mondays at 02:30, Europe/Copenhagen").first().isVisible()),
  );
}

/** A schedule whose slots began, were skipped and were missed: made up, as that takes days. */
export async function schedulePages(page, srv, slug, look, name) {
  const at = (n) => new Date(Date.UTC(2026, 10, 24 - n, 1, 30)).toISOString();
  const slot = (n, state, rest = {}) => ({ schedule: "sc_1", workflow: "wf_1", name: "nightly", label: `${at(n).slice(0, 10)}T02:30[Europe/Copenhagen]`, at: at(n), due: at(n), state, ...rest });
  const schedule = { id: "sc_1", workflow: "wf_1", slug, name: "nightly", rule: { cron: "30 2 * * *", tz: "Europe/Copenhagen" }, words: "every day at 02:30, Europe/Copenhagen", created: at(9), lock: 1, next: slot(-1, "planned"), last: slot(0, "skipped", { reason: `execution ${slug}-2 is running` }) };
  const answers = {
    "**/api/v1/schedules?**": { items: [schedule, { ...schedule, id: "sc_2", name: "weekly", words: "on Sundays at 04:00, UTC", paused: at(1), next: undefined, last: slot(2, "started", { execution: `${slug}-1` }) }] },
    "**/api/v1/schedules/sc_1/upcoming**": { items: [-1, -2, -3, -4, -5].map((n) => slot(n, "planned")) },
    "**/api/v1/slots**": { items: [slot(0, "skipped", { reason: `execution ${slug}-2 is running` }), slot(1, "missed", { reason: "the server did not run when it was due" }), slot(2, "started", { execution: `${slug}-1` }), slot(3, "waiting", { reason: "made up for: the server did not run when it was due" })] },
  };
  for (const [where, body] of Object.entries(answers)) await page.route(where, (r) => r.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(body) }));
  for (const [state, query] of [["schedules", ""], ["schedule", "?schedule=sc_1"], ["schedule-change", "?schedule=sc_1&change=1"], ["schedule-new", "?schedule=new"]]) {
    await load(page, srv, `#/w/${slug}${query}`);
    await page.waitForTimeout(700);
    await look(page, name(state));
  }
  for (const where of Object.keys(answers)) await page.unroute(where);
}
