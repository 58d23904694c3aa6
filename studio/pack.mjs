// After a build: a packed twin beside each file, and SOURCES, the digest of what it was built of. Both are the same
// whenever the source is. The first argument "check" only compares sizes with the budgets.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const dist = "../pkg/studio/dist";
const budgets = { first: 130_000, all: 320_000 }; // bytes, packed

function walk(dir) {
  return readdirSync(dir, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((d) => (d.isDirectory() ? walk(join(dir, d.name)) : [join(dir, d.name)]));
}

/** What a build depends on. TestStudioIsFresh reads the same files in the same order. */
function sources() {
  const files = [...walk("src"), ...walk("public"), "index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"];
  const sum = createHash("sha256");
  for (const f of files.sort()) sum.update(f + "\0").update(readFileSync(f)).update("\0");
  return sum.digest("hex");
}

function sizes() {
  const html = readFileSync(join(dist, "index.html"), "utf8");
  let first = 0;
  let all = 0;
  for (const f of walk(dist).filter((f) => f.endsWith(".gz"))) {
    const n = readFileSync(f).length;
    all += n;
    const name = f.slice(dist.length + 1, -3);
    // The first page: what index.html names, the chunks that these import at once, and the page itself.
    if (name === "index.html" || html.includes(name) || /\/(text|state|filter|more)-/.test(name)) first += n;
  }
  return { first, all };
}

if (process.argv[2] !== "check") {
  for (const f of walk(dist)) if (f.endsWith(".gz")) rmSync(f);
  for (const f of walk(dist)) writeFileSync(f + ".gz", gzipSync(readFileSync(f), { level: 9 }));
  writeFileSync(join(dist, "SOURCES"), sources() + "\n");
}
const is = sizes();
console.log(`first page ${is.first} of ${budgets.first} bytes, all ${is.all} of ${budgets.all} (gzip)`);
if (is.first > budgets.first || is.all > budgets.all) process.exit(1);
const foreign = walk(dist)
  .filter((f) => /\.(js|css|html)$/.test(f))
  .flatMap((f) => [...readFileSync(f, "utf8").matchAll(/(?:src|href|url|import)\s*[=(]\s*["']?(https?:\/\/[^"')\s]+)/g)].map((m) => `${f}: ${m[1]}`));
if (foreign.length) {
  console.error("addresses of other origins:\n" + foreign.join("\n"));
  process.exit(1);
}
