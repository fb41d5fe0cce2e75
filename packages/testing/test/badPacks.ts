import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const GOOD = new URL("./fixtures/good.mjs", import.meta.url).href;

/** A pack with exactly one fault, and what the kit must report about it. */
export interface BadPack {
  readonly check: string;
  readonly because: string;
  /** The source text of the module; `goodTool`, `slowTool`, `packOptions` and `functionTool` are in scope. */
  readonly source: string;
  readonly says: RegExp;
}

const registering = (body: string, before = "") => `
  export { packName, packApiVersion } from ${JSON.stringify(GOOD)};
  ${before}
  export function register(registry, host) {
    packOptions("bad-pack", host?.options, {});
    ${body}
  }`;
const tool = (changes: string, options = "") =>
  registering(`registry.register(goodTool(${changes})${options});`);
const atImport = (statement: string) => registering("registry.register(goodTool());", statement);

export const BAD_PACKS: readonly BadPack[] = [
  {
    check: "exports",
    because: "it has no name",
    source: `export { packApiVersion, register } from ${JSON.stringify(GOOD)};`,
    says: /packName.*\n.*got: nothing/,
  },
  {
    check: "exports",
    because: "it does not say which API it was built for",
    source: `export { packName, register } from ${JSON.stringify(GOOD)};`,
    says: /packApiVersion of 1/,
  },
  {
    check: "hosts",
    because: "it cannot register where there is a state",
    source: registering(`if (host?.state) throw new Error("not a number"); registry.register(goodTool());`),
    says: /not a number/,
  },
  {
    check: "hosts",
    because: "its prompt text is too long",
    source: registering(
      `registry.register(goodTool()); registry.provide?.({ prompt: () => ({ title: "Long", text: "x".repeat(9000) }) });`,
    ),
    says: /longer than 2,000 tokens/,
  },
  {
    check: "labels",
    because: "it connects without the label",
    source: tool(
      `{ execute: async () => { const socket = (await import("node:net")).connect(9, "127.0.0.1"); await new Promise((done) => socket.on("error", done).on("connect", done)); socket.destroy(); return "done"; } }`,
    ),
    says: /it connected to 127\.0\.0\.1:9/,
  },
  {
    check: "labels",
    because: "it starts an agent without declaring it",
    source: tool(`{ execute: async (args, call) => (await call.startAgent({ message: "Do it." })).text }`),
    says: /it called a tool or started an agent/,
  },
  {
    check: "import",
    because: "it reads a file outside of its folder",
    source: atImport(`import { readFileSync } from "node:fs"; readFileSync("/etc/passwd");`),
    says: /it read "\/etc\/passwd"/,
  },
  {
    check: "import",
    because: "it writes a file outside of its folder",
    source: atImport(
      `import { rmSync, writeFileSync } from "node:fs"; import { tmpdir } from "node:os"; const file = tmpdir() + "/agent-kit-" + process.pid; writeFileSync(file, ""); rmSync(file);`,
    ),
    says: /it wrote "[^"]*agent-kit-/,
  },
  {
    check: "describes",
    because: "its description names another file than the one that it changes",
    source: tool(
      `{ describeCall: () => ({ targets: [{ type: "file", path: "/elsewhere", access: "write" }] }), execute: async () => { (await import("node:fs")).writeFileSync("secret.txt", "x"); return "done"; } }`,
    ),
    says: /the call changed .*secret\.txt/,
  },
  {
    check: "describes",
    because: "its matcher never returns",
    source: tool(
      `{ describeCall: () => ({ targets: [{ type: "text", text: "a" }] }), permissions: { check: () => undefined, match: () => new Promise(() => undefined) } }`,
    ),
    says: /permissions\.match\(\) took longer than 2000 ms/,
  },
  {
    check: "describes",
    because: "its matcher says that a pattern covers an open target",
    source: tool(
      `{ describeCall: () => ({ targets: [{ type: "text", text: "a", open: true }] }), permissions: { check: () => undefined, match: (patterns) => patterns.map(() => ["covers"]) } }`,
    ),
    says: /"covers" for target 0, which is open/,
  },
  {
    check: "output",
    because: "it calls another tool without end",
    source: `${tool(
      `{ execute: async (args, call) => { for (;;) await call.callTool("good_echo", args).catch((error) => { throw error; }); } }`,
    )}\nexport const needs = { calls: true };`,
    says: /more than 1000 calls/,
  },
  {
    check: "output",
    because: "it keeps 65 KB as its state",
    source: registering(
      `registry.register(goodTool({ execute: async () => { host?.state?.set("x".repeat(65 * 1024)); return "kept"; } }));`,
    ),
    says: /at most 65536 are kept/,
  },
  {
    check: "describes",
    because: "its description fails",
    source: tool(`{ describeCall() { throw new Error("no such thing"); } }`),
    says: /describeCall\(\) failed: no such thing/,
  },
  {
    check: "describes",
    because: "its description never comes",
    source: tool("{ describeCall: () => new Promise(() => undefined) }"),
    says: /took longer than 2000 ms/,
  },
  {
    check: "describes",
    because: "its description is cyclic",
    source: tool("{ describeCall() { const all = {}; all.all = all; return all; } }"),
    says: /circular/,
  },
  {
    check: "describes",
    because: "its description is 10 MB",
    source: tool(`{ describeCall: () => ({ title: "x".repeat(10_000_000) }) }`),
    says: /has 1\d+ bytes, more than 262144/,
  },
  {
    check: "describes",
    because: "its description names a kind that no host knows",
    source: tool(`{ describeCall: () => ({ kind: "planet" }) }`),
    says: /kind must be one of read, edit/,
  },
  {
    check: "describes",
    because: "its preview puts a newline into a line",
    source: tool(
      `{ previewCall: () => ({ changes: [{ path: "/a", change: "edited", added: 1, removed: 0, hunks: [{ oldStart: 1, newStart: 1, lines: ["+a\\n+b"] }] }] }) }`,
    ),
    says: /changes must be a list of file diffs/,
  },
  {
    check: "output",
    because: "its view is none that a host can draw",
    source: tool(
      `{ execute: async (_args, call) => { call.report({ view: { type: "hologram" } }); return "done"; } }`,
    ),
    says: /the view is not valid/,
  },
  {
    check: "output",
    because: "its value has more than 64 KB",
    source: tool(
      `{ execute: async (_args, call) => { call.report({ value: "x".repeat(65 * 1024) }); return "done"; } }`,
    ),
    says: /the value has 66562 bytes of JSON/,
  },
  {
    check: "describes",
    because: "its description changes the arguments",
    source: tool(`{ describeCall(args) { args.text = "other"; return { targets: [] }; } }`),
    says: /changed the arguments/,
  },
  {
    check: "import",
    because: "it cannot be imported",
    source: `import "./is-not-there.mjs";`,
    says: /is-not-there/,
  },
  { check: "import", because: "it ends the process", source: "process.exit(7);", says: /ended with code 7/ },
  {
    check: "import",
    because: "it prints",
    source: atImport(`console.log("hello");`),
    says: /printed string "hello/,
  },
  {
    check: "import",
    because: "it creates a file",
    source: atImport(`(await import("node:fs")).writeFileSync("litter.txt", "");`),
    says: /created the file string "litter\.txt"/,
  },
  {
    check: "import",
    because: "it starts a timer",
    source: atImport("setInterval(() => {}, 1000);"),
    says: /left a Timeout open/,
  },
  {
    check: "import",
    because: "it pollutes a prototype",
    source: atImport("Object.prototype.polluted = true;"),
    says: /added Object\.prototype\.polluted/,
  },
  {
    check: "import",
    because: "it replaces a global function",
    source: atImport("const { parse } = JSON; JSON.parse = (text) => parse(text);"),
    says: /replaced JSON\.parse/,
  },
  {
    check: "import",
    because: "it adds a global",
    source: atImport("globalThis.shared = {};"),
    says: /added globalThis\.shared/,
  },
  {
    check: "import",
    because: "it changes the environment",
    source: atImport(`process.env.HTTP_PROXY = "http://evil.example";`),
    says: /environment variable HTTP_PROXY/,
  },
  {
    check: "import",
    because: "it listens for signals",
    source: atImport(`process.on("SIGINT", () => {});`),
    says: /process listener for "SIGINT"/,
  },
  {
    check: "register",
    because: "register throws",
    source: registering(`throw new Error("no database");`),
    says: /no database/,
  },
  {
    check: "register",
    because: "register is asynchronous",
    source: `export { packName, packApiVersion } from ${JSON.stringify(GOOD)};
      export async function register(registry) { registry.register(goodTool()); }`,
    says: /returned a promise/,
  },
  { check: "register", because: "there are no tools", source: registering(""), says: /got: none/ },
  {
    check: "register",
    because: "register starts a timer",
    source: registering("registry.register(goodTool()); setInterval(() => {}, 1000);"),
    says: /left a Timeout open/,
  },
  {
    check: "register",
    because: "it enables a tool itself",
    source: registering(`registry.register(goodTool(), { enabled: false }); registry.enable("good_echo");`),
    says: /tried to enable "good_echo"/,
  },
  {
    check: "repeatable",
    because: "it registers only once",
    source: registering("if (!done) registry.register(goodTool()); done = true;", "let done = false;"),
    says: /got: no tools/,
  },
  {
    check: "options",
    because: "it ignores options",
    source: `export { packName, packApiVersion } from ${JSON.stringify(GOOD)};
      export function register(registry) { registry.register(goodTool()); }`,
    says: /misspelt option/,
  },
  {
    check: "names",
    because: "a name has a dot",
    source: tool(`{ name: "good.echo" }`),
    says: /string "good\.echo"/,
  },
  {
    check: "names",
    because: "two tools have one name",
    source: registering("registry.register(goodTool()); registry.register(goodTool());"),
    says: /registered twice/,
  },
  {
    check: "schema-name",
    because: "the schema has another name",
    source: tool(`{ getSchema: goodTool({ name: "other" }).getSchema }`),
    says: /got: string "other"/,
  },
  {
    check: "schemas",
    because: "a type is not one of JSON Schema",
    source: tool(
      `{ getSchema: () => functionTool("good_echo", "Adds.", { text: { type: "float", description: "x" } }) }`,
    ),
    says: /float/,
  },
  {
    check: "schemas",
    because: "the schema changes",
    source: tool(
      `{ getSchema: () => functionTool("good_echo", "Call " + count++, { text: { type: "string", description: "x" } }) }`,
    ).replace("export function", "let count = 0; export function"),
    says: /something else the second time/,
  },
  {
    check: "descriptions",
    because: "an argument is not described",
    source: tool(`{ getSchema: () => functionTool("good_echo", "Echo.", { text: { type: "string" } }) }`),
    says: /description of "text"\n.*got: nothing/,
  },
  {
    check: "descriptions",
    because: "a description hides text",
    source: tool(
      `{ getSchema: () => functionTool("good_echo", "Echo.\\u{e0041}", { text: { type: "string", description: "x" } }) }`,
    ),
    says: /\\u\{e0041\}/,
  },
  {
    check: "capabilities",
    because: "there is no label",
    source: tool("{ capabilities: undefined }"),
    says: /capabilities, some of read/,
  },
  {
    check: "capabilities",
    because: "a disabled tool does not say why",
    source: tool("{ capabilities: [] }", ", { enabled: false }"),
    says: /no capability/,
  },
  {
    check: "risky-off",
    because: "a network tool is on",
    source: tool(`{ capabilities: ["network"] }`),
    says: /it is on, with network/,
  },
  {
    check: "bad-arguments",
    because: "a misspelt argument is ignored",
    source: tool(`{ getSchema: () => ({ type: "function", function: { name: "good_echo", description: "Echo.",
      parameters: { type: "object", properties: { text: { type: "string", description: "x" } } } } }) }`),
    says: /misspelt argument is refused/,
  },
  {
    check: "bad-arguments",
    because: "an empty text makes a timer throw",
    source: tool(
      `{ execute: async ({ text }) => { if (text === "") setTimeout(() => { throw new Error("late"); }); return "x"; } }`,
    ),
    says: /ended with code 1.*late/,
  },
  {
    check: "bad-arguments",
    because: "an empty text never gets an answer",
    source: tool(`{ execute: ({ text }) => text === "" ? new Promise(() => {}) : Promise.resolve("x") }`),
    says: /an answer to {"text":""}/,
  },
  {
    check: "bad-arguments",
    because: "an empty text leaves a rejection that no one handles",
    source: tool(
      `{ execute: async ({ text }) => { if (text === "") Promise.reject(new Error("loose")); return "x"; } }`,
    ),
    says: /ended with code 1: Error: loose/,
  },
  {
    check: "output",
    because: "it prints",
    source: tool(
      `{ execute: async ({ text }) => { if (text === "sample") console.log("noise"); return text; } }`,
    ),
    says: /it printed string "noise/,
  },
  {
    check: "leftovers",
    because: "it cannot be disposed of",
    source: registering(`
      registry.register(goodTool());
      registry.provide?.({ dispose() { throw new Error("the server is gone"); } });`),
    says: /dispose\(\) ends what the pack started\n.*got: the server is gone/,
  },
  {
    check: "capabilities",
    because: "a tool that comes later declares none",
    source: registering(`
      registry.register(goodTool());
      registry.registerLater?.("the late tools", async (late) => {
        late.register(goodTool({ name: "late_echo", capabilities: undefined }));
      });`),
    says: /late_echo/,
  },
  {
    check: "leftovers",
    because: "the working directory is changed",
    source: tool(
      `{ execute: async ({ text }) => { if (text === "sample") process.chdir("/"); return text; } }`,
    ),
    says: /working directory is the same.*\n.*string "\/"/,
  },
  {
    check: "output",
    because: "the result is an object",
    source: tool('{ execute: async ({ text }) => (text === "sample" ? { text } : text) }'),
    says: /execute\(\) gave object/,
  },
  {
    check: "output",
    because: "the result has no bound",
    source: tool(`{ execute: async ({ text }) => text === "sample" ? "x".repeat(2 ** 21) : text }`),
    says: /at most 1048576 bytes\n.*2097152 bytes/,
  },
  {
    check: "abort",
    because: "the signal is ignored",
    source: registering(
      `registry.register({ ...slowTool, execute: () => new Promise((done) => setTimeout(done, 60_000, "x").unref()) }, { enabled: false });`,
    ),
    says: /still running seconds later/,
  },
  {
    check: "leftovers",
    because: "a timer stays",
    source: tool(
      `{ execute: async ({ text }) => { if (text === "sample") setInterval(() => {}, 1000); return text; } }`,
    ),
    says: /a Timeout keeps the process alive\n.*unref\(\).*dispose\(\)/,
  },
  {
    check: "leftovers",
    because: "a detached process stays",
    source: tool(`{ execute: async ({ text }) => {
      if (text !== "sample") return text;
      const { spawn } = await import("node:child_process");
      spawn("sleep", ["61"], { detached: true, stdio: "ignore" }).unref();
      return text;
    } }`),
    says: /"sleep 61" was still running/,
  },
];

/** Writes a bad pack to a file that can be imported. */
export async function writeBadPack(directory: string, { source }: BadPack): Promise<string> {
  const file = join(directory, "bad.mjs");
  const toolkit = import.meta.resolve("@agent/core/toolkit");
  await writeFile(
    file,
    `import { functionTool, packOptions } from ${JSON.stringify(toolkit)};
     import { goodTool, slowTool } from ${JSON.stringify(GOOD)};
     ${source}`,
  );
  return file;
}
