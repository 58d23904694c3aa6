import {createApp} from "vue";
import {createRouter, createWebHistory} from "vue-router";
import {item, items} from "../shared/api.js";

const Home = {template: `<nav><router-link to="/list">List</router-link> <router-link to="/about">About</router-link> <router-link to="/feed">Feed</router-link></nav>`};
const List = {data: () => ({list: null}), async mounted() { this.list = await items() },
  template: `<p v-if="!list">Loading …</p><ul v-else><li v-for="n in list" :key="n"><router-link :to="'/item/' + n">Item {{ n }}</router-link></li></ul>`};
const Item = {data: () => ({of: null}), async mounted() { this.of = await item(this.$route.params.n) },
  template: `<article v-if="of"><h1>{{ of.title }}</h1><router-link v-for="p in of.pages" :key="p" :to="p">{{ p }}</router-link></article>`};

const router = createRouter({history: createWebHistory(), routes: [
  {path: "/", component: Home}, {path: "/list", component: List}, {path: "/item/:n", component: Item},
  {path: "/about", component: () => import("./about.js")}, {path: "/feed", component: () => import("./feed.js")},
]});
createApp({template: "<router-view/>"}).use(router).mount("#app");
