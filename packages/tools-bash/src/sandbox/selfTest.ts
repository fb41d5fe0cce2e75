import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type { Diagnosis } from "@agent/core";
import { canonicalPath, errorMessage, HELPER_ENVIRONMENT } from "@agent/core/toolkit";
import { probeProgram } from "../helpers/probe.js";
import { spawn } from "../helpers/spawn.js";
import { probeBehindGate } from "./probeGate.js";
import { Sandbox } from "./sandbox.js";
import { resolveSandbox } from "./settings.js";

/** A scratch directory with a workspace in it, and a way to run commands in a sandbox for that workspace. */
interface Place {
  readonly workspace: string;
  readonly outside: string;
  /** A directory that the host marks as secret. */
  readonly secret: string;
  /** The output of a command. */
  run(command: string, options?: RunOptions): Promise<string>;
}

interface RunOptions {
  readonly env?: Record<string, string>;
  readonly network?: Network;
  /** Whether to look for bubblewrap again. */
  readonly isFresh?: boolean;
}

/** The network of the command: full, none, or what the proxy for `network.hosts` allows. */
type Network = "open" | "closed" | "hosts";

/** A name that the host protects. */
const HOST_FILE = "host.config";

/** Exchanges the directory `nested` with the symlink `link`, and back, for less than a second. */
const SWAPPER = `
const { renameSync } = require("fs");
const cell = new Int32Array(new SharedArrayBuffer(4));
const wait = (most) => Atomics.wait(cell, 0, 0, most * Math.random() ** 3);
for (let count = 0; count < 100; count++) {
  renameSync("nested", "aside");
  renameSync("link", "nested");
  wait(4);
  renameSync("nested", "link");
  renameSync("aside", "nested");
  wait(20);
}`;

/** One escape attempt: resolves to what got through, or to nothing if it was blocked. */
type Attempt = (place: Place) => Promise<string | undefined>;

/** What exists only on Linux, or what `sandbox-exec` does not hide. */
const LINUX_ONLY = new Set([
  "hosts that are not allowed",
  "variables of a call",
  "capabilities, mounts",
  "kernel settings",
  "new namespaces",
  "the terminal",
  "/tmp and /run of the host",
  "the agent's processes",
]);

