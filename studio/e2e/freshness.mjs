// The page of freshness in its states. The figures are made up: the crawl of the other pages visits each URL once,
// which is the empty state. Nothing but that one answer is.
import { load } from "./world.mjs";
const now = Date.now();
const iso = (ms) => new Date(now + ms).toISOString();
const rates = [[0, 0.25, 12, 0.31], [0.25, 1, 160, 0.52], [1, 3, 410, 0.7], [3, 10, 1250, 0.84], [10, 30, 5120, 0.93], [30, 100, 2300, 0.97], [100, 0, 0, 0]];
const page = (n, rest) => ({
  url: `https://news.example.org/politics/a-long-title-of-a-page-that-is-read-by-many-people-${n}.html`, visits: 9 + n, changes: n, changes_every_days: 0.4 * (n + 1), checked_at: iso(-4e6),
  due: iso(6e5 * (n - 2)), weight: 1, why: "a visit is worth as much then as those of other pages", ...rest,
});

const full = {
  continuous: true,
  figures: {
    at: iso(0), fresh: 0.914, kept: 9252, gone: 31, withdrawn: 4, under_way: 12, visits: 48_213, changed: 17_004, budget: 10_000, wanted: 10_003, threshold: 0.42, longest: "2880h0m0s",
    last_day: 9_874, changed_last_day: 3_301, due_now: 3, late: "12m30s", capped_hosts: 2,
    rates: rates.map(([from_days, to_days, pages, fresh]) => ({ from_days, to_days, pages, fresh })),
    hosts: [{ host: "https://news.example.org", pages: 3_100, allows_per_day: 1382.4, wanted_per_day: 2870.3 }, { host: "http://slow.example.org:8080", pages: 40, allows_per_day: 4.5, wanted_per_day: 9.25 }],
    curve: Array.from({ length: 120 }, (_, i) => ({ at: iso((i - 119) * 9e5), fresh: 0.92 - 0.3 * Math.exp(-i / 18) + 0.01 * Math.sin(i / 3) })),
  },
  due: [page(0, { due: iso(-7.5e5), why: "it is due: it waits for its turn" }), page(1, {}), page(2, {}), page(3, { changes_every_days: 61 })],
};

const none = { continuous: true, due: [] };
const json = (status, body, type = "application/json") => ({ status, contentType: type, headers: { "X-Request-Id": "0123456789" }, body: JSON.stringify(body) });
const fault = json(500, { title: "Internal Server Error", status: 500, detail: "The log of the server has the reason under this request's id." }, "application/problem+json");

/** Looks at the page of a crawl that visits once, with figures, before the first ones, while it loads, and where it fails. */
export async function freshnessPages(page, srv, id, look, name) {
  const where = "**/api/v1/executions/*/freshness";
  const open = async (state, handle) => {
    if (handle) await page.route(where, handle);
    await load(page, srv, `#/x/${id}/freshness`);
    await page.waitForTimeout(400);
    await look(page, name(state));
    await page.unroute(where);
  };
  await open("freshness-once");
  await open("freshness", (r) => r.fulfill(json(200, full)));
  await open("freshness-none", (r) => r.fulfill(json(200, none)));
  await open("freshness-loading", () => {});
  await open("freshness-error", (r) => r.fulfill(fault));
}
