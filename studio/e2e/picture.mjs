// Makes the pictures of a running crawl that the README shows, light and dark, over a synthetic web:
//
//   node e2e/picture.mjs PROGRAM OUT
//
// PROGRAM is a whirlpool program; studio.png and studio-dark.png go to the folder OUT. It takes two minutes.
import { join } from "node:path";
import { api, browser, load, serve, until, web } from "./world.mjs";

const [exe, out] = process.argv.slice(2);
if (!exe || !out) throw new Error("usage: node e2e/picture.mjs PROGRAM OUT");

const hosts = ["-hosts", "16", "-pages", "640", "-page-bytes", "9000", "-near-duplicates", "0.08", "-exact-duplicates", "0.05"];
const chrome = await browser();
const net = await web(exe, [...hosts, "-delay", "60ms"]);
const srv = await serve(exe, net.dns);
try {
  const context = await chrome.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: "light", reducedMotion: "reduce", deviceScaleFactor: 1.5 });
  const page = await context.newPage();
  await page.goto(srv.link);
  await until("the empty studio", () => page.getByRole("heading", { name: "What shall be crawled?" }).isVisible());
  const call = api(context, srv.origin);
  const source = `seeds: ${JSON.stringify(net.seeds)}\nscope: domain\nallow_private: true\npoliteness: {delay: 2500ms}\n`;
  const workflow = await call("POST", "/workflows", { name: "News sites", source });
  const execution = await call("POST", `/workflows/${workflow.id}:run`, {});
  await load(page, srv, `#/x/${execution.id}`);
  await page.waitForTimeout(105_000); // for the curves to have a shape: this is a picture, not a test
  for (const [theme, name] of [["light", "studio.png"], ["dark", "studio-dark.png"]]) {
    await page.emulateMedia({ colorScheme: theme });
    await page.waitForTimeout(1500);
    await page.screenshot({ path: join(out, name) });
  }
} finally {
  await chrome.close();
  await srv.remove();
  await net.stop();
}
