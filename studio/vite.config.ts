import { defineConfig } from "vite";

// The result is committed and embedded in the program, so a build must give the same bytes each time.
export default defineConfig({
  base: "./",
  build: {
    outDir: "../pkg/studio/dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
  server: { proxy: { "/api": "http://127.0.0.1:8711" } },
});
