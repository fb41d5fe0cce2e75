import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { GitConfigs } from "./gitConfigs.js";

let folder: string;
let project: string;
const at = (...names: string[]): string => join(project, ...names);

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-git-configs-")));
  project = join(folder, "project");
  mkdirSync(at(".git"), { recursive: true });
  vi.stubEnv("GIT_CONFIG_GLOBAL", join(folder, "global"));
  vi.stubEnv("GIT_CONFIG_SYSTEM", join(folder, "system"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

describe("a configuration made to cost time", () => {
  test("is looked up in part if it has thousands of paths; hooks and the user's own settings come first", () => {
    writeFileSync(join(folder, "global"), '[filter "own"]\n\tclean = ./own/clean.sh\n');
    const words = Array.from({ length: 20_000 }, (_, index) => `./x/${index}`);
    const command = `[alias]\n\ta = "!${words.join(" ")}"\n`;
    writeFileSync(at(".git/config"), `${command}[core]\n\thooksPath = hooks\n`);
    const configs = new GitConfigs();
    expect(configs.named(at("file")).length).toBeLessThan(400);
    expect(configs.findKey(at("hooks/pre-commit"))).toBe("core.hookspath");
    expect(configs.findKey(at("own/clean.sh"))).toBe("filter.own.clean");
  });

  test("is looked up in part if it has many settings", () => {
    const lines = Array.from({ length: 8000 }, (_, index) => `\ta${index} = "!./x/${index}"`);
    writeFileSync(at(".git/config"), `[alias]\n${lines.join("\n")}\n`);
    expect(new GitConfigs().named(at("file")).length).toBeLessThan(400);
  });

  test("has no effect if it is larger than the limit, and neither has the part of includes beyond it", () => {
    writeFileSync(at(".git/config"), `[core]\n\thooksPath = hooks\n${"#".repeat(1024 * 1024)}\n`);
    expect(new GitConfigs().settings(at("file"))).toEqual([]);
    const includes = Array.from({ length: 20 }, (_, index) => `\tpath = more${index}`);
    writeFileSync(at(".git/config"), `[include]\n${includes.join("\n")}\n`);
    for (let index = 0; index < 20; index++) {
      writeFileSync(at(`.git/more${index}`), `[core]\n\tx = ${"y".repeat(50_000)}\n`);
    }
    const settings = new GitConfigs().settings(at("file")).filter(({ key }) => key === "core.x");
    expect(settings.length).toBe(5);
  });

  test("is read in part if it includes thousands of files, also in a circle", () => {
    for (let index = 0; index < 200; index++) {
      const next = [0, 1, 2, 3].map((step) => `\tpath = more${(index * 4 + step + 1) % 200}`);
      writeFileSync(at(`.git/more${index}`), `[include]\n${next.join("\n")}\n[core]\n\tx = ${index}\n`);
    }
    writeFileSync(at(".git/config"), "[include]\n\tpath = more0\n");
    const settings = new GitConfigs().settings(at("file")).filter(({ key }) => key === "core.x");
    expect(settings.length).toBeGreaterThan(10);
    expect(settings.length).toBeLessThanOrEqual(50);
  });
});

test("protects what an outer repository names from a repository inside it", () => {
  writeFileSync(at(".git/config"), "[core]\n\thooksPath = inner/hooks\n");
  mkdirSync(at("inner/.git"), { recursive: true });
  expect(new GitConfigs().findKey(at("inner/hooks/pre-commit"))).toBe("core.hookspath");
});

test("reads a file again when it has changed", () => {
  const configs = new GitConfigs();
  writeFileSync(at(".git/config"), "[core]\n\thooksPath = one\n");
  expect(configs.findKey(at("one/x"))).toBe("core.hookspath");
  writeFileSync(at(".git/config"), "[core]\n\thooksPath = second\n");
  expect([configs.findKey(at("one/x")), configs.findKey(at("second/x"))]).toEqual([
    undefined,
    "core.hookspath",
  ]);
});
