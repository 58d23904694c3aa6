// What somebody meets who comes for the first time, or comes back: a link opened where the studio is open, a session
// that has ended, numbers and addresses corrected while one types, names and addresses in other scripts, deleting.
//
//   node e2e/firsttime.mjs PROGRAM     alone
import { execFileSync } from "node:child_process";
import { pathToFileURL } from "node:url";
import { api, browser, load, serve, until, web } from "./world.mjs";

const linkOf = (exe, srv) => /http\S+/.exec(execFileSync(exe, ["login-url", "--dir", srv.dir]).toString())[0];

export async function firstTime({ chrome, exe, srv, net }, faults) {
  const check = (ok, what) => ok || faults.push(`first time: ${what}`);
  const context = await chrome.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  await signingIn(page, context, () => linkOf(exe, srv), srv);
  await typing(page, srv, check);
  await scripts(page, api(context, srv.origin), srv, net, check);
  await astray(page, context, srv, check);
  await tabs(context, () => linkOf(exe, srv), srv, check);
  await context.close();
}

/** A browser has six connections to a server for all of its tabs: those that are not seen hold none. */
async function tabs(context, link, srv, check) {
  await context.addInitScript(() => {
    let now = "hidden";
    Object.defineProperty(document, "visibilityState", { get: () => now });
    globalThis.see = () => {
      now = "visible";
      document.dispatchEvent(new Event("visibilitychange"));
    };
  });
  const first = await context.newPage();
  await first.goto(link());
  const open = [first];
  for (let i = 0; i < 7; i++) {
    const tab = await context.newPage();
    await load(tab, srv, "#/w");
    open.push(tab);
  }
  for (const tab of open.slice(1)) await until("the workflows in each tab", () => tab.getByRole("heading", { name: "Workflows" }).isVisible());
  check((await open[7].title()) === "Workflows · Whirlpool", `a tab is called ${await open[7].title()}`);
  const stream = open[7].waitForRequest(/\/events\?/);
  await open[7].evaluate(() => globalThis.see());
  await stream;
  for (const tab of open) await tab.close();
}

/** A link changes nothing but what stands behind the #, and a session may end while a page is open. */
async function signingIn(page, context, link, srv) {
  const overview = () => page.getByRole("navigation", { name: "Studio" }).isVisible();
  await load(page, srv, "#/");
  await until("how to sign in", () => page.getByRole("heading", { name: "Sign in" }).isVisible());
  const open = (url) => page.evaluate((hash) => void (location.hash = hash), new URL(url).hash);
  await open(link());
  await until("signed in by a link in the same tab", overview);
  await open(link());
  await until("a link is taken where somebody is signed in", async () => !page.url().includes("token=") && (await overview()));
  await load(page, srv, "#/w");
  await until("the workflows", () => page.getByRole("heading", { name: "Workflows" }).isVisible());
  await context.clearCookies();
  await page.evaluate(() => void (location.hash = "#/settings"));
  await until("how to sign in again", () => page.getByRole("heading", { name: "Sign in" }).isVisible());
  await open(link());
  await until("signed in again", overview);
}

async function typing(page, srv, check) {
  await load(page, srv, "#/?new=1");
  const address = page.getByRole("textbox", { name: "Address to start from" });
  await address.fill("http://127.0.0.1:1/");
  const pages = page.getByLabel("Pages at most");
  await pages.press("End");
  for (let i = 0; i < 4; i++) await pages.press("Backspace");
  await pages.pressSequentially("500");
  check((await pages.inputValue()) === "500", `"500" typed into an emptied field is ${await pages.inputValue()}`);
  const seconds = page.getByLabel("Seconds between requests");
  await seconds.fill("");
  await seconds.pressSequentially("0.05");
  check((await seconds.inputValue()) === "0.05", `"0.05" is ${await seconds.inputValue()}`);
  await address.fill("http://127.0.0.1:1/path");
  check((await pages.inputValue()) === "500" && (await seconds.inputValue()) === "0.05", "correcting the address forgets what was chosen");
  await address.fill("10.example.org");
  check((await seconds.inputValue()) === "1", `another host, of the internet, is asked each ${await seconds.inputValue()} s`);
  await address.fill("ftp://example.org/");
  check(await page.getByText("That is no address of a page yet").isVisible(), "nothing says why an address is refused");
}

