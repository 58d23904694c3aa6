import "@angular/compiler";
import {Component, HostListener, signal} from "@angular/core";
import {RouterLink} from "@angular/router";
import {posts} from "../shared/api.js";

@Component({selector: "x-feed", imports: [RouterLink],
  template: `@for (n of list(); track n) {<p style="height:900px"><a [routerLink]="'/leaf/post-' + n">Post {{ n }}</a></p>}`})
export class Feed {
  list = signal<number[]>([]);
  page = 0;
  constructor() { this.more() }
  async more() {
    const found: number[] = await posts(++this.page);
    this.list.update(l => [...l, ...found]);
  }
  @HostListener("window:scroll") scrolled() {
    if (this.page === 1 && innerHeight + scrollY > document.documentElement.scrollHeight - 300) this.more();
  }
}
