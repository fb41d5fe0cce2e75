import { mkdtemp, readdir, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { completions } from "./completions.js";
import { COMPILER, createProject, folderSize, NO_REGISTRY, type Project, pack } from "./project.js";

const require = createRequire(import.meta.url);
// Where the compiler finds the types of Node: an author of a pack installs them next to it.
const TYPE_ROOTS = dirname(dirname(require.resolve("../../node_modules/@types/node/package.json")));
const NEEDED = [
  "core",
  "durable",
  "testing",
  "evals",
  "provider-openai",
  "tools-fs",
  "tools-search",
  "tools-bash",
  "preset-default",
  "cli",
];

describe("a project with @agent/cli", () => {
  let project: Project;
  let online: boolean;
  let store: string;
  beforeAll(async () => {
    store = await mkdtemp(join(tmpdir(), "agent-tarballs-"));
    const tarballs = await pack(
      NEEDED.map((name) => `@agent/${name}`),
      store,
    );
    project = await createProject();
    online = await project.install([...tarballs.values()]);
  });
  afterAll(async () => {
    await rm(store, { recursive: true, force: true });
    await project.remove();
  });

  test("has at most 45 packages of 30 MB together", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    expect((await project.installed()).length).toBeLessThanOrEqual(45);
    expect(await folderSize(join(project.directory, "node_modules"))).toBeLessThanOrEqual(30e6);
  });

  describe("and a pack of someone else", () => {
    beforeAll(async () => {
      if (!online) return;
      await addOutsidePack(project, store);
    });

    test.for(COMPLETIONS)("completes %s", async ([, program, expected], { skip }) => {
      skip(!online, NO_REGISTRY);
      expect(completions(project.directory, program)).toEqual(expected);
    });

    test("compiles what is right, and refuses every line that is wrong", async ({ skip }) => {
      skip(!online, NO_REGISTRY);
      const start = RIGHT.split("\n").length;
      const problems = await check(project, [RIGHT, ...WRONG.map(([line]) => line)].join("\n"));
      expect(problems.map(({ line }) => line)).toEqual(WRONG.map((_, index) => start + index + 1));
      for (const [index, [line, problem]] of WRONG.entries()) {
        expect(problems[index]?.message, line).toMatch(problem);
      }
    });

    test("runs the config that compiles", async ({ skip }) => {
      skip(!online, NO_REGISTRY);
      await project.write("agent.config.ts", RIGHT);
      const agent = join(project.directory, "node_modules", ".bin", "agent");
      expect(await project.run(agent, "tools", "--trust")).toMatch(/notes_write_note +on/);
    });
  });
});

/** Scaffolds a pack with the installed command, builds it, and installs what its author would publish. */
async function addOutsidePack(project: Project, store: string): Promise<void> {
  const agent = join(project.directory, "node_modules", ".bin", "agent");
  await project.run(agent, "pack", "new", "@acme/agent-pack-notes");
  const folder = join(project.directory, "agent-pack-notes");
  await symlink(join(project.directory, "node_modules"), join(folder, "node_modules"));
  const flags = [
    "--noEmit",
    "false",
    "--declaration",
    "--rootDir",
    `${folder}/src`,
    "--outDir",
    `${folder}/dist`,
  ];
  await project.run("node", COMPILER, "-p", await buildConfig(project, folder), ...flags);
  await rm(join(folder, "node_modules"));
  await project.run("npm", "pack", folder, "--ignore-scripts", "--pack-destination", store);
  const [tarball] = (await readdir(store)).filter((name) => name.startsWith("acme-"));
  await project.install([join(store, tarball ?? "")]);
  await rm(folder, { recursive: true });
  await stat(join(project.directory, "node_modules", "@acme/agent-pack-notes/dist/index.d.ts"));
}

async function buildConfig(project: Project, folder: string): Promise<string> {
  const compilerOptions = { typeRoots: [TYPE_ROOTS], types: ["node"] };
  const config = { extends: `${folder}/tsconfig.json`, compilerOptions, include: [`${folder}/src`] };
  await project.write("tsconfig.build.json", JSON.stringify(config));
  return "tsconfig.build.json";
}

/** What the compiler finds wrong in a program, by line. */
async function check(project: Project, program: string): Promise<{ line: number; message: string }[]> {
  await project.write("check.ts", program);
  const flags = ["--strict", "--noEmit", "--target", "es2023", "--module", "node16", "--skipLibCheck"];
  const output = await project.run("node", COMPILER, ...flags, "check.ts").catch(({ message }) => message);
  return [...output.matchAll(/^check\.ts\((\d+),\d+\): (.*)$/gm)].map(([, line, message]) => ({
    line: Number(line),
    message: message ?? "",
  }));
}

