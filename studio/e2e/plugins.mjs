// The page of the plug-ins: full and empty ones, and a plug-in that is pushed, approved and disabled.
import { join } from "node:path";
import { writeFileSync } from "node:fs";
import { load } from "./world.mjs";

const ago = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString();
const one = (use, more) => ({ use, name: use.split("@")[0], version: use.split("@")[1], tier: "wasm", summary: "Reads prices from the tables of shops, in the currency that the page names", serves: [{ point: "document" }], limits: {}, config: {}, digest: "sha256:" + "9f".repeat(32), pushed: ago(90), trust: { level: "unsigned", usable: false, wants: "approve it" }, ...more });
const built = (use, summary, point) => one(use, { tier: "builtin", summary, serves: [{ point }], digest: undefined, pushed: undefined, trust: { level: "builtin", usable: true } });
const builtins = [built("builtin/filter@1", "Drops what a condition names", "record"), built("builtin/lang@1", "Names the language of a text", "document")];
const states = {
  plugins: {
    items: [
      one("shop/price@1.2.0"),
      one("shop/price@1.1.0", { trust: { level: "approved", by: "ada@example.org", at: ago(50), usable: true } }),
      one("a-team-with-a-long-name/and-a-plug-in-of-one@10.20.30-beta", { trust: { level: "signed", by: "8A4F0C3B2D1E5F60", usable: true, signer: "8A4F0C3B2D1E5F60" } }),
      one("shop/words@1.0.0", { tier: "process", summary: "Counts words", serves: [{ point: "document" }, { point: "record" }], trust: { level: "disabled", by: "admin", at: ago(3), why: "it takes a second a page, and more where the page is long", usable: false } }),
      ...builtins,
    ],
    faults: ["shop/old@1.0.0: the package has been changed: push it again"],
  },
  "plugins-empty": { items: builtins },
};

/** Looks at the page with plug-ins and without. */
export async function pluginPages(page, srv, look, name) {
  for (const [state, body] of Object.entries(states)) {
    await page.route("**/api/v1/plugins", (r) => r.fulfill({ status: 200, contentType: "application/json", body: JSON.stringify(body) }));
    await load(page, srv, "#/plugins");
    await page.waitForTimeout(500);
    await look(page, name(state));
    await page.unroute("**/api/v1/plugins");
  }
}

/** A tar of files that are programs. */
function tar(files) {
  const parts = [];
  for (const [name, text] of Object.entries(files)) {
    const head = Buffer.alloc(512);
    const data = Buffer.from(text);
    head.write(name, 0);
    head.write("0000755\0", 100);
    head.write("0000000\0", 108);
    head.write("0000000\0", 116);
    head.write(data.length.toString(8).padStart(11, "0") + "\0", 124);
    head.write("00000000000\0", 136);
    head.write("        0", 148);
    head.write("ustar\0" + "00", 257);
    const sum = head.reduce((a, b) => a + b, 0);
    head.write(sum.toString(8).padStart(6, "0") + "\0 ", 148);
    parts.push(head, data, Buffer.alloc((512 - (data.length % 512)) % 512));
  }
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

/** Pushes a plug-in, approves and disables it, as an administrator does. */
export async function pushing({ page, srv, until, out }, faults) {
  const toml = 'name = "shop/count"\nversion = "1.0.0"\nabi = "whirlpool:1"\ntier = "process"\nentry = "count"\nsummary = "Counts"\n[[serves]]\npoint = "document"\n';
  const file = join(out, "shop-count-1.0.0.tar");
  const seen = (text) => until(text, () => page.getByText(text).first().isVisible());
  await page.goto(`${srv.origin}/#/plugins`);
  for (const [content, says] of [["no package", "it is no package"], [tar({ "plugin.toml": toml, count: "#!/bin/sh\n" }), "once an administrator approves it"], [tar({ "plugin.toml": toml, count: "#!/bin/bash\n" }), "a version never changes"]]) {
    writeFileSync(file, content);
    await page.locator("input[accept='.tar']").setInputFiles(file);
    await page.getByRole("button", { name: "Push", exact: true }).click();
    await seen(says);
    const close = page.getByRole("button", { name: "Close" });
    if (await close.isVisible()) await close.click();
  }
  await page.getByLabel("Or where a registry of containers has it").fill("oci://127.0.0.1:1/shop/count:2.0.0");
  await page.getByRole("button", { name: "Take", exact: true }).click();
  await seen("127.0.0.1:1");
  const close = page.getByRole("button", { name: "Close" });
  if (await close.isVisible()) await close.click();
  await page.getByRole("button", { name: "Approve" }).click();
  await page.locator("dialog[open]").getByRole("button", { name: "Approve" }).click();
  await seen("approved");
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByLabel("Why, for those who see it fail").fill("it counts wrong");
  await page.locator("dialog[open]").getByRole("button", { name: "Disable" }).click();
  await seen("it counts wrong");
  const list = await page.evaluate(() => fetch("/api/v1/plugins").then((r) => r.json()));
  const at = list.items.find((p) => p.use === "shop/count@1.0.0");
  if (at?.trust.level !== "disabled") faults.push(`the plug-in that was disabled is ${JSON.stringify(at)}`);
}
