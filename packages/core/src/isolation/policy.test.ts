import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { linkedDirectories } from "./packageFiles.js";
import { packPolicy } from "./policy.js";

/** A project with its own package `packages/app`, which `node_modules/app` links to. */
let project: string;

beforeEach(() => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-policy-")));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  project = join(base, "project");
  addPackage("project", project);
  addPackage("app", join(project, "packages/app"));
  link("../packages/app", join(project, "node_modules/app"));
});

function addPackage(name: string, folder: string, dependencies: readonly string[] = []): string {
  mkdirSync(folder, { recursive: true });
  const wanted = Object.fromEntries(dependencies.map((dependency) => [dependency, "*"]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name, dependencies: wanted }));
  writeFileSync(join(folder, "index.js"), "");
  return folder;
}

function link(target: string, path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(target, path);
}

const readable = (folder: string, more = {}): readonly string[] =>
  packPolicy({
    ...{ entry: join(folder, "index.js"), runtime: "/runtime.js", grants: {} },
    ...{ workspace: project, secretPaths: [], ...more },
  }).readable;

describe("a pack without the files of the project", () => {
  test("reads no package of the project that it names as a dependency", () => {
    const pack = addPackage("pack", join(project, "node_modules/pack"), ["app", "installed"]);
    const installed = addPackage("installed", join(project, "node_modules/installed"));
    expect(readable(pack)).toEqual([pack, installed, "/runtime.js"]);
    // Also if the agent works below the project's root.
    const workspace = join(project, "packages");
    expect(readable(pack, { workspace, projects: [project] })).toEqual([pack, installed, "/runtime.js"]);
  });

  test("reads nothing by a link to a directory around it or the project", () => {
    const pack = addPackage("pack", join(project, "packs/pack"), ["up", "own", "app"]);
    link("../../..", join(pack, "node_modules/up"));
    const stranger = addPackage("stranger", join(dirname(project), "stranger"), ["up", "app"]);
    link(project, join(stranger, "node_modules/up"));
    link(join(project, "packages/app"), join(stranger, "node_modules/app"));
    // A part of the project may depend on another one.
    expect(readable(pack)).toEqual([pack, join(project, "packages/app"), "/runtime.js"]);
    expect(readable(stranger)).toEqual([stranger, "/runtime.js"]);
    // What is left is shown to the user.
    const linked = (folder: string) => linkedDirectories(join(folder, "index.js"), [project]);
    expect([linked(pack), linked(stranger)]).toEqual([[join(project, "packages/app")], []]);
  });
});

test("hides secret places in each directory that a pack reads", () => {
  const pack = addPackage("pack", join(project, "packs/pack"));
  const secrets = ["packs/pack/keys", "keys"].map((path) => join(project, path));
  const policy = { entry: join(pack, "index.js"), runtime: "/runtime.js", workspace: project };
  const hidden = (grants: object) => packPolicy({ ...policy, grants, secretPaths: secrets }).hidden;
  expect([hidden({}), hidden({ files: "read" })]).toEqual([[secrets[0]], secrets]);
});
