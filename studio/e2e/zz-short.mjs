import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
const at="/work/wt/studio14b/studio/e2e/";
const { renderingOfAReader, renderings, switching } = await import(at+"rendering.mjs");
const { api, browser, serve, until, web } = await import(at+"world.mjs");
const [exe,out]=process.argv.slice(2); mkdirSync(out,{recursive:true});
const axe = readFileSync(createRequire(at).resolve("axe-core/axe.min.js"), "utf8");
const faults=[];
async function look(page,name){
  await page.waitForLoadState("load");
  await page.waitForFunction(() => document.querySelector("h1, main") && !document.querySelector(".skeleton"), null, { timeout: 4000 }).catch(() => {});
  await page.screenshot({path:join(out,name+".png")});
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  for (const v of result.violations) faults.push(`${name}: axe ${v.id}: ${v.help}: ${v.nodes.slice(0,3).map(n=>n.target.join(" ")+(n.any[0]?` (${n.any[0].message})`:"")).join("; ")}`);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  if (wide > 1) faults.push(`${name}: ${wide} px wider`);
}
const chrome=await browser();
const net=await web(exe,["-hosts","3","-pages","30"]);
const srv=await serve(exe,net.dns);
try {
  const c=await chrome.newContext({viewport:{width:1280,height:860},reducedMotion:"reduce"});
  const p=await c.newPage();
  await p.goto(srv.link);
  await until("empty",()=>p.getByRole("heading",{name:"What shall be crawled?"}).isVisible());
  const ask=api(c,srv.origin);
  const w=await ask("POST","/workflows",{name:"A",source:`seeds: ${JSON.stringify(net.seeds)}\nmax_pages: 20\nallow_private: true\npoliteness: {delay: 5ms}\n`});
  const id=(await ask("POST",`/workflows/${w.id}:run`,{})).id;
  await until("ended",async()=>["succeeded","partial"].includes((await ask("GET",`/executions/${id}`)).state));
  await switching(p,srv,id,until,faults);
  const cookies=await c.cookies();
  const reader=await chrome.newContext(); await (await reader.newPage()).goto(srv.viewer);
  await until("reader",async()=>(await reader.cookies()).length>0);
  const rc=await reader.cookies();
  for (const theme of ["light","dark"]) for (const [size,v] of [["wide",{width:1280,height:860}],["narrow",{width:390,height:844}]]) {
    const k=await chrome.newContext({viewport:v,colorScheme:theme,reducedMotion:"reduce"}); await k.addCookies(cookies);
    const q=await k.newPage();
    await renderings(q,srv,id,look,s=>`${s}.${theme}.${size}`);
    await k.clearCookies(); await k.addCookies(rc);
    const r=await k.newPage();
    await renderingOfAReader(r,srv,id,look,s=>`${s}.${theme}.${size}`,faults);
    await k.close();
  }
} catch(e) { faults.push(e.stack) } finally { await chrome.close(); await srv.remove(); await net.stop(); }
console.log(faults.length+" faults"); for (const f of faults) console.log(f);
