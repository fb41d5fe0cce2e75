import { cpSync } from "node:fs";
import { defineConfig } from "tsup";

export default defineConfig([
  { entry: ["src/main.ts", "src/app.ts"], format: ["esm"], target: "node20", clean: ["dist/*.js"] },
  {
    entry: { page: "src/page/main.tsx" },
    outDir: "dist/page",
    format: ["esm"],
    platform: "browser",
    target: "es2022",
    // A page has no node_modules: everything it needs is in the file.
    noExternal: [/.*/],
    define: { "process.env.NODE_ENV": '"production"' },
    minify: true,
    onSuccess: async () => cpSync("src/page/index.html", "dist/page/index.html"),
  },
]);
