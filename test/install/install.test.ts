import { mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  COMPILER,
  COMPILER_5,
  createProject,
  folderOf,
  folderSize,
  NO_REGISTRY,
  type Project,
  pack,
} from "./project.js";

const require = createRequire(import.meta.url);
// Where the compiler finds the types of Node: a user installs them next to it.
const TYPE_ROOTS = dirname(dirname(require.resolve("../../node_modules/@types/node/package.json")));

interface Manifest {
  readonly exports: Record<string, unknown>;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

const names = Object.keys(require("../package.json").devDependencies)
  .filter((name) => name.startsWith("@agent/"))
  .filter((name) => !require(join(folderOf(name), "package.json")).private);
/** Editors read it to complete a config file. */
const SCHEMA = "@agent/cli/config.schema.json";
let store: string;
let tarballs: Map<string, string>;

beforeAll(async () => {
  store = await mkdtemp(join(tmpdir(), "agent-tarballs-"));
  tarballs = await pack(names, store);
});
afterAll(() => rm(store, { recursive: true, force: true }));

describe("a project with @agent/core alone", () => {
  let project: Project;
  let online: boolean;
  beforeAll(async () => {
    project = await createProject();
    online = await project.install([tarballs.get("@agent/core") ?? ""]);
  });
  afterAll(() => project.remove());

  test("has no other package, and at most 1 MB", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    expect(await project.installed()).toEqual(["@agent/core"]);
    expect(await folderSize(join(project.directory, "node_modules"))).toBeLessThanOrEqual(1e6);
  });

  test.for([
    ["5", COMPILER_5],
    ["7", COMPILER],
  ] as const)("gets errors of TypeScript %s that say what is missing", async ([, compiler], { skip }) => {
    skip(!online, NO_REGISTRY);
    // `join` is also a method of arrays, and an array is a pack with its options.
    await project.write("notes.ts", "export const join = (): string => '';\n");
    await project.write(
      "program.ts",
      `import { Agent, defineTool } from "@agent/core";
       import { scriptedProvider } from "@agent/core/replay";
       import * as notes from "./notes.js";
       new Agent(scriptedProvider([]), { tools: [notes] });
       new Agent(scriptedProvider([]), { tools: [[notes, {}]] });
       defineTool({ name: "a", description: "d", input: { type: "objct" }, execute: () => "" });
       const pack = { register(): void {} };
       new Agent(scriptedProvider([]), { tools: Math.random() < 0.5 ? [pack] : [] });`,
    );
    const compilerOptions = { strict: true, noEmit: true, module: "node16", target: "es2023", types: [] };
    await project.write("tsconfig.json", JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    const output = await project.run("node", compiler, "-p", ".").catch(({ message }) => message);
    expect(output.split("\n").filter((line: string) => line.startsWith("program.ts"))).toEqual([
      expect.stringMatching(
        /\(4,.* Property 'register' is missing in type .* but required in type 'ToolPack'/,
      ),
      expect.stringMatching(
        /\(5,.* Property 'register' is missing in type .* but required in type 'ToolPack'/,
      ),
      expect.stringMatching(/\(6,.*"objct".*NotATypeOfJsonSchema/),
    ]);
  });
});

describe.each(["@agent/provider-anthropic", "@agent/provider-google"])("a project with %s", (name) => {
  let project: Project;
  let online: boolean;
  beforeAll(async () => {
    project = await createProject();
    online = await project.install([tarballs.get("@agent/core") ?? "", tarballs.get(name) ?? ""]);
  });
  afterAll(() => project.remove());

  test("has two packages of at most 1.1 MB together", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    expect(await project.installed()).toEqual(["@agent/core", name]);
    expect(await folderSize(join(project.directory, "node_modules"))).toBeLessThanOrEqual(1.1e6);
  });
});

describe("a project with @agent/provider-openai", () => {
  let project: Project;
  let online: boolean;
  beforeAll(async () => {
    project = await createProject();
    online = await project.install([
      tarballs.get("@agent/core") ?? "",
      tarballs.get("@agent/provider-openai") ?? "",
    ]);
  });
  afterAll(() => project.remove());

  test("has three packages", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    expect(await project.installed()).toEqual(["@agent/core", "@agent/provider-openai", "openai"]);
  });

  test("asks a server without loading openai, which is there for your own client", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    const sdk = join(project.directory, "node_modules", "openai");
    await rename(sdk, `${sdk}-away`);
    await project.write(
      "import.js",
      `import { createServer } from "node:http";
       import { Agent } from "@agent/core";
       import { OpenAIProvider } from "@agent/provider-openai";
       const choices = [{ index: 0, message: { role: "assistant", content: "Hello." }, finish_reason: "stop" }];
       const server = createServer((request, response) => {
         response.setHeader("content-type", "application/json");
         request.resume().on("end", () => response.end(JSON.stringify({ choices })));
       }).listen(0, "127.0.0.1", async () => {
         const baseURL = "http://127.0.0.1:" + server.address().port + "/v1";
         console.log(await new Agent(new OpenAIProvider({ model: "m", apiKey: "k", baseURL })).chat("Hi"));
         server.close();
       });`,
    );
    const output = await project.run("node", "import.js").finally(() => rename(`${sdk}-away`, sdk));
    expect(output).toBe("Hello.\n");
  });
});

describe("a project with every package", () => {
  let project: Project;
  let online: boolean;
  beforeAll(async () => {
    project = await createProject();
    // Optional peers: two entries are for programs that have them.
    online = await project.install([...tarballs.values(), "@opentelemetry/api", "react"]);
  });
  afterAll(() => project.remove());

  const installedFolder = (name: string) => join(project.directory, "node_modules", name);
  const manifest = async (name: string): Promise<Manifest> =>
    JSON.parse(await readFile(join(installedFolder(name), "package.json"), "utf8"));

  /** What a user can name: every module, as "@agent/core/toolkit", and every file of data. */
  async function entries(): Promise<{ modules: string[]; data: string[] }> {
    const found = await Promise.all(
      names.map(async (name) => Object.keys((await manifest(name)).exports).map((path) => join(name, path))),
    );
    const isData = (entry: string): boolean => entry.endsWith(".json");
    return {
      modules: found.flat().filter((entry) => !isData(entry)),
      data: found.flat().filter(isData),
    };
  }

  test.for(names)(
    "contains in %s its build, its licence and its documents, and no sources, tests or workspace versions",
    async (name, { skip }) => {
      skip(!online, NO_REGISTRY);
      const files = await readdir(installedFolder(name));
      const beside = await readdir(folderOf(name));
      const promised = ["LICENSE", "README.md", "CHANGELOG.md"].filter((file) => beside.includes(file));
      expect(files).toEqual(expect.arrayContaining([...promised, "dist", "package.json"]));
      expect(files).not.toContain("src");
      const { dependencies, optionalDependencies } = await manifest(name);
      for (const version of Object.values({ ...dependencies, ...optionalDependencies })) {
        expect(version).toMatch(/^\^?\d+\.\d+\.\d+$/);
      }
      const built = await readdir(join(installedFolder(name), "dist"), { recursive: true });
      expect(built.filter((file) => file.includes(".test."))).toEqual([]);
      expect(built.some((file) => file.endsWith(".d.ts"))).toBe(true);
    },
  );

  test("has one copy of each", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    const ours = (await project.installed()).filter((name) => name.startsWith("@agent/"));
    expect(ours.sort()).toEqual(names.toSorted());
  });

  test("imports every entry", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    const { modules } = await entries();
    const list = JSON.stringify(modules);
    const output = await project.run(
      "node",
      "-e",
      `for (const entry of ${list}) import(entry).then(() => console.log(entry))`,
    );
    expect(output.trim().split("\n").sort()).toEqual(modules.sort());
  });

