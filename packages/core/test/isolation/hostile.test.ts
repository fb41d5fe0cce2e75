import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { registerPack, ToolRegistry } from "../../src/index.js";
import { Isolation, type PackManifest } from "../../src/isolation/index.js";

const isolation = new Isolation();
const { level, detail } = await isolation.status();
const isEnforced = level === "enforced";
if (!isEnforced)
  process.stderr.write(`The attempts of a hostile pack are skipped: isolation is ${detail}.\n`);

const base = realpathSync(mkdtempSync(join(tmpdir(), "agent-hostile-")));
const entry = join(base, "pack", "hostile.mjs");
const secret = join(homedir(), ".agent-hostile-secret");
const socketPath = join(base, "socket");
let manifest: PackManifest;
let registry: ToolRegistry;
let tcp: Server;
let unix: Server;

function open(grants = {}): ToolRegistry {
  const made = new ToolRegistry({
    abortGraceMs: 20_000,
    claimSecrets: () => ({ HOSTILE_TOKEN: "t0ken-of-the-user" }),
  });
  made.register({
    name: "neighbour",
    getSchema: () => ({ type: "function", function: { name: "neighbour", description: "Another tool." } }),
    execute: async () => "neighbour ran",
  });
  registerPack(made, isolation.pack({ name: "hostile", entry, manifest, grants, required: "enforced" }), {
    context: {} as never,
  });
  return made;
}

beforeAll(async () => {
  if (!isEnforced) return;
  mkdirSync(join(base, "pack"));
  writeFileSync(join(base, "pack", "package.json"), '{"name":"hostile","version":"1.0.0"}');
  copyFileSync(new URL("hostile.mjs", import.meta.url), entry);
  writeFileSync(secret, "the key");
  tcp = createServer((socket) => socket.end("hello")).listen(0, "127.0.0.1");
  unix = createServer((socket) => socket.end("hello")).listen(socketPath);
  await Promise.all([tcp, unix].map((server) => new Promise((resolve) => server.once("listening", resolve))));
  manifest = await isolation.inspect(entry);
  registry = open();
});

afterAll(async () => {
  await registry?.dispose();
  tcp?.close();
  unix?.close();
  rmSync(base, { recursive: true, force: true });
  rmSync(secret, { force: true });
});

