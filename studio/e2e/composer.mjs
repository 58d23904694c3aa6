// The composer: ten plug-ins by keys alone, saved and run; graph, list and text agree; what is not saved can be undone.
export async function composer({ net, srv, page, api, until, shot }, check) {
  const source = `# a crawl to compose\nseeds: ${JSON.stringify(net.seeds)}   # these\nscope: domain\nmax_pages: 100000\nallow_private: true\npoliteness: {delay: 4s}\n`;
  const w = await api("POST", "/workflows", { name: "Composed", source });
  const key = (k) => page.keyboard.press(k);
  const type = (t) => page.keyboard.type(t);
  const focused = (what, selector) => until(what, () => page.evaluate((s) => document.activeElement?.matches(s), selector), 10_000);
  await page.goto(`${srv.origin}/#/w/${w.slug}`);
  await page.getByRole("link", { name: "Compose", exact: true }).focus();
  await key("Enter");
  await until("the graph", () => page.getByRole("group", { name: "Graph of the pipeline" }).isVisible());
  await shot("composer-empty.light.wide");

  // What is typed into which field, by its label, when a plug-in stands at a point.
  const plan = [
    ["header", "request", async () => (await field("set, name 1", "X-Studio"), await field("set, value 1", "yes"))],
    ["filter", "response", async () => await field("keep", 'resp.content_type startsWith "text/"')],
    ["sample", "response", async () => await field("share", "1")],
    ["map", "document", async () => (await field("set, name 1", "words"), await field("set, value 1", 'len(split(doc.text, " "))'))],
    ["keywords", "document", async () => await field("words", "the")],
    ["redact", "document", async () => {}],
    ["filter", "links", async () => await field("drop", 'link.url contains "/never/"')],
    ["map", "record", async () => (await field("set, name 1", "host"), await field("set, value 1", "record.host"))],
    ["lang", "record", async () => (await field("keep", "en"), await choose("unknown", "k"))],
    ["redact", "record", async () => {}],
  ];
  /** Goes to a field of the form by Tab, as one does without a mouse, and types. */
  async function field(label, text) {
    await reach(label);
    await type(text);
  }
  async function choose(label, letter) {
    await reach(label);
    await key(letter);
  }
  async function reach(label) {
    for (let i = 0; i < 40; i++) {
      const name = await page.evaluate(() => {
        const e = document.activeElement;
        return e?.getAttribute("aria-label") ?? (e?.labels?.[0]?.textContent ?? "");
      });
      if (name.replace(" needed", "").trim() === label) return;
      await key("Tab");
    }
    throw new Error(`Tab does not reach the field ${label}`);
  }
  for (const [name, at, fill] of plan) {
    await key("a");
    await focused("the search of plug-ins", ".c-palette input");
    await type(name === "map" ? "builtin/map" : `builtin/${name}`);
    await key("Enter");
    const serves = (await api("GET", "/plugins")).items.find((p) => p.use === `builtin/${name}@1`).serves.map((s) => s.point);
    if (serves.length > 1) {
      await focused("the places", ".c-slot[data-target=true]");
      const lit = await page.locator(".c-slot[data-target=true]").evaluateAll((l) => l.map((e) => e.dataset.point));
      check(JSON.stringify(lit.toSorted()) === JSON.stringify(serves.toSorted()), `${name}: ${lit} light up, and it serves ${serves}`);
      for (let i = 0; i < 30; i++) {
        if (await page.evaluate((p) => document.activeElement?.dataset.point === p, at)) break;
        await key("ArrowDown");
      }
      if (name === "filter" && at === "response") await shot("composer-placing.light.wide");
      await key("Enter");
    }
    await until("its form", () => page.locator(".c-form").isVisible());
    await focused("a field of the form", ".c-side :is(input, textarea, select)");
    await fill();
    await key("Escape");
    await focused("the node", "[data-node]");
  }
  check((await page.locator(".c-card").count()) === 10, "there are not ten nodes");
  // Copied and pasted, and dragged: what is dropped on a node takes its place, and nothing moves beneath the pointer.
  const on = await page.evaluate(() => document.activeElement.dataset.node);
  await key("Control+c");
  await key("Control+v");
  check((await page.locator(".c-card").count()) === 11, "Ctrl C and Ctrl V make no copy");
  await key("Control+z");
  check((await page.locator(".c-card").count()) === 10, "Ctrl Z does not take back what was pasted");
  const top = async (id) => (await page.locator(`[data-node="${id}"]`).boundingBox()).y;
  const before = await top(on);
  await page.dragAndDrop('[data-node="lang"]', `[data-node="${on}"]`);
  await until("what was dragged stands where it was dropped", async () => (await top("lang")) === before && (await top(on)) < before);
  await key("Control+z");
  await page.locator(`[data-node="${on}"]`).focus();

  // The last one goes up, is copied, the copy goes; and back.
  await key("Alt+ArrowUp");
  await key("d");
  check((await page.locator(".c-card").count()) === 11, "d makes no copy");
  await key("Delete");
  check((await page.locator(".c-card").count()) === 10, "Delete does not remove");
  await key("Control+z");
  check((await page.locator(".c-card").count()) === 11, "Ctrl Z does not bring it back");
  await key("Control+Shift+Z");
  await until("no faults", async () => (await page.locator(".c-faults .dot.bad").count()) === 0);
  for (const [theme, size] of [["light", "wide"], ["dark", "wide"], ["light", "narrow"], ["dark", "narrow"]]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size === "narrow" ? { width: 390, height: 844 } : { width: 1280, height: 860 });
    await shot(`composer-ten.${theme}.${size}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });

  // List and text tell the same.
  const inGraph = await page.locator(".c-card").evaluateAll((l) => l.map((e) => e.dataset.node).sort());
  await page.getByRole("button", { name: "List", exact: true }).press("Enter");
  const inList = await page.locator(".c-open").evaluateAll((l) => l.map((e) => e.dataset.node).sort());
  check(JSON.stringify(inGraph) === JSON.stringify(inList), `graph ${inGraph}, list ${inList}`);
  await shot("composer-list.light.wide");
  await page.getByRole("button", { name: "YAML", exact: true }).press("Enter");
  const text = await page.locator(".c-text").inputValue();
  check(text.startsWith(source), "what stands before the pipeline was changed");
  for (const id of inGraph) check(text.includes(`id: ${id}\n`), `${id} is not in the text`);
  await page.locator(".c-text").fill(text.replace("id: header", "id: head # by hand"));
  await page.getByRole("button", { name: "Graph", exact: true }).press("Enter");
  check(await page.locator('[data-node="head"]').isVisible(), "what was typed as text is not in the graph");

  // A fault stands at its node.
  await page.locator('[data-node="sample"]').focus();
  await key("Enter");
  await focused("the form", ".c-side input");
  await key("Control+a");
  await type("7");
  await until("the fault", () => page.locator('[data-node="sample"] .dot.bad').isVisible());
  await shot("composer-fault.light.wide");
  await key("Control+a");
  await type("1");
  await until("no fault", async () => (await page.locator(".c-faults .dot.bad").count()) === 0);
  await key("Escape");

  // Saved and run: the records show them.
  await page.getByRole("button", { name: "Save as version 2" }).focus();
  await key("Enter");
  await focused("the words", "dialog input");
  await type("ten nodes");
  await key("Enter");
  await until("version 2", async () => (await api("GET", `/workflows/${w.slug}`)).current === 2);
  const kept = (await api("GET", `/workflows/${w.slug}/versions/2`)).source;
  check(kept.includes("# by hand") && kept.startsWith("# a crawl to compose"), "a comment was lost");
  const id = (await api("POST", `/workflows/${w.slug}:run`, {})).id;
  await until("calls", async () => ((await api("GET", `/executions/${id}/pipeline`)).nodes[0]?.calls ?? 0) > 0);
  await until("figures on the graph", () => page.locator(".c-card", { hasText: /lang[^]*[1-9]\d* calls/ }).first().isVisible());
  await shot("composer-live.light.wide");

  // A change for the one that runs: what it would do, and what it did, taken back.
  await page.locator('[data-node="redact-2"]').focus();
  await key("Delete");
  await page.getByRole("button", { name: "Save as version 3" }).press("Enter");
  await page.getByRole("checkbox", { name: /^Apply the pipeline/ }).press("Space");
  await until("the preview", () => page.getByRole("region", { name: "What the edit would do" }).isVisible());
  await shot("composer-preview.light.wide");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).press("Enter");
  await until("it was applied", () => page.getByRole("button", { name: "Undo revision 2" }).isVisible());
  await shot("composer-applied.light.wide");
  await page.getByRole("button", { name: "Undo revision 2" }).press("Enter");
  const epoch = async () => (await api("GET", `/executions/${id}/revisions`)).items[0].epoch;
  await until("revision 3", async () => (await epoch()) === 3);
  await meanwhile(srv, page, api, until, shot, check, w);
  await settings(srv, page, api, until, shot, check, id);
  await api("POST", `/executions/${id}:stop`, {});
  await until("its end", async () => (await api("GET", `/executions/${id}`)).state === "stopped");
  const first = (await api("GET", `/executions/${id}/records?limit=5`)).items[0];
  const record = (await api("GET", `/executions/${id}/records/${first.key}`)).record;
  check((record.plugins ?? []).length >= 9, `a record went through ${record.plugins}`);

  // Thirty nodes, and one of the samples.
  const many = Array.from({ length: 30 }, (_, i) => `    - {id: n${i}, at: ${["request", "response", "document", "links", "record"][i % 5]}, use: builtin/filter@1, with: {drop: 'false'}}`).join("\n");
  const full = await api("POST", "/workflows", { name: "Thirty", source: `${source}pipeline:\n  nodes:\n${many}\n` });
  for (const [theme, size] of [["light", "wide"], ["dark", "narrow"]]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size === "narrow" ? { width: 390, height: 844 } : { width: 1280, height: 860 });
    await page.goto(`${srv.origin}/#/w/${full.slug}/compose`);
    await until("thirty", async () => (await page.locator(".c-card").count()) === 30);
    await shot(`composer-thirty.${theme}.${size}`);
  }
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 1280, height: 860 });
  await page.goto(`${srv.origin}/#/compose`);
  await shot("composer-samples.dark.wide");
  await page.getByRole("button", { name: /^Job postings/ }).press("Enter");
  await until("its nodes", async () => (await page.locator(".c-card").count()) >= 5);
  await page.locator('[data-node="keywords"]').press("Enter");
  await shot("composer-postings.dark.wide");
  await page.emulateMedia({ colorScheme: "light" });
}