  test("finds and reads every entry that is JSON, also from CommonJS and as an import", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    const { data } = await entries();
    expect(data).toEqual(expect.arrayContaining([...names.map((name) => `${name}/package.json`), SCHEMA]));
    await project.write(
      "data.js",
      `import { readFileSync } from "node:fs";
       import { createRequire } from "node:module";
       import { isDeepStrictEqual } from "node:util";
       const require = createRequire(import.meta.url);
       for (const entry of ${JSON.stringify(data)}) {
         const read = JSON.parse(readFileSync(new URL(import.meta.resolve(entry)), "utf8"));
         const imported = await import(entry, { with: { type: "json" } });
         const same = isDeepStrictEqual(read, require(entry)) && isDeepStrictEqual(read, imported.default);
         console.log(entry, same, typeof (read.name ?? read.$schema));
       }`,
    );
    // Node 20 says that importing JSON is an experiment.
    const output = await project.run("node", "--no-warnings", "data.js");
    expect(output.trim().split("\n")).toEqual(data.map((entry) => `${entry} true string`));
  });

  test.for([
    ["node16", "node16", COMPILER_5],
    ["bundler", "esnext", COMPILER],
  ] as const)(
    "type-checks under moduleResolution %s, declarations of the packages included",
    async ([moduleResolution, module, compiler], { skip }) => {
      skip(!online, NO_REGISTRY);
      const imports = (await entries()).modules.map(
        (entry, index) => `import * as entry${index} from "${entry}";\nvoid entry${index};`,
      );
      await project.write("entries.ts", imports.join("\n"));
      await project.write("program.ts", PROGRAM);
      const compilerOptions = {
        strict: true,
        exactOptionalPropertyTypes: true,
        target: "es2023",
        lib: ["es2023"],
        module,
        moduleResolution,
        noEmit: true,
        types: ["node"],
        typeRoots: [TYPE_ROOTS],
      };
      await project.write(
        "tsconfig.json",
        JSON.stringify({ compilerOptions, files: ["entries.ts", "program.ts"] }),
      );
      expect(await project.run("node", compiler, "-p", ".")).toBe("");
    },
  );

  test("needs no types of Node for the packages' declarations", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    const compilerOptions = {
      strict: true,
      target: "es2023",
      lib: ["es2023", "dom", "dom.iterable", "esnext.disposable"],
      module: "node16",
      noEmit: true,
      types: [],
    };
    await project.write("plain.json", JSON.stringify({ compilerOptions, files: ["entries.ts"] }));
    // Two SDKs that some of our packages depend on do need them: that is theirs to fix.
    const output = await project.run("node", COMPILER, "-p", "plain.json").catch(({ message }) => message);
    expect(output.split("\n").filter((line: string) => line.includes("node_modules/@agent/"))).toEqual([]);
  });

  test("can fail the type check", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    await project.write("program.ts", PROGRAM.replace('readonly name = "hello"', "readonly name = 4"));
    await expect(project.run("node", COMPILER, "-p", ".", "--skipLibCheck")).rejects.toThrow(
      /error TS2416.*'name' in type 'HelloTool'/s,
    );
  });

  test("has the agent command", async ({ skip }) => {
    skip(!online, NO_REGISTRY);
    await project.run(join(project.directory, "node_modules", ".bin", "agent"), "--help");
  });

  test("keeps runs on files with nothing more installed, and says in one line what Postgres needs", async ({
    skip,
  }) => {
    skip(!online, NO_REGISTRY);
    const list = (engine: string) =>
      project.run(
        join(project.directory, "node_modules", ".bin", "agent"),
        "runs",
        "list",
        "--engine",
        engine,
      );
    expect(await list(join(project.directory, "runs"))).toContain("No runs.");
    await expect(list("postgres://127.0.0.1:1/runs")).rejects.toThrow(
      /^(?!.*\n {4}at ).*needs the package "pg", which is not installed: npm install bullmq pg ioredis\n/s,
    );
  });
});

