import {LitElement, html} from "lit";
import {posts} from "../shared/api.js";

customElements.define("x-feed", class extends LitElement {
  static properties = {list: {state: true}};
  page = 0;
  constructor() {
    super();
    this.list = [];
  }
  async firstUpdated() {
    const more = async () => { this.list = [...this.list, ...await posts(++this.page)] };
    await more();
    addEventListener("scroll", () => this.page < 2 && more());
  }
  render() { return this.list.map(n => html`<p style="height:900px"><a href="/leaf/post-${n}">Post ${n}</a></p>`) }
});