/** What somebody else saves meanwhile, a reload, and a name that another node has: nothing that was typed is lost. */
async function meanwhile(srv, page, api, until, shot, check, w) {
  const map2 = page.locator('[data-node="map-2"]');
  await map2.press("Enter");
  const name = page.getByLabel("Name", { exact: true });
  await name.press("End");
  for (let i = 0; i < 2; i++) await page.keyboard.press("Backspace"); // it is that of the other one for a moment
  await until("the fault of two names", () => page.locator(".c-side .word-bad", { hasText: "has that name too" }).isVisible());
  await page.keyboard.type("-host");
  check((await name.inputValue()) === "map-host", `typing a name ended in ${await name.inputValue()}`);
  await page.reload();
  await until("the draft", () => page.locator('[data-node="map-host"]').isVisible());
  const { source } = await api("GET", `/workflows/${w.slug}/versions/3`);
  await api("POST", `/workflows/${w.slug}/versions`, { source: source.replace("max_pages: 100000", "max_pages: 90000"), parent: 3 });
  await until("what was saved meanwhile", () => page.getByText("Version 4 was saved meanwhile").isVisible());
  await page.getByText("What it changed").click();
  await shot("composer-conflict.light.wide");
  check(await page.locator('[data-node="map-host"]').isVisible(), "what somebody saved took away what was typed");
  await page.getByRole("button", { name: "Keep mine" }).press("Enter");
  await until("the next version", () => page.getByRole("button", { name: "Save as version 5" }).isEnabled());
  await page.getByRole("button", { name: "YAML", exact: true }).press("Enter");
  await page.locator(".c-text").fill("seeds: [\npipeline: 7\n");
  await page.getByRole("button", { name: "Graph", exact: true }).press("Enter");
  await shot("composer-broken.light.wide");
  await page.getByRole("button", { name: "Mend it" }).press("Enter");
  await until("the text", () => page.evaluate(() => document.activeElement?.matches(".c-text")));
  await page.getByRole("button", { name: "Discard it" }).press("Enter");
  await page.getByRole("button", { name: "Graph", exact: true }).press("Enter");
  await until("the saved one", () => page.locator(".c-card").first().isVisible());
}

