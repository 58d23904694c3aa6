// What people do: the first crawl from an empty studio, pause, resume and stop, why a URL was left out, a record found
// by its text, two executions compared, a rule tested. It leaves what the pages are then looked at with.

import { composer } from "./composer.mjs";

/** Goes through them all and returns the names of what was made. */
export async function flows({ net, srv, page, api, until, shot }, faults) {
  const check = (ok, what) => ok || faults.push(`flow: ${what}`);
  for (const [theme, size] of [["light", "wide"], ["dark", "wide"]]) {
    await page.emulateMedia({ colorScheme: theme });
    await shot(`empty.${theme}.${size}`);
  }
  await page.emulateMedia({ colorScheme: "light" });

  // First crawl: one field, what will be done in words, one button.
  const began = Date.now();
  const address = page.getByRole("textbox", { name: "Address to start from" });
  await address.fill(new URL(net.seeds[0]).host); // as people type it
  await until("what it will do, in words", () => page.locator("form li").first().isVisible());
  check(await page.getByRole("form", { name: "New crawl" }).evaluate((f) => f.checkValidity()), "the browser refuses an address without https://");
  await address.fill(net.seeds[0]);
  await until("what it will do, in words", () => page.locator("form li").first().isVisible());
  await page.getByLabel("Follow links within").selectOption("domain");
  await shot("first-run.light.wide");
  await page.getByRole("button", { name: "Crawl", exact: true }).click();
  await until("its page", () => page.url().includes("#/x/"));
  const one = decodeURIComponent(page.url().split("#/x/")[1].split(/[/?]/)[0]);
  await until("the first page", async () => ((await api("GET", `/executions/${one}/status`)).pages ?? 0) > 0);
  const took = Date.now() - began;
  console.log(`first page after ${(took / 1000).toFixed(1)} s from the empty studio`);
  check(took < 30_000, `the first page took ${took} ms`);
  await ended(api, until, one);

  // A crawl over all hosts, as a workflow that is run twice.
  const source = `seeds: ${JSON.stringify(net.seeds)}\nscope: domain\nmax_pages: 300\nallow_private: true\nkeep_bodies: true\npoliteness: {delay: 20ms}\nexclude: ["/page/.*7"]\n`;
  const w = await api("POST", "/workflows", { name: "All hosts", source });
  await page.goto(`${srv.origin}/#/w/${w.slug}`);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await until("its page", () => page.url().includes(`#/x/${w.slug}-1`));
  const first = `${w.slug}-1`;
  await until("pages", async () => ((await api("GET", `/executions/${first}/status`)).pages ?? 0) > 20);
  await page.getByRole("button", { name: "Pause", exact: true }).click();
  await until("paused", async () => (await api("GET", `/executions/${first}`)).state === "paused");
  const held = (await api("GET", `/executions/${first}/status`)).pages;
  await until("the button to resume", () => page.getByRole("button", { name: "Resume", exact: true }).isVisible());
  check((await api("GET", `/executions/${first}/status`)).pages === held, "pages came while it was paused");
  await page.getByRole("button", { name: "Resume", exact: true }).click();
  await ended(api, until, first);
  const done = await api("GET", `/executions/${first}`);
  check(done.stats.pages > 200, `${done.stats.pages} pages of a crawl that was paused for a moment: it ended too early`);

  // A longer one is stopped, and stays for the looks at a crawl that runs.
  const slow = await api("POST", "/workflows", { name: "Slow", source: `seeds: ${JSON.stringify(net.seeds)}\nscope: domain\nmax_pages: 100000\nallow_private: true\npoliteness: {delay: 5s}\n` });
  const stopped = (await api("POST", `/workflows/${slow.id}:run`, {})).id;
  await page.goto(`${srv.origin}/#/x/${stopped}`);
  await until("it runs", async () => (await api("GET", `/executions/${stopped}`)).state === "running");
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await until("stopped", async () => (await api("GET", `/executions/${stopped}`)).state === "stopped");

  // Why was this left out?
  await page.goto(`${srv.origin}/#/x/${first}/urls?state=excluded`);
  const link = page.locator("tbody tr a").first();
  await link.waitFor({ timeout: 30_000 });
  const leftOut = new URLSearchParams((await link.getAttribute("href")).split("?")[1]).get("url");
  await link.click();
  await until("why", () => page.locator(".answer").isVisible());
  check((await page.locator(".story .decides").count()) === 1, "no step of the story decides");

  // A record by its text.
  const list = await until("records", async () => {
    const l = await api("GET", `/executions/${first}/records?limit=50`);
    return l.items.length > 20 && l;
  });
  let word; // not every page has a long one
  for (const item of list.items) {
    const whole = await api("GET", `/executions/${first}/records/${item.key}`);
    if ((word = (whole.record.text ?? "").split(/[^\p{L}]+/u).find((t) => t.length > 6))) break;
  }
  await page.goto(`${srv.origin}/#/x/${first}/records`);
  await page.getByRole("searchbox", { name: "Search the records" }).fill(word);
  await until("what was found", () => page.locator("mark").first().isVisible());

  // Two executions compared.
  await api("POST", `/workflows/${w.id}/versions`, { source: source.replace("300", "200"), message: "fewer pages", parent: 1 });
  const second = (await api("POST", `/workflows/${w.id}:run`, {})).id;
  await ended(api, until, second);
  await until("the index", async () => ((await api("GET", `/executions/${second}/index`)).share ?? 0) >= 1);
  await page.goto(`${srv.origin}/#/w/${w.slug}`);
  await page.getByLabel(`Choose ${first} to compare`).check();
  await page.getByLabel(`Choose ${second} to compare`).check();
  await page.getByRole("link", { name: /^Compare/ }).click();
  await until("gone pages", () => page.getByText("gone").first().isVisible());
  const sums = await api("GET", `/compare?first=${first}&second=${second}`);
  check(sums.gone > 0 && sums.same > 0, `comparison: ${JSON.stringify(sums)}`);

  // One runs while the pages are looked at.
  const running = (await api("POST", `/workflows/${slow.id}:run`, {})).id;

  // A rule tested on a stored page.
  const stored = list.items.find((r) => !r.duplicate_of) ?? list.items[0];
  await page.goto(`${srv.origin}/#/rules?execution=${first}&url=${encodeURIComponent(stored.url)}`);
  await page.getByRole("textbox", { name: "Expression" }).fill("title");
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await until("a match", () => page.locator("pre mark").first().isVisible());
  for (const theme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme: theme });
    await shot(`rule-tested.${theme}.wide`);
  }
  await page.emulateMedia({ colorScheme: "light" });

  // A field picked from the page, by keys alone, and tested.
  await page.getByRole("button", { name: "Pick from the page" }).click();
  await until("the outline", () => page.getByRole("tree").isVisible());
  await page.getByRole("treeitem", { selected: false }).and(page.locator('[tabindex="0"]')).focus();
  for (const key of ["Home", "ArrowDown", "ArrowDown", "ArrowRight", "ArrowDown", "Enter"]) await page.keyboard.press(key);
  await until("proposals", () => page.getByRole("radio").first().isVisible());
  const offered = await page.getByRole("radio").count();
  check(offered >= 2 && offered <= 5, `${offered} selectors are proposed`);
  for (const [theme, size] of [["light", "wide"], ["dark", "narrow"]]) {
    await page.emulateMedia({ colorScheme: theme });
    if (size === "narrow") await page.setViewportSize({ width: 390, height: 844 });
    await shot(`rule-picked.${theme}.${size}`);
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });
  const before = await page.getByRole("textbox", { name: "Expression" }).count();
  await page.getByRole("button", { name: "Use it as a field" }).press("Enter");
  check((await page.getByRole("textbox", { name: "Expression" }).count()) === before + 1, "what was picked is no field");

  // A rule made of two stored pages and what is wanted from them.
  const two = list.items.filter((r) => !r.duplicate_of && r.title).slice(0, 2);
  await page.goto(`${srv.origin}/#/rules?execution=${first}&examples=1`);
  for (const [i, r] of two.entries()) {
    const box = page.getByRole("group", { name: `Page ${i + 1}` });
    await box.getByRole("textbox", { name: "Address" }).fill(r.url);
    await box.getByRole("textbox", { name: "title", exact: true }).fill(r.title);
  }
  await page.getByRole("button", { name: "Make a rule" }).press("Enter");
  await until("a rule", () => page.getByText("rules:").first().isVisible());
  for (const [theme, size] of [["light", "wide"], ["dark", "narrow"]]) {
    await page.emulateMedia({ colorScheme: theme });
    if (size === "narrow") await page.setViewportSize({ width: 390, height: 844 });
    await shot(`rule-induced.${theme}.${size}`);
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });
  await page.getByRole("button", { name: "Use its fields" }).press("Enter");
  check((await page.getByRole("textbox", { name: "Expression" }).inputValue()) !== "", "the fields of the rule are not taken over");

  // A dry run of the page beside the one that runs, by keys alone.
  await page.goto(`${srv.origin}/#/w/${w.slug}`);
  await page.getByRole("link", { name: "Dry run" }).click();
  await page.getByRole("textbox", { name: "Or in the execution" }).fill(first);
  const told = page.getByRole("searchbox", { name: "Address", exact: true });
  await told.fill(stored.url);
  await told.press("Enter");
  await until("the steps", () => page.getByRole("tab").first().isVisible());
  check((await page.getByRole("tab").count()) >= 9, "a dry run has fewer steps than there are");
  await page.getByRole("tab").first().focus();
  await page.keyboard.press("End");
  check(await page.getByRole("tabpanel").getByRole("heading", { name: /Record/ }).isVisible(), "End does not open the last step");
  await page.keyboard.press("Home");
  for (let i = 0; i < 6; i++) await page.keyboard.press("ArrowDown");
  check(await page.getByRole("table", { name: "Links" }).isVisible(), "the seventh step shows no links");
  for (const [theme, size] of [["light", "wide"], ["dark", "narrow"]]) {
    await page.emulateMedia({ colorScheme: theme });
    if (size === "narrow") await page.setViewportSize({ width: 390, height: 844 });
    await shot(`dry-run-links.${theme}.${size}`);
  }
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.emulateMedia({ colorScheme: "light" });

  await composer({ net, srv, page, api, until, shot }, check);

  const clusters = (await api("GET", `/executions/${first}/clusters?similarity=near`)).items;
  const cluster = clusters[0] ?? (await api("GET", `/executions/${first}/clusters`)).items[0];
  const members = cluster ? (await api("GET", `/executions/${first}/clusters/${cluster.id}`)).members.items : [];
  const hosts = (await api("GET", `/executions/${first}/hosts?sort=-requests`)).items;
  return {
    first,
    second,
    running,
    stopped,
    workflow: w.slug,
    leftOut,
    page: stored.url,
    record: stored.key,
    word,
    host: hosts[0].key,
    cluster: cluster?.id ?? "",
    copy: members.find((m) => m.similarity !== "original")?.key ?? "",
  };
}

async function ended(api, until, id) {
  const last = await until(`the end of ${id}`, async () => {
    const x = await api("GET", `/executions/${id}`);
    return ["succeeded", "partial", "stopped", "failed", "cancelled"].includes(x.state) && x;
  });
  if (last.state !== "succeeded") throw new Error(`${id} ended as ${last.state}: ${last.reason} ${JSON.stringify(last.audit)}`);
}