/** Whether a process runs; one that only waits to be collected does not. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

const port = (): number => (tcp.address() as { port: number }).port;

describe.skipIf(!isEnforced)("a hostile pack", () => {
  test.each<[string, () => Record<string, unknown>, RegExp]>([
    ["read", () => ({ path: secret }), /ENOENT/],
    ["read", () => ({ path: "/etc/passwd" }), /ENOENT/],
    ["read", () => ({ path: `/proc/${process.pid}/environ` }), /ENOENT/],
    ["read", () => ({ path: join(process.cwd(), "package.json") }), /ENOENT/],
    ["list", () => ({ path: homedir() }), /ENOENT/],
    ["link", () => ({ path: secret }), /ENOENT/],
    ["write", () => ({ path: "/usr/lib/x" }), /EROFS/],
    ["write", () => ({ path: "/x" }), /EROFS/],
    ["ownCode", () => ({}), /EROFS/],
    ["signal", () => ({ pid: process.pid }), /ESRCH/],
    ["tcp", () => ({ port: port() }), /EPERM/],
    ["udp", () => ({ port: port() }), /EPERM/],
    ["unix", () => ({ path: socketPath }), /EPERM/],
    ["fetch", () => ({ url: `http://127.0.0.1:${port()}/` }), /may not connect to/],
    ["spawn", () => ({}), /EPERM/],
    ["fill", () => ({ path: "/tmp/full" }), /ENOSPC/],
    ["fill", () => ({ path: "/dev/shm/full" }), /ENOENT|EROFS/],
    ["long", () => ({}), /more than an isolated pack can return/],
  ])("gets nothing by %s", async (name, args, refusal) => {
    const { outcome, text } = await registry.run(name, args());
    expect([outcome, text]).toEqual(["error", expect.stringMatching(refusal)]);
  });

  test("gets no file descriptor that the agent inherited", async () => {
    const script = `import { registerPack, ToolRegistry } from "../../dist/index.js";
      import { Isolation } from "../../dist/isolation.js";
      const [entry] = process.argv.slice(1);
      const isolation = new Isolation();
      const manifest = await isolation.inspect(entry);
      const registry = new ToolRegistry();
      registerPack(registry, isolation.pack({ name: "hostile", entry, manifest, grants: {}, required: "enforced" }));
      console.log((await registry.run("descriptors")).text);
      await registry.dispose();`;
    const inherited = openSync(secret, "r");
    const unused = Array<"ignore">(17).fill("ignore");
    const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, entry], {
      cwd: fileURLToPath(new URL(".", import.meta.url)),
      stdio: ["ignore", "pipe", "inherit", ...unused, inherited],
      encoding: "utf8",
    });
    closeSync(inherited);
    expect(stdout).toBe("found: \n");
  });

  test("sees no variable of the agent, and its own secret only", async () => {
    const { text } = await registry.run("environment");
    expect(Object.keys(JSON.parse(text)).sort()).toEqual(["HOME", "PWD", "TMPDIR", "TZ"]);
    // Redacted in the result, as that of a pack in process.
    expect((await registry.run("secret")).text).not.toContain("t0ken");
  });

  test.each([
    ["exit", {}, /ended with code 7/],
    ["crash", {}, /ended with/],
    ["late", {}, /late failure/],
    ["garbage", {}, /not JSON/],
    ["huge", {}, /a message of 104857600 bytes/],
    ["nested", {}, /a message of 1048576 bytes/],
    ["unrequested", {}, /answered a request that was not sent/],
    ["unknown", {}, /unknown message "enable"/],
    ["flood", {}, /more than (?:20000 messages in a second|100000 events of one call)/],
    ["heavy", {}, /more than 8388608 bytes of messages in a second/],
    ["notices", {}, /more than 200 notices/],
    ["states", {}, /set its state to 67108864 bytes in all|more than 8388608 bytes of messages in a second/],
    ["heap", {}, /ended with/],
  ])(
    "is stopped with the reason if it does %s, and runs again with the next call",
    async (name, args, reason) => {
      const own = open();
      try {
        const { outcome, text } = await own.run(name, args);
        expect([outcome, text]).toEqual(["error", expect.stringMatching(reason)]);
        expect((await own.run("fine")).text).toBe("fine");
        expect((await own.run("neighbour")).text).toBe("neighbour ran");
      } finally {
        await own.dispose();
      }
    },
  );

  test.each(["memory", "threads"])("cannot use more than its share of %s", async (name) => {
    const own = open();
    const { outcome, text } = await own.run(name);
    await own.dispose();
    expect([outcome, text]).toEqual(["error", expect.any(String)]);
  });

  test("is stopped if it starts too many of the programs it may start", async () => {
    const own = open({ programs: true });
    expect((await own.run("spawn")).text).toBe("status 0");
    expect((await own.run("swarm")).text).toContain("it started more than 128 processes");
    expect((await own.run("fine")).text).toBe("fine");
    await own.dispose();
  });

  test.each(["loop", "hang", "stubborn"])("is stopped by an abort while it does %s", async (name) => {
    const own = open();
    await own.run("fine");
    const controller = new AbortController();
    const running = own.run(
      name,
      {},
      { signal: controller.signal, onStart: () => setImmediate(() => controller.abort()) },
    );
    expect((await running).outcome).toBe("aborted");
    expect((await own.run("fine")).text).toBe("fine");
    await own.dispose();
  });

  test("is stopped if it never answers", async () => {
    const own = open();
    await own.run("fine");
    const timeout = AbortSignal.timeout.bind(AbortSignal);
    vi.spyOn(AbortSignal, "timeout").mockImplementationOnce(() => timeout(10));
    expect((await own.run("endless_parse")).text).toContain("a call was stopped and did not return");
    expect((await own.run("fine")).text).toBe("fine");
    await own.dispose();
  });

  test("is not started for a while if it fails again and again", async () => {
    const own = open();
    for (let count = 0; count < 4; count++) await own.run("exit");
    expect((await own.run("fine")).text).toContain("failed 4 times in ten minutes");
    await own.dispose();
  });

  test("is stopped if it never registers", async () => {
    const file = join(base, "never.mjs");
    writeFileSync(file, "await new Promise(() => undefined);");
    const own = new ToolRegistry();
    const pack = { name: "never", entry: file, manifest, grants: {}, registerLimitMs: 500 };
    registerPack(own, isolation.pack({ ...pack, required: "enforced" }));
    expect((await own.run("fine")).text).toContain("did not register within 500 ms");
    await own.dispose();
  });

  test("is gone when the agent is killed", async () => {
    const agent = spawn(process.execPath, [fileURLToPath(new URL("killed.mjs", import.meta.url)), entry], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [printed] = (await once(agent.stdout, "data")) as [Buffer];
    const pids = printed.toString().trim().split(" ").map(Number);
    expect(pids).toHaveLength(2);
    agent.kill("SIGKILL");
    await vi.waitFor(() => expect(pids.filter((pid) => isAlive(pid))).toEqual([]), { timeout: 60_000 });
  });

  test("cannot release a tool that is not as the user approved it", async () => {
    const { fine } = manifest.tools;
    const tools = { ...manifest.tools, ...(fine && { fine: { ...fine, capabilities: [] } }) };
    const own = new ToolRegistry();
    const changed = { ...manifest, tools };
    registerPack(
      own,
      isolation.pack({ name: "hostile", entry, manifest: changed, grants: {}, required: "enforced" }),
    );
    expect((await own.run("release")).text).toBe("sent");
    expect((await own.run("fine")).text).toContain("changed since you approved it: it now can read");
    await own.dispose();
  });

  test("calls no other tool and starts no agent, by whatever message", async () => {
    const own = open();
    const [callTool, startAgent] = [vi.fn(), vi.fn()];
    for (const name of ["nestedCall", "forcedCalls"]) await own.run(name, {}, { callTool, startAgent });
    expect([callTool.mock.calls, startAgent.mock.calls]).toEqual([[], []]);
    expect((await own.run("elsewhere")).text).toContain('the pack may not call "neighbour"');
    await own.dispose();
  });

  test("harms only its own answers", async () => {
    const own = open();
    expect((await own.run("reject")).text).toBe("still here");
    expect((await own.run("forged")).text).toBe("sent");
    expect(own.isToolEnabled("neighbour")).toBe(true);
    expect((await own.run("prints")).text).toBe("printed");
    expect((await own.run("nestedCall")).text).not.toBe("neighbour ran");
    expect((await own.run("ask")).text).toBe("undefined");
    await own.run("pollute");
    expect(({} as { polluted?: string }).polluted).toBeUndefined();
    await own.dispose();
    expect(readFileSync(secret, "utf8")).toBe("the key");
  });
});
