import "@angular/compiler";
import {Component, inject, provideZonelessChangeDetection, signal} from "@angular/core";
import {bootstrapApplication} from "@angular/platform-browser";
import {ActivatedRoute, RouterLink, RouterOutlet, provideRouter} from "@angular/router";
import {item, items} from "../shared/api.js";

@Component({selector: "x-home", imports: [RouterLink],
  template: `<nav><a routerLink="/list">List</a> <a routerLink="/about">About</a> <a routerLink="/feed">Feed</a></nav>`})
class Home {}

@Component({selector: "x-list", imports: [RouterLink],
  template: `<ul>@for (n of list(); track n) {<li><a [routerLink]="['/item', n]">Item {{ n }}</a></li>}</ul>`})
class List {
  list = signal<number[]>([]);
  constructor() { items().then((l: number[]) => this.list.set(l)) }
}

@Component({selector: "x-item", imports: [RouterLink],
  template: `@if (of(); as o) {<h1>{{ o.title }}</h1>@for (p of o.pages; track p) {<a [routerLink]="p">{{ p }}</a>}}`})
class Item {
  of = signal<any>(null);
  constructor() { item(inject(ActivatedRoute).snapshot.params["n"]).then((o: any) => this.of.set(o)) }
}

@Component({selector: "app-root", imports: [RouterOutlet], template: `<router-outlet/>`})
class App {}

bootstrapApplication(App, {providers: [provideZonelessChangeDetection(), provideRouter([
  {path: "", component: Home}, {path: "list", component: List}, {path: "item/:n", component: Item},
  {path: "about", loadComponent: () => import("./about").then(m => m.About)}, {path: "feed", loadComponent: () => import("./feed").then(m => m.Feed)},
])]});
