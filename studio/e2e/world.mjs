// The world of the tests: a synthetic web, `whirlpool serve` over it, and a browser. All of it is real and on loopback.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

/** Starts a program and waits for a line of its output that matches. */
export function start(exe, args, pattern, name) {
  const child = spawn(exe, args, { stdio: ["pipe", "pipe", "pipe"] });
  const out = [];
  const ended = new Promise((done) => child.once("exit", done));
  const found = new Promise((done, fail) => {
    const timer = setTimeout(() => fail(new Error(`${name} did not start:\n${out.join("")}`)), 60_000);
    const look = (data) => {
      out.push(String(data));
      const m = pattern.exec(out.join(""));
      if (!m) return;
      clearTimeout(timer);
      done(m);
    };
    child.stdout.on("data", look);
    child.stderr.on("data", look);
    ended.then((code) => fail(new Error(`${name} ended with ${code}:\n${out.join("")}`)));
  });
  return {
    child,
    out,
    found,
    ended,
    stop: async (signal = "SIGTERM") => {
      if (child.exitCode === null) child.kill(signal);
      await ended;
    },
  };
}

/** A synthetic web whose hosts answer at some pace. */
export async function web(exe, flags) {
  const p = start(exe, ["fakeweb", "-stdin", ...flags], /^(\{.*"seeds".*\})$/m, "fakeweb");
  const told = JSON.parse((await p.found)[1]);
  return { ...told, stop: () => p.stop() };
}

/** A server of its own directory. */
export async function serve(exe, dns, dir = mkdtempSync(join(tmpdir(), "whirlpool-studio-"))) {
  const args = ["serve", "--dir", dir, "--listen", "127.0.0.1:0", "--dns", dns, "--allow-private", "--read-only-link", "--plugins", join(dir, "plugins")];
  const p = start(exe, args, /studio on (http:\/\/\S+)[\s\S]*read only: (http:\/\/\S+)/, "whirlpool serve");
  const [, link, viewer] = await p.found;
  return {
    link,
    viewer,
    origin: new URL(link).origin,
    dir,
    out: p.out,
    stop: p.stop,
    remove: async () => {
      await p.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

export function browser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
}

/** Calls the API with the cookies of a browser's context. */
export function api(context, origin) {
  return async (method, path, body) => {
    const answer = await context.request.fetch(origin + "/api/v1" + path, {
      method,
      headers: { "Content-Type": "application/json", Origin: origin },
      data: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    if (!answer.ok()) throw new Error(`${method} ${path}: ${answer.status()} ${text}`);
    return text ? JSON.parse(text) : undefined;
  };
}

let loads = 0;

/** Loads a page of the studio anew. Another query makes it another document; by way of about:blank each would get a renderer process of its own, which costs half a second. */
export function load(page, srv, hash) {
  return page.goto(`${srv.origin}/?load=${++loads}${hash}`);
}

/** Waits until something is true, looking again and again. */
export async function until(what, look, limit = 120_000) {
  const end = Date.now() + limit;
  for (;;) {
    const v = await look();
    if (v) return v;
    if (Date.now() > end) throw new Error(`waited ${limit / 1000} s for ${what}`);
    await new Promise((done) => setTimeout(done, 100));
  }
}