/** Names from right to left, letters that are joined, addresses in other scripts; on a phone. */
async function scripts(page, call, srv, net, check) {
  const name = "کتاب\u200cها";
  const source = `seeds: [${JSON.stringify(net.seeds[0] + "کتاب")}]\nseeds_only: true\nallow_private: true\n`;
  const w = await call("POST", "/workflows", { name, slug: "books-1-2", source });
  const x = await call("POST", `/workflows/${w.slug}:run`, {});
  await load(page, srv, "#/w");
  const row = page.getByRole("link", { name: new RegExp(name) });
  await until("its row", () => row.isVisible());
  const [left, right] = await row.evaluate((a) => [a.querySelector("bdi").getBoundingClientRect(), a.querySelector(".muted").getBoundingClientRect()].map((r) => r.left));
  check(left < right, "a name from right to left turns what stands behind it");
  await until("its end", async () => !!(await call("GET", `/executions/${x.id}`)).ended);
  await load(page, srv, `#/x/${x.id}/urls?q=${encodeURIComponent("کتاب")}`);
  await until("a URL found by its letters, and shown with them", () => page.getByRole("table", { name: "URLs" }).getByText("کتاب").isVisible());
  await load(page, srv, `#/x/${x.id}/events`);
  await until("the tab that is open, in sight", () => page.getByRole("navigation", { name: "Pages of this execution" }).evaluate((bar) => bar.querySelector("[aria-current]").getBoundingClientRect().right <= innerWidth));
  await page.getByRole("button", { name: "Delete", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await until("its workflow, without it", () => page.getByRole("heading", { name: "No execution is left" }).isVisible());
}

/** Addresses that were cut, answers and pages that do not come, keys while something is asked. */
async function astray(page, context, srv, check) {
  await load(page, srv, "#/x/%E0%A4%A");
  await until("no such execution", () => page.getByText("There is no such thing", { exact: true }).isVisible());
  await page.waitForTimeout(3000); // as long as it takes to say that figures have stopped
  check(!(await page.getByText("Live figures stopped").isVisible()), "an execution that there is not is said to have live figures");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.keyboard.press("?");
  await page.keyboard.press("g");
  await page.keyboard.press("w");
  await until("the workflows", () => page.getByRole("heading", { name: "Workflows" }).isVisible());
  check((await page.locator("dialog[open]").count()) === 0, "the list of keys stays open over another page");
  await load(page, srv, "#/");
  await until("the overview", () => page.getByRole("heading", { level: 1, name: /Overview|What shall be crawled/ }).isVisible());
  await page.route(/assets\/.*\.js/, (r) => r.abort());
  await page.evaluate(() => void (location.hash = "#/nodes"));
  await until("that the page was not loaded", () => page.getByText("This page could not be loaded").isVisible());
  await page.unroute(/assets\/.*\.js/);
  await page.getByRole("button", { name: "Load again" }).click();
  await until("the nodes", () => page.getByRole("heading", { name: "Nodes" }).isVisible());
  await context.route("**/*", (r) => r.abort());
  await page.evaluate(() => void (location.hash = "#/rules")); // which has a style sheet of its own
  await until("that the server is away", () => page.getByText("Whirlpool does not answer.").isVisible());
  await context.unroute("**/*");
  await until("the page, when the server is back", () => page.getByRole("heading", { level: 1, name: "Rule tester" }).isVisible());
  await load(page, srv, "#/plugins"); // it has no stream
  await until("the plug-ins", () => page.getByRole("heading", { name: "Of the program" }).isVisible());
  await context.route("**/api/v1/settings*", (r) => r.abort());
  await page.evaluate(() => void (location.hash = "#/settings"));
  await until("that the server is away", () => page.getByText("Whirlpool does not answer").isVisible());
  await context.unroute("**/api/v1/settings*");
  await until("the settings, when the server is back", () => page.getByText("max_running", { exact: true }).first().isVisible());
  await context.clearCookies();
  await load(page, srv, "#/");
  await page.getByLabel("Or paste the link here").fill("token=100%");
  await page.getByRole("button", { name: "Sign in", exact: true }).click();
  await until("why a link is refused", () => page.getByText("the link was used").isVisible());
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const exe = process.argv[2];
  if (!exe) throw new Error("usage: node e2e/firsttime.mjs PROGRAM");
  const net = await web(exe, ["-hosts", "2", "-pages", "20"]);
  const srv = await serve(exe, net.dns);
  const chrome = await browser();
  const faults = [];
  try {
    await firstTime({ chrome, exe, srv, net }, faults);
  } finally {
    await chrome.close();
    await srv.remove();
    await net.stop();
  }
  for (const f of faults) console.error(f);
  console.log(`firsttime: ${faults.length} faults`);
  process.exitCode = faults.length ? 1 : 0;
}