/** The settings of an execution that runs: a broken text, a preview, somebody else's revision, a reload, undo. */
async function settings(srv, page, api, until, shot, check, id) {
  await page.goto(`${srv.origin}/#/x/${id}/edit`);
  const text = page.getByLabel(/^Settings, as in a job file/);
  const preview = page.getByRole("button", { name: "Preview", exact: true });
  const apply = page.getByRole("button", { name: "Apply", exact: true });
  await until("the settings", () => text.isVisible());
  const own = await text.inputValue();
  await shot("edit.light.wide");
  await text.fill(own + "politeness: [\n");
  await until("the fault and its line", () => page.locator("#settings-faults", { hasText: /Line \d+/ }).isVisible());
  await shot("edit-broken.light.wide");
  await text.fill(own + "exclude: ['/[^/]*3'] # not these\n");
  await until("no fault", () => preview.isEnabled());
  await preview.press("Enter");
  await until("exact figures", () => page.getByText(/^Exact: all/).isVisible());
  for (const [theme, size] of [["light", "wide"], ["dark", "wide"], ["light", "narrow"], ["dark", "narrow"]]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.setViewportSize(size === "narrow" ? { width: 390, height: 844 } : { width: 1280, height: 860 });
    await shot(`edit-preview.${theme}.${size}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 1280, height: 860 });
  await api("POST", `/executions/${id}/revisions`, { patch: { max_pages: 7777 } });
  const told = page.getByText("Revision 4 was applied meanwhile");
  await until("somebody else's revision", () => told.isVisible());
  await page.reload();
  await until("it is told again", () => told.isVisible());
  check((await text.inputValue()).includes("# not these"), "a reload lost what was typed");
  await shot("edit-conflict.light.wide");
  await page.getByRole("button", { name: "Keep mine" }).press("Enter");
  await preview.press("Enter");
  await until("the preview", async () => (await apply.getAttribute("aria-disabled")) === null);
  await apply.press("Enter");
  const undo = page.getByRole("button", { name: "Undo 5" });
  await until("revision 5", () => undo.isVisible());
  await shot("edit-applied.light.wide");
  await undo.press("Enter");
  await until("the settings before it", async () => /max_pages: 7777/.test(await text.inputValue()));
}
