import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { transcripts } from "./markdown.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const AGENT = join(ROOT, "packages/cli/dist/bin.js");

/** What a shell prints for a command of the documentation, on both streams. */
function run(command: string, cwd: string, home: string): string {
  const script = `agent() { '${process.execPath}' '${AGENT}' "$@"; }\n${command.replace("npm start --", "agent")}`;
  const env = { PATH: process.env.PATH, HOME: home, AGENT_LOCAL_PORTS: "" };
  return spawnSync("sh", ["-c", `{ ${script}\n} 2>&1`], { cwd, env, encoding: "utf8" }).stdout;
}

/** Durations, and the size of AGENTS.md, differ from run to run. */
function withoutFigures(text: string): string {
  return text
    .replaceAll(/\b\d+\.\d+s\b/g, "0.0s")
    .replace(/(AGENTS\.md) \(\d+ bytes\)/, "$1 (0 bytes)")
    .trim();
}

function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "agent-transcripts-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

test("the commands that the README shows print what it shows", () => {
  const shown = transcripts(join(ROOT, "README.md"));
  expect(shown).toHaveLength(1);
  for (const { command, output } of shown)
    expect(withoutFigures(run(command, ROOT, temporaryDirectory()))).toBe(withoutFigures(output));
});

test("the commands that the README of the command shows print what it shows", () => {
  const [project, home] = [temporaryDirectory(), temporaryDirectory()];
  mkdirSync(join(project, "src"));
  writeFileSync(join(project, "src/greet.ts"), "// TODO: greet by name\n");
  const shown = transcripts(join(ROOT, "packages/cli/README.md"));
  expect(shown).toHaveLength(3);
  for (const { command, output } of shown)
    expect(withoutFigures(run(command, project, home))).toBe(withoutFigures(output));
});
