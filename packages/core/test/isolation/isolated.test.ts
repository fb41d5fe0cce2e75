import type { ChildProcess } from "node:child_process";
import { EventEmitter } from "node:events";
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex } from "node:stream";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { Agent, type AgentEvent, type PackHost, registerPack, ToolRegistry } from "../../src/index.js";
import { HostNetwork } from "../../src/isolation/hostNetwork.js";
import {
  describeGrants,
  grantsOf,
  Isolation,
  type PackManifest,
  readManifest,
} from "../../src/isolation/index.js";
import { isolatedPack } from "../../src/isolation/isolatedPack.js";
import { readFields } from "../../src/isolation/messages.js";
import { PackProcess } from "../../src/isolation/packProcess.js";
import { encodeFrame } from "../../src/isolation/protocol.js";
import { scriptedProvider } from "../../src/providers/replay.js";

const isolation = new Isolation();
const { level, detail } = await isolation.status();
const isEnforced = level === "enforced";
if (!isEnforced) process.stderr.write(`Calls of isolated packs are skipped: isolation is ${detail}.\n`);

const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-isolated-")));
const folder = join(base, "node_modules", "agent-pack-helper");
const entry = join(folder, "helper.mjs");
let manifest: PackManifest;

beforeAll(async () => {
  if (!isEnforced) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "package.json"),
    '{"name":"agent-pack-helper","version":"1.0.0","type":"module"}',
  );
  copyFileSync(new URL("helper.mjs", import.meta.url), entry);
  manifest = await isolation.inspect(entry);
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

/** A registry with the pack in its own process. */
async function withPack<T>(
  use: (registry: ToolRegistry) => Promise<T>,
  { grants = {}, host = {} as Partial<PackHost> } = {},
): Promise<T> {
  const registry = new ToolRegistry();
  const pack = isolation.pack({ name: "helper", entry, manifest, grants, required: "enforced" });
  registerPack(registry, pack, { context: {}, ...host } as PackHost);
  try {
    return await use(registry);
  } finally {
    await registry.dispose();
  }
}

