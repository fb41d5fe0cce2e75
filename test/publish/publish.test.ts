import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { temporaryWorkspace } from "@agent/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { codeBlocks } from "../docs/markdown.js";
import { snippets } from "../docs/pages.js";
import { Commands } from "./commands.js";
import { findPublicRegistry, type LocalRegistry, startRegistry } from "./registry.js";
import { WorkspaceCopy } from "./workspaceCopy.js";

const { url: publicRegistry, problem } = await findPublicRegistry();
const title = `what is published${problem ? ` (skipped: ${problem})` : ""}`;

/** Uses a file tool through a registry, as an embedding program would. */
const USE_FS = `
  import { createToolRegistry } from "@agent/core";
  import * as fs from "@agent/tools-fs";
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "s.json" };
  const registry = createToolRegistry(context, [fs]);
  console.log(await registry.execute("write_file", { path: "a.txt", content: "hello" }));
  console.log(await registry.execute("read_file", { path: "a.txt" }));
  console.log(await registry.execute("remove", { path: "a.txt" }));
`;

describe.skipIf(problem !== undefined)(title, () => {
  let directory = "";
  let registry: LocalRegistry;
  let commands: Commands;
  let copy: WorkspaceCopy;
  let remove = async () => {};

  beforeAll(async () => {
    ({ path: directory, remove } = await temporaryWorkspace());
    registry = await startRegistry(join(directory, "registry"));
    commands = await Commands.create(directory, [
      `registry=${publicRegistry}`,
      ...registry.npmrc("@agent", "@acme"),
      "audit=false",
      "fund=false",
    ]);
    copy = await WorkspaceCopy.create(join(directory, "workspace"), commands);
  });
  afterAll(async () => {
    await registry?.stop();
    await remove();
  });

  async function project(name: string): Promise<string> {
    const path = join(directory, name);
    await mkdir(path);
    await writeFile(join(path, "package.json"), '{ "private": true, "type": "module" }');
    return path;
  }
  const installed = async (path: string) => (await readdir(join(path, "node_modules/@agent"))).sort();
  const agent = (path: string, ...args: string[]) =>
    commands.run(path, join(path, "node_modules/.bin/agent"), args);

  test("gives each package a first version below 1.0.0 with the changesets", async () => {
    const versions = await copy.applyChangesets();
    for (const [name, version] of Object.entries(versions)) expect([name, version]).toEqual([name, "0.1.0"]);
  });

  test("publishes all of them with changeset publish", async () => {
    const output = await copy.publish();
    for (const name of Object.keys(await copy.versions())) expect(output).toContain(`${name}@0.1.0`);
  });

  describe.each(["npm", "pnpm"])("with %s", (manager) => {
    test("installs core and one pack alone, and they work", async () => {
      const path = await project(`fs-${manager}`);
      await commands.must(
        path,
        manager,
        manager === "npm" ? "install" : "add",
        "@agent/core",
        "@agent/tools-fs",
      );
      expect(await installed(path)).toEqual(["core", "tools-fs"]);
      const lock = await readFile(
        join(path, manager === "npm" ? "package-lock.json" : "pnpm-lock.yaml"),
        "utf8",
      );
      expect([...new Set(lock.match(/@agent\/[\w-]+/g))].sort()).toEqual(["@agent/core", "@agent/tools-fs"]);
      await writeFile(join(path, "use.mjs"), USE_FS);
      expect(await commands.must(path, "node", "use.mjs")).toMatch(
        /a\.txt.*\nhello\nTool not available: remove\n/,
      );
    });

    test("installs the CLI with its tools, and it runs", async () => {
      const path = await project(`cli-${manager}`);
      await commands.must(path, manager, manager === "npm" ? "install" : "add", "@agent/cli");
      expect(await agent(path, "--version")).toMatchObject({ status: 0, stdout: "0.1.0\n" });
      const tools = await agent(path, "tools");
      expect(tools).toMatchObject({ status: 0 });
      expect(tools.stdout).toMatch(/read_file +on/);
      expect(tools.stdout).toMatch(/run_bash +off/);
    });
  });

  test("explains in the CLI how to add packs without optional dependencies", async () => {
    const path = await project("bare");
    await commands.must(path, "npm", "install", "--omit=optional", "@agent/cli");
    expect(await installed(path)).toEqual(["cli", "core", "durable", "evals", "provider-openai", "testing"]);
    const { status, stdout, stderr } = await agent(path, "tools");
    expect(status).toBe(0);
    expect(stdout + stderr).toContain("npm install @agent/preset-default");
  });

  test("follows the guide to writing a pack as written, from nothing to a published pack", async () => {
    const path = await project("guide");
    const page = new URL("../../docs/writing-a-pack.md", import.meta.url);
    const shownFiles = codeBlocks(page, "ts");
    const tool = shownFiles.find((code) => code.includes("export const greet")) ?? "";
    const index = shownFiles.find((code) => code.includes('"./tools/greet.js"')) ?? "";
    await writeFile(join(path, "greet.ts"), tool);
    await writeFile(join(path, "index.ts"), index);
    const [start, ...others] = codeBlocks(page, "sh");
    // The two files that the page shows take the places it names, and the pack is still one that passes.
    const shown = "cp ../greet.ts src/tools/greet.ts\ncp ../index.ts src/index.ts\nnpm test";
    await writeFile(join(path, "guide.sh"), ["set -eux", start, shown, ...others].join("\n"));
    const output = await commands.must(path, "sh", "guide.sh");
    expect(output).toContain("All checks passed");
    expect(output).toMatch(/notes_write_note +on/);
    expect(output).toContain("Added a line to notes.txt");
    expect(output).toContain("  notes_greet (on)\n  notes_write_note (off by default, write)\n");
    expect(output).toContain("Hello, Ada!");
    expect(await readFile(join(path, "try-notes/notes.txt"), "utf8")).toBe("Buy milk\n");
  });

  test("installs our packages with every command of the documentation that does so", async () => {
    const lines = snippets()
      .flatMap(({ language, code }) => (language === "sh" ? code.split("\n") : []))
      .filter((line) => /^npm install (?!\.\.)(?!.*@acme\/).*@agent\//.test(line))
      .map((line) => line.replace(/ *#.*/, ""));
    expect(lines.length).toBeGreaterThan(12);
    for (const [index, line] of [...new Set(lines)].entries()) {
      const path = await project(`documented-${index}`);
      // Resolving is what can fail: the other tests download and unpack the same packages.
      const resolveOnly = line.includes("--global") ? "" : " --package-lock-only";
      await commands.must(path, "sh", "-c", line + resolveOnly);
    }
  });

  test("installs a third-party pack, opts in to it, calls it, and uninstalls it again", async () => {
    const path = await project("third-party");
    await commands.must(path, "npm", "install", "@agent/cli", "@acme/agent-pack-notes");
    expect((await agent(path, "pack", "list")).stdout).toContain("@acme/agent-pack-notes 0.1.0: 2 tools\n");
    const call = ["tool", "run", "--trust", "notes_write_note", "--path", "n.txt", "--text", "hello"];
    await configure(path, "");
    const off = await agent(path, ...call);
    expect([off.status, off.stderr]).toEqual([
      4,
      expect.stringContaining("Tool not available: notes_write_note"),
    ]);
    await configure(path, 'enable: ["notes_write_note"],');
    expect(await agent(path, ...call)).toMatchObject({ status: 0, stdout: "Added a line to n.txt\n" });
    expect(await readFile(join(path, "n.txt"), "utf8")).toBe("hello\n");

    await commands.must(path, "npm", "uninstall", "@acme/agent-pack-notes");
    const gone = await agent(path, ...call);
    expect(gone.status).toBe(2);
    expect(gone.stderr).toContain("agent pack add @acme/agent-pack-notes");
  });

  test.for([22, 24])("runs the installed command and packs on Node %i", async (version, { skip }) => {
    const path = join(directory, "cli-npm");
    const script = `${USE_FS}; console.log(process.version)`;
    await writeFile(join(path, "use.mjs"), script.replaceAll("@agent/tools-fs", "@agent/preset-default"));
    const node = await commands.run(path, "npx", ["--yes", `node@${version}`, "use.mjs"]);
    if (/E404|ETARGET|ENOTFOUND|EBADPLATFORM/.test(node.stderr))
      skip(`node@${version} cannot be had from the registry`);
    expect(node.stdout).toMatch(new RegExp(`hello\nTool not available: remove\nv${version}\\.`));
    const program = join(path, "node_modules/@agent/cli/bin.js");
    const cli = await commands.run(path, "npx", [
      "--yes",
      `node@${version}`,
      program,
      "tool",
      "run",
      "list_dir",
    ]);
    expect([cli.status, cli.stdout]).toEqual([0, expect.stringContaining("package.json")]);
  });

  test("raises the dependents of a new version of core by a patch, and both cores work in one tree", async () => {
    await copy.addChangeset("@agent/core", "minor");
    const versions = await copy.applyChangesets();
    expect(versions["@agent/core"]).toBe("0.2.0");
    for (const [name, version] of Object.entries(versions)) {
      if (name !== "@agent/core") expect([name, version]).toEqual([name, "0.1.1"]);
    }
    await copy.publishOne("core");

    const path = await project("two-cores");
    await commands.must(path, "npm", "install", "@agent/core@0.2.0", "@agent/tools-fs@0.1.0");
    const inner = JSON.parse(
      await readFile(
        join(path, "node_modules/@agent/tools-fs/node_modules/@agent/core/package.json"),
        "utf8",
      ),
    );
    expect(inner.version).toBe("0.1.0");
    await writeFile(join(path, "use.mjs"), USE_FS);
    expect(await commands.must(path, "node", "use.mjs")).toMatch(
      /a\.txt.*\nhello\nTool not available: remove\n/,
    );
  });

  async function configure(path: string, lines: string): Promise<void> {
    await writeFile(
      join(path, "agent.config.ts"),
      `import { defineConfig } from "@agent/cli/config";
       export default defineConfig({ packs: ["@agent/preset-default", "@acme/agent-pack-notes"], ${lines} });`,
    );
  }
});
