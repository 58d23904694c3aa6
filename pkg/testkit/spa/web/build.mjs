// Builds each application of src into dist/NAME: modules with code splitting, as the bundlers of today make them.
import {build} from "esbuild";
import {compile, compileModule} from "svelte/compiler";
import {readFile} from "node:fs/promises";

const svelte = {
  name: "svelte",
  setup(b) {
    b.onLoad({filter: /\.svelte$/}, async ({path}) => {
      const {js} = compile(await readFile(path, "utf8"), {filename: path, generate: "client", css: "injected"});
      return {contents: js.code, loader: "js"};
    });
    b.onLoad({filter: /\.svelte\.js$/}, async ({path}) => {
      const {js} = compileModule(await readFile(path, "utf8"), {filename: path, generate: "client"});
      return {contents: js.code, loader: "js"};
    });
  },
};

const entries = {react: "main.jsx", vue: "main.js", svelte: "main.js", angular: "main.ts", lit: "main.js", vanilla: "main.js"};
for (const [name, entry] of Object.entries(entries)) {
  await build({
    entryPoints: {main: `src/${name}/${entry}`}, outdir: `dist/${name}/assets`, bundle: true, splitting: true, format: "esm", minify: true,
    entryNames: "index-[hash]", chunkNames: "[name]-[hash]", metafile: true, jsx: "automatic", plugins: [svelte], conditions: ["svelte", "browser"],
    define: {"process.env.NODE_ENV": '"production"', __VUE_OPTIONS_API__: "true", __VUE_PROD_DEVTOOLS__: "false",
      __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false"},
    alias: name === "vue" ? {vue: "vue/dist/vue.esm-bundler.js"} : {},
    tsconfigRaw: {compilerOptions: {experimentalDecorators: true, useDefineForClassFields: false}},
  });
}