/** Every escape attempt, by its name in the report. */
const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  "variables of a call": async ({ run, outside }) => {
    // The dynamic linker of a program outside would write here.
    await run("ls", { env: { LD_DEBUG: "statistics", LD_DEBUG_OUTPUT: join(outside, "linker") } });
    return readdirSync(outside).length === 0 ? undefined : "bubblewrap ran with them";
  },
  "programs of the project": async ({ run, workspace, outside }) => {
    const fake = join(workspace, "bwrap");
    writeFileSync(fake, `#!/bin/sh\ntouch '${join(outside, "ran")}'\n`, { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${workspace}:${path ?? ""}`;
    try {
      // Use a new sandbox: one that has searched for bubblewrap before would not search again.
      await run("true", { isFresh: true });
    } finally {
      if (path === undefined) delete process.env.PATH;
      else process.env.PATH = path;
      rmSync(fake);
    }
    return existsSync(join(outside, "ran")) ? "a bwrap in PATH was used" : undefined;
  },
  "capabilities, mounts": ({ run }) =>
    run(
      "grep ^CapEff /proc/self/status | grep -v 0000000000000000; mount -o remount,rw,bind / && echo remounted /",
    ),
  "kernel settings": ({ run }) => run("(: >> /proc/sys/kernel/core_pattern) && echo /proc/sys is writable"),
  "new namespaces": ({ run }) => run("unshare -U true && echo a user namespace was made"),
  "set-user-id files": ({ run }) => run("touch tool; chmod u+s tool && echo the bit was set"),
  "the terminal": ({ run }) => run("(: < /dev/tty) && echo it can be opened"),
  "files outside": async ({ run }) => {
    const file = join(homedir(), `.agent-doctor-${process.pid}`);
    await run(`touch '${file}'`);
    const isMade = existsSync(file);
    rmSync(file, { force: true });
    return isMade ? "the home directory is writable" : undefined;
  },
  "/tmp and /run of the host": ({ run, outside }) =>
    run(`ls -d '${outside}' /run/user/*/* /run/dbus/* /run/docker.sock`),
  "unix sockets": async ({ run, workspace }) =>
    visitsTo(join(workspace, "socket"), (path) => run(connect(`"${path}"`))),
  "the network, if it is off": async ({ run }) =>
    visitsTo(0, (port) => run(connect(`${port}, "127.0.0.1"`), { network: "closed" })),
  "hosts that are not allowed": async ({ run }) =>
    visitsTo(0, async (port) => {
      const direct = await run(connect(`${port}, "127.0.0.1"`), { network: "hosts" });
      const proxied = await run(connectThroughProxy(port), { network: "hosts" });
      if (!proxied.includes("403")) throw new Error("the proxy does not answer");
      return direct + proxied;
    }),
  "the agent's processes": ({ run }) => run(`ls -d /proc/${process.pid}/environ`),
  "git hooks and config": ({ run }) =>
    run(
      "(echo x > .git/hooks/pre-commit) && echo hooks; (echo x >> .git/config) && echo config; mv .git old && echo moved .git",
    ),
  "files that run later": async ({ run, workspace }) => {
    await run(`echo x > ${HOST_FILE}; echo x > .envrc`);
    const made = [HOST_FILE, ".envrc"].filter((name) => existsSync(join(workspace, name)));
    return made.length === 0 ? undefined : `${made.join(", ")} stayed`;
  },
  "directories swapped for links": async ({ run, workspace, outside }) => {
    const victim = join(outside, "victim");
    for (const path of [join(victim, ".git"), join(workspace, "nested/.git")])
      mkdirSync(path, { recursive: true });
    symlinkSync(victim, join(workspace, "link"));
    const swapper = spawn(process.execPath, ["-e", SWAPPER], {
      cwd: workspace,
      env: HELPER_ENVIRONMENT,
      stdio: "ignore",
    });
    const swapped = new Promise((resolve) => swapper.once("close", resolve).once("error", resolve));
    let starts = 0;
    // A sandbox with wrong mounts does not start, which blocks this attempt.
    const count = (): void => void starts++;
    while (swapper.exitCode === null && swapper.signalCode === null && swapper.pid !== undefined) {
      await run("echo x > nested/.git/file", { isFresh: true }).then(count, () => undefined);
    }
    await swapped;
    if (swapper.exitCode !== 0 || starts === 0) throw new Error("node did not swap directories here");
    return existsSync(join(victim, ".git/file")) ? "a directory outside was written" : undefined;
  },
  "secret places": async ({ run, secret }) => {
    writeFileSync(join(secret, "key"), "a secret was read");
    return run(`cat '${join(secret, "key")}'; mv '${secret}' seen && cat seen/key`);
  },
};

/** Identifies the attempts: a recorded result is not valid for another set. */
export function attemptNames(): readonly string[] {
  return Object.keys(ATTEMPTS);
}

/** Tries each escape from the sandbox for real, and reports which were blocked. */
export async function testSandbox(): Promise<Diagnosis[]> {
  const base = canonicalPath(mkdtempSync(join(tmpdir(), "agent-doctor-")));
  try {
    const place = makePlace(base);
    const results: Diagnosis[] = [];
    for (const [name, attempt] of Object.entries(ATTEMPTS)) {
      if (process.platform === "linux" || !LINUX_ONLY.has(name))
        results.push(await report(name, attempt, place));
    }
    return results;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}

async function report(name: string, attempt: Attempt, place: Place): Promise<Diagnosis> {
  const subject = `sandbox test: ${name}`;
  try {
    const got = (await attempt(place))?.trim();
    if (!got) return { subject, ok: true, detail: "blocked" };
    return { subject, ok: false, detail: `got through: ${got}`, hint: "Do not rely on the sandbox here." };
  } catch (error) {
    return { subject, ok: false, detail: `could not be tried: ${errorMessage(error)}` };
  }
}

function makePlace(base: string): Place {
  const [workspace, outside] = [join(base, "workspace"), join(base, "outside")];
  const secret = join(workspace, "secrets");
  for (const directory of [outside, secret]) mkdirSync(directory, { recursive: true });
  mkdirSync(join(workspace, ".git/hooks"), { recursive: true });
  writeFileSync(join(workspace, ".git/config"), "");
  const make = (network: Network): Sandbox =>
    new Sandbox(resolveSandbox({ network: network === "hosts" ? { hosts: [] } : network === "open" }), {
      secretPaths: [secret],
      protectedNames: [HOST_FILE],
    });
  const sandboxes = { open: make("open"), closed: make("closed"), hosts: make("hosts") };
  const run: Place["run"] = async (command, { env = {}, network = "open", isFresh = false } = {}) => {
    const sandbox = isFresh ? make(network) : sandboxes[network];
    const start = await sandbox.start({
      argv: ["/bin/sh", "-c", `${command}; echo end`],
      text: command,
      env: { ...HELPER_ENVIRONMENT, ...env },
      cwd: workspace,
      workspace,
      readable: undefined,
      tag: {},
    });
    try {
      const [program = "", ...args] = start.argv;
      const { mounts, env: outside, cwd } = start;
      const { output } = mounts
        ? await probeBehindGate({ ...start, mounts }, "stdout")
        : await probeProgram(program, args, "stdout", { env: outside, cwd, detached: true });
      if (!output.endsWith("end\n")) throw new Error("the command did not run to its end");
      return output.slice(0, -"end\n".length);
    } finally {
      start.finish();
    }
  };
  return { workspace, outside, secret, run };
}

/** A command that connects to a server; the address is a JavaScript expression. */
function connect(where: string): string {
  return `'${process.execPath}' -e 'require("net").connect(${where}).on("error", () => console.log("tried")).on("connect", () => process.exit(console.log("tried")))'`;
}

/** A command that requests a server of this machine from the proxy and prints the status of the answer. */
function connectThroughProxy(port: string | number): string {
  const options = `{ host: proxy.hostname, port: proxy.port, method: "CONNECT", path: "127.0.0.1:${port}" }`;
  return `'${process.execPath}' -e 'const proxy = new URL(process.env.HTTP_PROXY); require("http").request(${options}).on("connect", ({ statusCode }) => process.exit(console.log("tried", statusCode))).end()'`;
}

/** Starts a server, lets the command try to connect, and returns whether it did. */
async function visitsTo(
  where: string | number,
  visit: (where: string | number) => Promise<string>,
): Promise<string | undefined> {
  let visits = 0;
  const server = process.getBuiltinModule("node:net").createServer((socket) => {
    visits++;
    socket.destroy();
  });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      if (typeof where === "string") server.listen(where, resolve);
      else server.listen(where, "127.0.0.1", resolve);
    });
    const address = server.address();
    const output = await visit(typeof address === "object" && address !== null ? address.port : where);
    if (!output.includes("tried")) throw new Error("node does not run in the sandbox");
    return visits === 0 ? undefined : "a server outside was reached";
  } finally {
    server.close();
  }
}
