import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

test("exports the public API of @agent/cli/config", async () => {
  expect(Object.keys(await import("./index.js")).sort()).toEqual(["defineConfig", "loadConfig"]);
});

test("loads neither cosmiconfig nor jiti on import", () => {
  const script = `
    const { defineConfig } = await import("@agent/cli/config");
    const { createRequire } = await import("node:module");
    const loaded = Object.keys(createRequire(import.meta.url).cache).filter((file) => /cosmiconfig|jiti/.test(file));
    console.log(JSON.stringify([defineConfig({ enable: ["remove"] }), loaded]));
  `;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  expect(JSON.parse(stdout)).toEqual([{ enable: ["remove"] }, []]);
});
