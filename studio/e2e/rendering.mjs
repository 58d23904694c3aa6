// The page of renders in its states. What renders brought is made up: the crawl of the other pages needs no browser of
// its own. Nothing but that one answer is.
import { load } from "./world.mjs";
const template = (host, n, rest) => ({
  host, template: n.toString(16).padStart(16, "0"), shape: "/react/N", state: "keep", since: new Date(Date.now() - 3e6).toISOString(), sent: 12, renders: 12, gained: 12, failed: 0,
  links: 148, text: 92_000, cpu_ms: 7400, wall_ms: 9100, seconds_per_link: 0.05, sentence: "template /react/N pays since 2026-11-20 10:00: 12 of 12 renders gained", ...rest,
});

const some = {
  templates: [
    template("shop.example.org", 1, {}),
    template("shop.example.org", 2, { shape: "/catalogue/of/many/things/with/a/long/path/*?page&sort", renders: 10, gained: 0, links: 0, text: 0, state: "stop", seconds_per_link: undefined, sentence: "template /catalogue/… does not pay since 2026-11-20 10:00: 0 of 10 renders gained" }),
    template("news.example.org", 3, { shape: "/*", renders: 4, gained: 2, links: 3, state: "sampling", seconds_per_link: 2.47, sentence: "template /* is being tried: 2 of 4 renders gained" }),
    template("news.example.org", 4, { shape: "/live/", renders: 3, gained: 0, failed: 3, links: 0, state: "stop", switch: "never", seconds_per_link: undefined, sentence: "template /live/ is switched to never; 0 of 3 renders gained" }),
  ],
  renders: 29, rendered: 26, gained: 14, failed: 3, pages: 240, links: 151, claimed: 610, text: 184_000, cpu_ms: 22_200, wall_ms: 27_300,
};

const json = (status, body, type = "application/json") => ({ status, contentType: type, headers: { "X-Request-Id": "0123456789" }, body: JSON.stringify(body) });
const fault = json(500, { title: "Internal Server Error", status: 500, detail: "The log of the server has the reason under this request's id." }, "application/problem+json");

/** Looks at the page with templates, without any, while it loads, and where it fails. */
export async function renderings(page, srv, id, look, name) {
  const where = "**/api/v1/executions/*/rendering";
  const open = async (state, handle) => {
    if (handle) await page.route(where, handle);
    await load(page, srv, `#/x/${id}/rendering`);
    await page.waitForTimeout(400);
    await look(page, name(state));
    await page.unroute(where);
  };
  await open("rendering-empty");
  await open("rendering", (r) => r.fulfill(json(200, some)));
  await open("rendering-loading", () => {});
  await open("rendering-error", (r) => r.fulfill(fault));
}

/** Looks at a record whose page was rendered with a picture, which is there, or on another machine. */
export async function screenshots(page, srv, id, record, look, name) {
  const where = `**/api/v1/executions/${id}/records/${encodeURIComponent(record)}`;
  const rendered = { at: new Date().toISOString(), wall_ms: 310, cpu_ms: 74, settled: "virtual", links_gained: 12, text_gained: 5120, screenshot: "screenshots/0123456789abcdef0123456789abcdef.webp" };
  await page.route(where, async (r) => {
    const whole = await (await r.fetch()).json();
    whole.record.rendered = rendered;
    await r.fulfill(json(200, whole));
  });
  const open = async (state, handle) => {
    await page.route(where + "/screenshot", handle);
    await load(page, srv, `#/x/${id}/records?record=${encodeURIComponent(record)}`);
    const shot = page.getByText("Rendered", { exact: true });
    await shot.waitFor();
    await shot.scrollIntoViewIfNeeded();
    await page.waitForTimeout(400);
    await look(page, name(state));
    await page.unroute(where + "/screenshot");
  };
  const picture = await page.screenshot();
  await open("screenshot", (r) => r.fulfill({ status: 200, contentType: "image/png", body: picture }));
  await open("screenshot-elsewhere", (r) => r.fulfill(json(404, { title: "Not Found", status: 404, detail: "The screenshot is not here." }, "application/problem+json")));
  await page.unroute(where);
}

/** A person who may only look sees the templates, and switches none. */
export async function renderingOfAReader(page, srv, id, look, name, faults) {
  const where = "**/api/v1/executions/*/rendering**";
  let asked = 0;
  await page.route(where, (r) => (r.request().method() === "POST" ? (asked++, r.fulfill(fault)) : r.fulfill(json(200, some))));
  await load(page, srv, `#/x/${id}/rendering`);
  await page.getByRole("button", { name: "never", exact: true }).first().click({ force: true });
  await look(page, name("rendering-no-rights"));
  if (asked) faults.push("flow: a reader switched a template");
  await page.unroute(where);
}

/** A template is switched by keys alone; what fails is told. */
export async function switching(page, srv, id, until, faults) {
  const where = "**/api/v1/executions/*/rendering**";
  const now = structuredClone(some);
  const sent = [];
  await page.route(where, (r) => {
    if (r.request().method() !== "POST") return r.fulfill(json(200, now));
    const body = r.request().postDataJSON();
    sent.push(body);
    if (body.switch === "always") return r.fulfill(fault);
    const t = now.templates.find((t) => t.host === body.host && t.template === body.template);
    t.switch = body.switch === "auto" ? undefined : body.switch;
    return r.fulfill(json(200, t));
  });
  await page.goto(`${srv.origin}/#/x/${id}/rendering`);
  const group = page.getByRole("group", { name: "Render /react/N of shop.example.org" });
  const button = (name) => group.getByRole("button", { name, exact: true });
  await button("always").focus();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await until("the switch", async () => (await button("never").getAttribute("aria-pressed")) === "true");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await until("what failed", () => page.getByRole("alert").isVisible());
  if (JSON.stringify(sent.map((b) => b.switch)) !== '["never","always"]' || sent[0].template !== "0000000000000001" || sent[0].host !== "shop.example.org") {
    faults.push(`flow: switches that were sent: ${JSON.stringify(sent)}`);
  }
  await page.unroute(where);
}