/** What a user writes first: their own tool and pack, the built-in ones, a conversation. */
const PROGRAM = `
import type { ChatTool, ExecutableTool, PackRegistry, ToolPack } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { functionTool, requireString } from "@agent/core/toolkit";
import { Agent } from "@agent/preset-default";
import { OpenAIProvider } from "@agent/provider-openai";
import * as bash from "@agent/tools-bash";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

class HelloTool implements ExecutableTool {
  readonly name = "hello";
  getSchema(): ChatTool {
    return functionTool(this.name, "Says hello.", { who: { type: "string" } });
  }
  async execute(args: Record<string, unknown>): Promise<string> {
    return "Hello " + requireString(args, "who");
  }
}

const own = { packName: "hello", register: (registry: PackRegistry) => registry.register(new HelloTool()) };
export const packs: ToolPack[] = [bash, fs, search, own];
export const provider = new OpenAIProvider({ model: "m", apiKey: "k" });
const agent = new Agent(scriptedProvider(["Done."]), { tools: [own], enable: ["run_bash"] });
for await (const event of agent.streamChat("Hi", { signal: AbortSignal.timeout(1000) })) {
  if (event.type === "tool_end") console.log(event.outcome, event.durationMs);
  if (event.type === "done") console.log(event.text);
}
`;