describe.skipIf(!isEnforced)("a pack in its own process", () => {
  test("is described by its manifest, which survives JSON", () => {
    expect(readManifest(JSON.parse(JSON.stringify(manifest)))).toEqual(manifest);
    expect(manifest).toMatchObject({
      packName: "agent-pack-helper",
      secrets: ["HELPER_TOKEN"],
      commands: [{ name: "greet", description: "Greets." }],
      mentions: ["notes"],
      diagnoses: true,
    });
    expect(manifest.tools.long?.enabled).toBe(false);
    expect(describeGrants(grantsOf(manifest))).toEqual([
      "may read the files of the project",
      "may connect to api.example.com",
    ]);
  });

  test("registers its tools without a process", async () => {
    const registry = new ToolRegistry();
    const neverStarts = isolatedPack({
      ...{ name: "helper", entry: "/no/such/file.mjs", manifest, grants: {} },
      enclosure: () => Promise.reject(new Error("no process was wanted")),
    });
    registerPack(registry, neverStarts);
    expect(registry.getToolNames()).toContain("echo");
    expect(registry.getEnabledSchemas().map((schema) => schema.function.name)).not.toContain("long");
    expect((await registry.run("echo")).text).toContain("could not be isolated, so it does not run");
    await registry.dispose();
  });

  test("returns results, events, parts and errors as in process", async () => {
    await withPack(async (registry) => {
      expect((await registry.run("echo", { path: "a" })).text).toBe('{"path":"a"}');
      expect(await registry.run("echo", { when: "never" })).toMatchObject({
        outcome: "error",
        text: expect.stringContaining("when is no date"),
      });
      const output: string[] = [];
      const progress: unknown[] = [];
      const result = await registry.run(
        "chatty",
        {},
        { onOutput: (chunk) => output.push(chunk), progress: (one) => progress.push(one), wantsView: true },
      );
      expect([output, progress]).toEqual([["one", "two"], [{ done: 1, total: 2 }]]);
      expect(result).toMatchObject({
        outcome: "error",
        text: "done",
        summary: "half",
        value: { n: 1 },
        view: { type: "markdown", text: "*half*" },
        parts: [{ type: "image", mediaType: "image/png", data: "iVBORw0KGgo=", name: "dot" }],
      });
      expect((await registry.run("fails")).text).toContain("it broke");
      registry.enable("long");
      expect((await registry.run("long", { length: 100_000 })).text).toBe("é".repeat(100_000));
      const many = await Promise.all(
        Array.from({ length: 50 }, (_, n) => registry.run("echo", { path: `${n}` })),
      );
      expect(many.map(({ text }) => text)).toEqual(Array.from({ length: 50 }, (_, n) => `{"path":"${n}"}`));
    });
  });

  test("describes and previews its calls, and cannot say that it is contained", async () => {
    await withPack(async (registry) => {
      const prepared = await registry.prepare("file", { path: "/x" });
      if ("outcome" in prepared) throw new Error(prepared.text);
      const described = await prepared.describe();
      expect(described.targets).toEqual([{ type: "file", path: "/x", access: "read" }]);
      expect(described.contained).toBeUndefined();
      expect((await prepared.preview())?.basis).toBe("seen /x");
    });
  });

  test("reads the project only if that was granted, and never its secret places", async () => {
    const path = join(process.cwd(), "package.json");
    await withPack(async (registry) => {
      expect((await registry.run("file", { path })).text).toContain("ENOENT");
    });
    const host = { access: { secret: [join(process.cwd(), "LICENSE")] } };
    await withPack(
      async (registry) => {
        expect((await registry.run("file", { path })).text).toContain('"@agent/core"');
        expect((await registry.run("file", { path: join(process.cwd(), "LICENSE") })).text).toContain(
          "EACCES",
        );
      },
      { grants: { files: "read" }, host },
    );
  });

  test("provides commands, mentions and diagnoses", async () => {
    await withPack(async ({ services }) => {
      const signal = new AbortController().signal;
      expect(await services.commands[0]?.run("Ann", signal)).toEqual({ show: "Hello, Ann!" });
      expect(await services.mentions[0]?.list("b", signal)).toEqual([{ id: "a-b" }]);
      expect(await services.mentions[0]?.read("a-b", signal)).toBe("note a-b");
      expect(await services.diagnose()).toEqual([{ subject: "helper", ok: true, detail: "ready" }]);
    });
  });

  test("calls tools of the agent, keeps state and follows the model", async () => {
    const neighbour = {
      name: "neighbour",
      getSchema: () => ({
        type: "function" as const,
        function: {
          name: "neighbour",
          description: "Another tool.",
          parameters: { type: "object" as const, properties: { n: { type: "number" as const } } },
        },
      }),
      execute: async (args: Record<string, unknown>) => `neighbour got ${JSON.stringify(args)}`,
    };
    const grants = { calls: true };
    const pack = isolation.pack({ name: "helper", entry, manifest, grants, required: "enforced" });
    const calls = (name: string) => ({ calls: [{ name, args: {} }] });
    const provider = scriptedProvider([calls("nested"), calls("counted"), calls("counted"), "Done."]);
    const agent = new Agent(provider, {
      packs: [[pack, { city: "Oslo" }], neighbour],
      approve: async () => "allow" as const,
    });
    const events: AgentEvent[] = [];
    for await (const event of agent.streamChat("Go.")) events.push(event);
    const results = events.flatMap((event) => (event.type === "tool_end" ? [event.text] : []));
    expect(results).toEqual(expect.arrayContaining(['neighbour got {"n":2}', "1 scripted", "2 scripted"]));
    expect(agent.conversation.packState("agent-pack-helper").get()).toBe(2);
    expect((await agent.registry.run("configured")).text).toBe('{"city":"Oslo"}');
    await agent.dispose();
  });

  test("gets an abort, and may return its own result", async () => {
    await withPack(async (registry) => {
      await registry.run("echo");
      const controller = new AbortController();
      const { text } = await registry.run(
        "waits",
        {},
        { signal: controller.signal, onOutput: () => controller.abort() },
      );
      expect(text).toContain("stopped by itself");
      expect((await registry.run("echo")).outcome).toBe("ok");
    });
  });

  test("connects through the host, to granted hosts and redirects among them only", async () => {
    const server = createServer((request, response) => {
      if (request.url === "/away") response.writeHead(302, { location: "http://127.0.0.1:1/" }).end();
      else if (request.url === "/moved") response.writeHead(307, { location: "/" }).end();
      else {
        let body = "";
        request.on("data", (chunk) => {
          body += chunk;
        });
        request.on("end", () => response.end(`${request.method} ${body} ${request.headers["x-own"]}`));
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const { port } = server.address() as { port: number };
    const origin = `http://localhost:${port}`;
    await withPack(
      async (registry) => {
        expect((await registry.run("fetches", { url: `${origin}/` })).text).toBe("200 false POST question 1");
        expect((await registry.run("fetches", { url: `${origin}/moved` })).text).toBe(
          "200 true POST question 1",
        );
        for (const url of [
          `${origin}/away`,
          `http://127.0.0.1:${port}/`,
          "http://169.254.169.254/",
          "file:///etc/passwd",
        ]) {
          expect(await registry.run("fetches", { url })).toMatchObject({
            outcome: "error",
            text: expect.stringContaining("fetch failed"),
          });
        }
      },
      { grants: { hosts: [`localhost:${port}`] } },
    );
    server.close();
  });

  test("finds packages that it depends on by links, and no others", async () => {
    const root = join(base, "linked");
    for (const name of ["dependency", "stranger"]) {
      mkdirSync(join(base, "store", name), { recursive: true });
      writeFileSync(
        join(base, "store", name, "package.json"),
        `{"name":"${name}","version":"1.0.0","type":"module","exports":"./index.js"}`,
      );
      writeFileSync(join(base, "store", name, "index.js"), `export default "${name}";`);
      mkdirSync(join(root, "node_modules"), { recursive: true });
      symlinkSync(join(base, "store", name), join(root, "node_modules", name));
    }
    const pack = join(root, "node_modules", "pack");
    mkdirSync(pack);
    writeFileSync(
      join(pack, "package.json"),
      '{"name":"pack","type":"module","dependencies":{"dependency":"1"}}',
    );
    writeFileSync(
      join(pack, "index.js"),
      `import dependency from "dependency";
       export const packName = dependency + " " + await import("stranger").then(() => "and more", () => "alone");
       export const register = () => undefined;`,
    );
    expect((await isolation.inspect(join(pack, "index.js"))).packName).toBe("dependency alone");
  });

  test.each([
    ["a default export", "export default { register() {} };", undefined],
    ["no register", "export const a = 1;", "no named export register"],
    ["a failing import", "throw new Error('not today');", "not today"],
    ["an asynchronous register", "export const register = async () => undefined;", "returned a promise"],
    [
      "a wrong need",
      "export const needs = { files: 'all' }; export const register = () => undefined;",
      "needs.files",
    ],
    [
      "a wrong host",
      "export const needs = { hosts: ['http://a'] }; export const register = () => undefined;",
      "not a host",
    ],
    [
      "a misspelt hook",
      "export const register = (registry) => registry.provide({ hooks: { name: 'a', beforeCalls() {} } });",
      "services.hooks must be an object with beforeCall()",
    ],
    [
      "a command that no host takes",
      "export const register = (registry) => registry.provide({ commands: [{ name: 'a b', description: 'c', run() {} }] });",
      "services.commands[0].name",
    ],
    [
      "a tool that no host takes",
      "export const register = (registry) => registry.register({ name: 'a b', getSchema: () => ({ type: 'function', function: { name: 'a b', description: 'c' } }), execute() {} });",
      "A tool's name must be",
    ],
    [
      "another pack API",
      "export const packApiVersion = 2; export const register = () => undefined;",
      "pack API 2",
    ],
    [
      "needs that are declared and not exported",
      "export const register = Object.defineProperty(() => undefined, Symbol.for('@agent/core/declared'), { value: ['needs'] });",
      "packName, packApiVersion, needs, register } = definePack",
    ],
  ])("is examined with %s", async (_, source, problem) => {
    const file = join(base, `examined-${Math.random()}.mjs`);
    writeFileSync(file, source);
    const examined = isolation.inspect(file).then(
      () => undefined,
      (error: Error) => error.message,
    );
    expect(await examined).toEqual(problem === undefined ? undefined : expect.stringContaining(problem));
  });

  test("withholds a tool that changed since it was approved", async () => {
    const { echo } = manifest.tools;
    const approved = {
      ...manifest,
      tools: { ...manifest.tools, echo: { ...echo, capabilities: ["network"] } },
    };
    const registry = new ToolRegistry();
    const pack = isolation.pack({
      ...{ name: "helper", entry, grants: {}, required: "enforced", review: "agent pack update helper" },
      manifest: readManifest(approved),
    });
    registerPack(registry, pack);
    // Also the call that starts the process.
    expect((await registry.run("echo")).text).toContain(
      'The pack "helper" changed since you approved it: it now can read; it no longer declares network. Review the change with: agent pack update helper',
    );
    await registry.dispose();
  });
});

test.skipIf(!isEnforced)("keeps files away with Node's flags alone", async () => {
  const registry = new ToolRegistry();
  const enclosure = async () => ({ program: "node" as const, userNamespace: false });
  registerPack(registry, isolatedPack({ name: "helper", entry, manifest, grants: {}, enclosure }));
  expect((await registry.run("echo", { path: "a" })).text).toBe('{"path":"a"}');
  expect((await registry.run("file", { path: join(process.cwd(), "package.json") })).text).toContain(
    "Access to this API has been restricted",
  );
  await registry.dispose();
});

describe("the network of a pack", () => {
  test.each([
    ["a host that is not granted", ["a.example"], "http://b.example/", "may not connect"],
    ["another port", ["a.example"], "http://a.example:8080/", "may not connect"],
    ["this machine by any host", ["*"], "http://127.0.0.1:9/", "not on the public internet"],
    ["this machine in IPv6", ["*"], "http://[::ffff:127.0.0.1]/", "not on the public internet"],
    ["this machine by its name", ["*"], "http://localhost:9/", "not on the public internet"],
    [
      "another port of this machine",
      ["*", "127.0.0.1:9"],
      "http://127.0.0.1:10/",
      "not on the public internet",
    ],
    ["another port of its name", ["*", "localhost:9"], "http://localhost:10/", "not on the public internet"],
    ["no address", ["*"], "nonsense", "not valid"],
    ["another scheme", ["*"], "file:///etc/passwd", "only http and https"],
  ])("refuses %s", async (_, hosts, url, reason) => {
    await expect(new HostNetwork(hosts).fetch({ url }, undefined)).rejects.toThrow(reason);
  });

  test("uses no open connection of another pack, whose address was not checked", async () => {
    const server = createServer((_, response) => response.end("local"));
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const url = `http://localhost:${(server.address() as { port: number }).port}/`;
    const [named, any] = [new HostNetwork([new URL(url).host]), new HostNetwork(["*"])];
    const { stream } = (await named.fetch({ url }, undefined)) as { stream: number };
    expect(String(await named.read(stream))).toBe("local");
    expect(await named.read(stream)).toBeUndefined();
    await expect(any.fetch({ url }, undefined)).rejects.toThrow("not on the public internet");
    for (const network of [named, any]) network.close();
    server.close();
  });

  test("reports a response that ends too early, also if the pack reads it later", async () => {
    let cut = (): void => undefined;
    const server = createServer((request, response) => {
      if (request.url !== "/cut") response.end("whole");
      else {
        response.writeHead(200, { "content-length": "100" }).write("half");
        cut = () => request.socket.destroy();
      }
    });
    await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
    const { port } = server.address() as { port: number };
    const network = new HostNetwork([`localhost:${port}`]);
    const open = async (path: string): Promise<unknown> => {
      const response = await network.fetch({ url: `http://localhost:${port}${path}` }, undefined);
      return (response as { stream: number }).stream;
    };
    const stream = await open("/cut");
    expect(String(await network.read(stream))).toBe("half");
    cut();
    // A whole exchange later, the end of the first one has arrived.
    const other = await open("/");
    expect(String(await network.read(other))).toBe("whole");
    expect(await network.read(other)).toBeUndefined();
    await expect(network.read(stream)).rejects.toThrow("closed before the end");
    server.close();
  });
});

test("ends a process that asks and does not read the answers", async () => {
  const channel = new Duplex({ read: () => undefined, write: () => undefined });
  const child = Object.assign(new EventEmitter(), { stdio: [], kill: vi.fn(), unref: vi.fn() });
  const launched = { child: child as unknown as ChildProcess, channel, pid: undefined };
  const answer = Buffer.alloc(8 * 1024 * 1024);
  const started = new PackProcess(
    "p",
    launched,
    { notify: vi.fn(), serve: async () => answer },
    { memoryMb: 512 },
  );
  for (let ask = 1; ask <= 9; ask++) channel.push(encodeFrame({ ask, method: "fetch/read" }));
  await expect.poll(() => started.problem, { timeout: 30_000 }).toContain("does not read the answers");
  expect(child.kill).toHaveBeenCalled();
});

test.each([
  ["is missing", null],
  ["has no name", { type: "text" }],
  ["has an unknown type", { name: "a", type: "file" }],
  ["has a title that is not a text", { name: "a", type: "text", title: 5 }],
  ["has a choice that is not a text", { name: "a", type: "choice", options: [{ value: {} }] }],
])("refuses a question of a pack with a field that %s", (_, field) => {
  const good = { name: "a", type: "choice", required: true, options: [{ value: "b" }] };
  expect(readFields([good])).toEqual([good]);
  expect(() => readFields([good, field])).toThrow("malformed");
});
