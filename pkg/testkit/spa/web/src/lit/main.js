import {LitElement, html} from "lit";
import {item, items} from "../shared/api.js";

class Shop extends LitElement {
  static properties = {data: {state: true}};
  async connectedCallback() {
    super.connectedCallback();
    const p = location.pathname;
    if (p === "/list") this.data = await items();
    if (p.startsWith("/item/")) this.data = await item(p.slice(6));
    if (p === "/about") await import("./about.js");
    if (p === "/feed") await import("./feed.js");
  }
  render() {
    const p = location.pathname, d = this.data;
    if (p === "/") return html`<nav><a href="/list">List</a> <a href="/about">About</a> <a href="/feed">Feed</a></nav>`;
    if (p === "/list") return html`${(d ?? []).map(n => html`<a href="/item/${n}">Item ${n}</a>`)}`;
    if (p.startsWith("/item/")) return d && html`<h1>${d.title}</h1>${d.pages.map(x => html`<a href=${x}>${x}</a>`)}`;
    if (p === "/about") return html`<x-about></x-about>`;
    return html`<x-feed></x-feed>`;
  }
}
customElements.define("shop-app", Shop);
