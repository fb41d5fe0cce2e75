import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ownProgram } from "./ownProgram.js";

let folder: string;
let project: string;
let system: string;

beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "agent-program-")));
  project = join(folder, "project");
  system = join(folder, "bin");
  mkdirSync(join(project, ".git"), { recursive: true });
  put(system);
});

afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Puts an executable named git into a directory, and returns the directory. */
function put(directory: string): string {
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "git"), "#!/bin/sh\n");
  chmodSync(join(directory, "git"), 0o755);
  return directory;
}

const find = (...path: string[]): string | undefined =>
  ownProgram("git", project, [...path, system].join(":"));

test("uses no program of the project, whichever way PATH names it", () => {
  const own = join(system, "git");
  expect(find(put(join(project, "node_modules", ".bin")))).toBe(own);
  expect(find(put(join(project, "bin")))).toBe(own);
  expect(find("node_modules/.bin", ".", "", "./bin")).toBe(own);
  expect(find(put(join(folder, "node_modules", ".bin")))).toBe(own);
  symlinkSync(join(project, "bin"), join(folder, "link"));
  expect(find(join(folder, "link"))).toBe(own);
  const links = join(folder, "links");
  mkdirSync(links);
  symlinkSync(join(project, "bin", "git"), join(links, "git"));
  expect(find(links)).toBe(own);
});

test("includes the rest of the project in a directory below its root as well", () => {
  const deep = join(project, "packages", "a");
  mkdirSync(deep, { recursive: true });
  const path = [put(join(project, "bin")), system].join(":");
  expect(ownProgram("git", deep, path)).toBe(join(system, "git"));
});

test("skips what cannot be executed, and returns undefined if there is nothing else", () => {
  const plain = join(folder, "plain");
  mkdirSync(plain);
  writeFileSync(join(plain, "git"), "text", { mode: 0o644 });
  expect(find(plain)).toBe(join(system, "git"));
  expect(ownProgram("git", project, plain)).toBeUndefined();
  expect(ownProgram("git", project, "")).toBeUndefined();
});