const IMPORTS = `
import * as notes from "@acme/agent-pack-notes";
import { defineConfig } from "@agent/cli/config";
import { Agent, createToolRegistry, Conversation, defineTool } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { Agent as PresetAgent } from "@agent/preset-default";
import * as fs from "@agent/tools-fs";
const provider = scriptedProvider([]);
const own = defineTool({ name: "own", description: "d", input: { type: "object" }, execute: () => "" });
void [notes, defineConfig, Agent, createToolRegistry, Conversation, PresetAgent, fs, provider, own];
`;
const NAMED = `import { defineConfig } from "@agent/cli/config";\nimport type {} from "@acme/agent-pack-notes";\n`;
const NOTES_TOOLS = ["save_session_context", "notes_greet", "notes_write_note"];

const COMPLETIONS: [string, string, string[]][] = [
  [
    "the options of an imported pack in an agent",
    `${IMPORTS}new Agent(provider, { packs: [[notes, { | }]] });`,
    ["root"],
  ],
  ["its tools", `${IMPORTS}new Agent(provider, { packs: [notes], enable: ["|"] });`, NOTES_TOOLS],
  [
    "the options of an imported pack in a config",
    `${IMPORTS}defineConfig({ packs: [[notes, { | }]] });`,
    ["root"],
  ],
  [
    "the options of a pack that is only named",
    `${NAMED}defineConfig({ packs: [["@acme/agent-pack-notes", { | }]] });`,
    ["root"],
  ],
  [
    "its tools in a config",
    `${NAMED}defineConfig({ packs: ["@acme/agent-pack-notes"], enable: ["|"] });`,
    NOTES_TOOLS,
  ],
  [
    "the options of a built-in pack without any import",
    `import { defineConfig } from "@agent/cli/config";\ndefineConfig({ packs: [["@agent/preset-default", { fs: { | } }]] });`,
    ["edit", "maxEntries", "maxReadBytes", "maxReadLines", "protect", "root"],
  ],
  [
    "known tools next to a pack that declares none",
    `${NAMED}defineConfig({ packs: ["./mine.ts", "@acme/agent-pack-notes"], enable: ["|"] });`,
    NOTES_TOOLS,
  ],
];

/** Everything here compiles, and the config at its end is one that works. */
const RIGHT = `${IMPORTS}
const agents: Agent[] = [
  new Agent(provider),
  new Agent(provider, { packs: [fs, [notes, { root: "." }], own], enable: ["notes_write_note", "own"] }),
  new PresetAgent(provider, { packs: [notes], enable: ["run_bash", "notes_write_note"] }),
];
createToolRegistry(new Conversation(), [[fs, { root: "." }]], { enable: ["remove"] });
defineConfig({ packs: ["./mine.ts"], enable: ["anything"], confirm: ["*"] });
void agents;
export default defineConfig({
  packs: ["@agent/preset-default", ["@acme/agent-pack-notes", { root: "." }]],
  enable: ["notes_write_note", "run_bash"],
});
`;

const WRONG: [string, RegExp][] = [
  [
    "new Agent(provider, { packs: [[notes, { rot: '.' }]] });",
    /'rot' does not exist in type '\{ root\?: string \| undefined; \}'/,
  ],
  ["new Agent(provider, { packs: [[notes, { root: 1 }]] });", /'number' is not assignable to type 'string'/],
  ["new Agent(provider, { packs: [notes, own], enable: ['notes_gret'] });", /Did you mean '"notes_greet"'/],
  ["new Agent(provider, { packs: [notes, own], disable: ['onw'] });", /"onw"' is not assignable/],
  ["new PresetAgent(provider, { enable: ['run_bsh'] });", /Did you mean '"run_bash"'/],
  ["createToolRegistry(new Conversation(), [fs], { enable: ['remov'] });", /Did you mean '"remove"'/],
  ["defineConfig({ enable: ['run_bsh'] });", /Did you mean '"run_bash"'/],
  ["defineConfig({ packs: [['@acme/agent-pack-notes', { rot: '.' }]] });", /'rot' does not exist/],
  [
    "defineConfig({ packs: ['@acme/agent-pack-notes'], enable: ['notes_gret'] });",
    /Did you mean '"notes_greet"'/,
  ],
  [
    "defineConfig({ packs: [notes], agents: { a: { tools: ['notes_gret'] } } });",
    /Did you mean '"notes_greet"'/,
  ],
  ["defineConfig({ packs: [['@agent/tools-bash', { shel: '/bin/sh' }]] });", /Did you mean to write 'shell'/],
];
