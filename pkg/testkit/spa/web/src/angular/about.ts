import "@angular/compiler";
import {Component} from "@angular/core";
import {RouterLink} from "@angular/router";

@Component({selector: "x-about", imports: [RouterLink],
  template: `<h1>About</h1><a routerLink="/leaf/team">Team</a> <a routerLink="/leaf/imprint">Imprint</a>`})
export class About {}
