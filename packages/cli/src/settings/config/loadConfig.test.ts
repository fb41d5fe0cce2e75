import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { loadConfig } from "./loadConfig.js";

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "agent-config-"));
  vi.stubEnv("HOME", home);
  vi.stubEnv("XDG_STATE_HOME", "");
  vi.stubEnv("XDG_CACHE_HOME", "");
  mkdirSync(join(home, "project", "deep"), { recursive: true });
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(home, { recursive: true, force: true });
});

test("finds the project's config upwards, once it is trusted", async () => {
  const file = join(home, "project", "agent.config.ts");
  writeFileSync(file, 'const on: string[] = ["remove"];\nexport default { enable: on };');
  const cwd = join(home, "project", "deep");
  await expect(loadConfig({ cwd })).rejects.toThrow("has not been trusted");
  expect(await loadConfig({ cwd, trust: true })).toEqual({ file, config: { enable: ["remove"] } });
  expect((await loadConfig({ cwd }))?.file).toBe(file);
});

test("resolves to undefined where there is none", async () => {
  expect(await loadConfig({ cwd: join(home, "project") })).toBeUndefined();
});
