import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pack } from "../install/project.js";
import { findPublicRegistry } from "../publish/registry.js";
import { isInstalled, PACKAGES, toolchains, why } from "./app.js";

const execute = promisify(execFile);
const YARN = join(toolchains, "node_modules", "@yarnpkg", "cli-dist", "bin", "yarn.js");
const NAMES = [
  "core",
  "durable",
  "evals",
  "testing",
  "provider-openai",
  "tools-fs",
  "tools-search",
  "tools-bash",
  "preset-default",
  "cli",
];
const HI = "@acme/agent-pack-hi";
const HI_MANIFEST = {
  name: HI,
  version: "1.0.0",
  type: "module",
  main: "index.js",
  keywords: ["agent-pack"],
};
const HI_SOURCE = `
  import { defineTool } from "@agent/core";
  export const packName = "hi";
  export function register(registry) {
    const about = { name: "hi", description: "Says hi.", input: { type: "object" }, capabilities: ["read"] };
    registry.register(defineTool({ ...about, execute: () => "hi there" }));
  }`;
/** Asks an agent that reads a file, as a program of the project. */
const PROGRAM = `
  import { Agent } from "@agent/core";
  import { scriptedProvider } from "@agent/core/replay";
  import * as fs from "@agent/tools-fs";
  const model = scriptedProvider([{ calls: [{ name: "read_file", args: { path: "a.txt" } }] }, "Read."]);
  const agent = new Agent(model, { packs: [[fs, { root: "." }]] });
  for await (const event of agent.streamChat("Read it.")) if (event.type === "tool_end") console.log(event.text);`;

const { url: registry, problem } = await findPublicRegistry();
const skipped = !isInstalled || problem !== undefined;

describe.skipIf(skipped)(`a project of Yarn Plug'n'Play${why || (problem ?? "")}`, () => {
  let root: string;
  let project: string;
  beforeAll(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "agent-yarn-")));
    project = join(root, "project");
    mkdirSync(project);
    const tarballs = await pack(
      NAMES.map((name) => `@agent/${name}`),
      root,
    );
    const resolutions = Object.fromEntries([...tarballs].map(([name, path]) => [name, `file:${path}`]));
    const dependencies = Object.fromEntries(
      ["@agent/core", "@agent/cli", "@agent/tools-fs"].map((name) => [name, resolutions[name]]),
    );
    const manifest = { name: "project", private: true, type: "module", dependencies, resolutions };
    write("package.json", JSON.stringify(manifest));
    write(
      ".yarnrc.yml",
      `nodeLinker: pnp\nenableTelemetry: false\nnpmRegistryServer: "${registry}"\nunsafeHttpWhitelist: ["*"]\n`,
    );
    write("yarn.lock", "");
    write("a.txt", "one line\n");
    expect((await yarn("install")).output).toContain("Done");
  });
  afterAll(() => rm(root, { recursive: true, force: true, maxRetries: 3 }));

  const write = (name: string, text: string): void => writeFileSync(join(project, name), text);

  async function yarn(...args: string[]): Promise<{ code: number; output: string }> {
    return await run(process.execPath, YARN, ...args);
  }

  async function run(program: string, ...args: string[]): Promise<{ code: number; output: string }> {
    const home = join(root, "home");
    // In CI, Yarn refuses to change the lock file; what pnpm set for these tests would let the project find our packages.
    const { CI: _, NODE_OPTIONS: __, NODE_PATH: ___, ...inherited }: NodeJS.ProcessEnv = process.env;
    const env = {
      ...inherited,
      HOME: home,
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_STATE_HOME: join(home, "state"),
    };
    try {
      const { stdout, stderr } = await execute(program, args, { cwd: project, env });
      return { code: 0, output: stdout + stderr };
    } catch (error) {
      const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
      return { code, output: stdout + stderr };
    }
  }

  test("has no node_modules, and a program of it uses the packs", async () => {
    expect(existsSync(join(project, "node_modules"))).toBe(false);
    write("program.js", PROGRAM);
    expect(await yarn("node", "program.js")).toEqual({
      code: 0,
      output: expect.stringContaining("one line\n"),
    });
  });

  test("has the command with all its tools, threads included", async () => {
    expect((await yarn("agent", "tools")).output).toMatch(/run_bash +off/);
    // A look-behind is matched only in a thread.
    const search = ["--query", "(?<=one )line", "--regex", "--paths", '["a.txt"]'];
    expect((await yarn("agent", "tool", "run", "search_text", ...search)).output).toContain(
      "a.txt:1:one line",
    );
    expect((await yarn("agent", "pack", "list")).output).toContain("@agent/tools-fs 0.0.0: ");
  });

  test("takes a pack of someone else: Yarn installs it, the command selects it", async () => {
    const refused = await yarn("agent", "pack", "add", HI, "--yes");
    expect(refused).toEqual({
      code: 2,
      output: expect.stringContaining(`Run: yarn add ${HI}, then again: yarn agent pack add ${HI}\n`),
    });
    const folder = join(root, "hi");
    mkdirSync(folder);
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ ...HI_MANIFEST, peerDependencies: { "@agent/core": "*" } }),
    );
    writeFileSync(join(folder, "index.js"), HI_SOURCE);
    expect((await yarn("add", `${HI}@file:${folder}`)).code).toBe(0);
    expect(await yarn("agent", "pack", "add", HI, "--yes")).toEqual({
      code: 4,
      output: expect.stringMatching(/cannot be isolated: .*Plug'n'Play[\s\S]*--isolation none/),
    });
    const added = await yarn("agent", "pack", "add", HI, "--yes", "--isolation", "none");
    expect(added).toEqual({ code: 0, output: expect.stringContaining("  hi (on; read)\n") });
    expect(JSON.parse(readFileSync(join(project, "agent.config.json"), "utf8")).packs).toContain(HI);
    expect(await yarn("agent", "tool", "run", "hi")).toEqual({ code: 0, output: "hi there\n" });
    expect(existsSync(join(project, "node_modules"))).toBe(false);
  });

  test("reads a config in TypeScript that imports from the packages", async () => {
    await rm(join(project, "agent.config.json"), { force: true });
    write(
      "agent.config.ts",
      `import { defineConfig } from "@agent/cli/config";
       import * as fs from "@agent/tools-fs";
       export default defineConfig({ packs: [[fs, { root: "." }], "${HI}"], disable: ["write_file"] });`,
    );
    const { output } = await yarn("agent", "tools", "--trust");
    expect(output).toMatch(/write_file +off/);
    expect(output).toMatch(/hi +on/);
  });

  test("says that Yarn has to start the command where it did not", async () => {
    await rm(join(project, "agent.config.ts"), { force: true });
    write("agent.config.json", JSON.stringify({ packs: [HI] }));
    const alone = await run(process.execPath, join(PACKAGES, "cli", "dist", "bin.js"), "tools", "--trust");
    expect(alone).toEqual({
      code: 2,
      output: expect.stringContaining("Yarn did not start this command. Run: yarn agent\n"),
    });
  });
});
