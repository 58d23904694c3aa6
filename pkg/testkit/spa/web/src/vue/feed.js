import {posts} from "../shared/api.js";

export default {
  data: () => ({list: [], page: 0}),
  async mounted() {
    await this.more();
    addEventListener("scroll", () => {
      if (this.page < 2 && innerHeight + scrollY > document.documentElement.scrollHeight - 300) this.more();
    });
  },
  methods: {async more() { this.list.push(...await posts(++this.page)) }},
  template: `<p v-for="n in list" :key="n" style="height:900px"><router-link :to="'/leaf/post-' + n">Post {{ n }}</router-link></p>`,
};
