import {item, items, posts} from "../shared/api.js";

const main = document.querySelector("main");
const show = list => main.insertAdjacentHTML("beforeend", list.map(([href, text]) => `<p style="min-height:20px"><a href="${href}">${text}</a></p>`).join(""));
const routes = {
  "/": () => show([["/list", "List"], ["/about", "About"], ["/feed", "Feed"]]),
  "/list": async () => show((await items()).map(n => [`/item/${n}`, `Item ${n}`])),
  "/about": async () => (await import("./about.js")).default(show),
  "/feed": async () => {
    let page = 0;
    const more = async () => show((await posts(++page)).map(n => [`/leaf/post-${n}`, `Post ${n}`]));
    await more();
    main.insertAdjacentHTML("beforeend", `<div style="height:4000px"></div>`);
    addEventListener("scroll", () => page < 2 && more());
  },
};
async function route() {
  main.textContent = "";
  const p = location.pathname;
  if (p.startsWith("/item/")) show((await item(p.slice(6))).pages.map(x => [x, x]));
  else await routes[p]?.();
}
addEventListener("popstate", route);
document.addEventListener("click", e => {
  const a = e.target.closest("a");
  if (!a || a.origin !== location.origin) return;
  e.preventDefault();
  history.pushState({}, "", a.href);
  route();
});
route();
