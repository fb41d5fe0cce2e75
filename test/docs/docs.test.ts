import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { codeBlocks, exampleBlocks } from "./markdown.js";
import { pages, ROOT } from "./pages.js";

const HERE = fileURLToPath(new URL("../", import.meta.url));

/** Every source file whose doc comments become the API reference. */
function sources(): string[] {
  const folders = readdirSync(join(ROOT, "packages")).map((name) => join(ROOT, "packages", name, "src"));
  return folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder, { recursive: true }).map((file) => join(folder, String(file))))
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".test.ts"));
}

test("type-checks every TypeScript example in the documentation and the doc comments", () => {
  // Below this package, whose dependencies are all of ours, and inside a scaffolded pack, which the guide talks about.
  mkdirSync(join(HERE, ".turbo"), { recursive: true });
  const directory = mkdtempSync(join(HERE, ".turbo/docs-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const cli = join(ROOT, "packages/cli/bin.js");
  const scaffold = spawnSync(process.execPath, [cli, "pack", "new", "@acme/agent-pack-notes"], {
    cwd: directory,
    encoding: "utf8",
  });
  expect([scaffold.status, scaffold.stderr]).toEqual([0, ""]);
  const pack = join(directory, "agent-pack-notes");
  let count = 0;
  for (const page of pages()) {
    for (const [index, code] of codeBlocks(join(ROOT, page), "ts").entries()) {
      const plain = `${basename(dirname(page))}-${basename(page, ".md")}-${index + 1}.ts`;
      writeFileSync(join(pack, "src", fileName(code) ?? plain), `${code}\nexport {};\n`);
      count++;
    }
  }
  expect(count).toBeGreaterThan(8);
  const examples = sources().flatMap((file) => exampleBlocks(file).map((code) => ({ file, code })));
  expect(examples.length).toBeGreaterThan(4);
  for (const [index, { file, code }] of examples.entries()) {
    expect(code, `${file}: an @example without a block of TypeScript`).not.toBe("");
    const name = `example-${basename(file, ".ts")}-${index + 1}.ts`;
    writeFileSync(join(pack, "src", name), `${code}\nexport {};\n`);
  }
  const { status, stdout } = spawnSync(join(ROOT, "node_modules/.bin/tsc"), ["--noEmit", "--project", pack], {
    cwd: ROOT,
    encoding: "utf8",
  });
  expect([status, stdout.replaceAll(relative(ROOT, pack), "")]).toEqual([0, ""]);
});

/** The file that a block of code is, if its first line is a comment that says so: other blocks import it. */
function fileName(code: string): string | undefined {
  return /^\/\/ (\w+\.ts)\n/.exec(code)?.[1];
}

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) process.stdout.write("Skipped: units in the documentation. They need systemd-analyze.\n");

test.skipIf(!hasSystemd)("verifies every unit in the documentation with systemd", () => {
  const directory = mkdtempSync(join(tmpdir(), "agent-units-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const units = codeBlocks(join(ROOT, "docs/fleets.md"), "ini").map((code) => {
    const [, name = ""] = /^# \/etc\/systemd\/system\/(\S+)\n/.exec(code) ?? [];
    writeFileSync(join(directory, name), code);
    return join(directory, name.replace("@.", "@shop."));
  });
  expect(units.map((unit) => basename(unit))).toEqual([
    "agent-worker@shop.service",
    "agent-prune.service",
    "agent-prune.timer",
  ]);
  // systemd-analyze only warns about unknown keys and exits with 0, so the output is checked.
  const { stdout, stderr } = spawnSync("systemd-analyze", ["verify", ...units], { encoding: "utf8" });
  expect(stdout + stderr).toBe("");
});
