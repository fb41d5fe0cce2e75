import type { ChildProcess, SpawnOptions } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex, Readable, Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { canonicalPath, findProgram, HELPER_ENVIRONMENT, lazyConstant } from "@agent/internal";
import { passGate } from "../sandbox/gate.js";
import { type StdioEntry, withoutInherited } from "../sandbox/inherited.js";
import { bubblewrapStart } from "./bubblewrap.js";
import type { PackPolicy } from "./policy.js";
import { packProfile } from "./profile.js";
import { CHANNEL_DESCRIPTOR } from "./protocol.js";

const SYSTEM_SHELL = "/bin/sh";
const SANDBOX_EXEC = "/usr/bin/sandbox-exec";
/** V8 in Node 24 counts this much memory for its code as data, for every thread that runs JavaScript. */
const CODE_RANGE_MB = 544;
const HEAP_MB = 256;

/** The program that sandboxes pack processes. `node` alone, with its permission flags, is not isolation. */
export type Enclosure = "bubblewrap" | "sandbox-exec" | "node";

/** A started pack process that waits for its first message. */
export interface Launched {
  readonly child: ChildProcess;
  readonly channel: Duplex;
  /** The process id outside of the sandbox, used to check its memory. */
  readonly pid: number | undefined;
}

/** The file that runs a pack. */
export const runtimeFile = lazyConstant(() => {
  const built = ["./packRuntime.js", "../../dist/packRuntime.js"].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  return canonicalPath(built.find((path) => existsSync(path)) ?? "");
});

/** Starts a process under a policy. Rejects if it cannot be sandboxed; no code of the pack has run then. */
export async function launch(
  policy: PackPolicy,
  enclosure: Enclosure,
  { userNamespace = true, runtime = runtimeFile() } = {},
): Promise<Launched> {
  const started = await launchScript(runtime, { policy, enclosure, userNamespace, channel: "pipe" });
  return { ...started, channel: started.child.stdio[CHANNEL_DESCRIPTOR] as Duplex };
}

export interface ScriptLaunch {
  readonly policy: PackPolicy;
  readonly enclosure: Enclosure;
  readonly userNamespace: boolean;
  /** `ipc`: messages as those of `fork`, with structured clones. */
  readonly channel: "pipe" | "ipc";
}

/** Starts a script of Node under a policy. */
export async function launchScript(script: string, wanted: ScriptLaunch): Promise<Omit<Launched, "channel">> {
  const { policy, enclosure, channel } = wanted;
  const node = canonicalPath(process.execPath);
  const argv = [node, ...nodeFlags(policy, enclosure), script];
  if (enclosure === "bubblewrap") return await launchBubblewrap(argv, wanted);
  const temporary = canonicalPath(mkdtempSync(join(tmpdir(), "agent-pack-")));
  const env = { ...policy.env, TMPDIR: temporary };
  const start =
    enclosure === "sandbox-exec"
      ? [SANDBOX_EXEC, "-p", packProfile(policy, node, temporary), ...argv]
      : [
          argv[0] ?? "",
          `--allow-fs-write=${temporary}/*`,
          `--allow-fs-read=${temporary}/*`,
          ...argv.slice(1),
        ];
  const child = spawn(start, { env, cwd: policy.cwd, stdio: ["ignore", "pipe", "pipe", channel] });
  child.once("close", () => rmSync(temporary, { recursive: true, force: true }));
  await started(child);
  return { child, pid: child.pid };
}

async function launchBubblewrap(
  argv: readonly string[],
  { policy, userNamespace, channel }: ScriptLaunch,
): Promise<Omit<Launched, "channel">> {
  const program = findProgram("bwrap", [canonicalPath(process.cwd())]);
  if (program === undefined) throw new Error("bubblewrap (bwrap) is not installed, or only in the project");
  const env = channel === "ipc" ? { ...policy.env, ...IPC_VARIABLES } : policy.env;
  const { options, filter, mounts } = bubblewrapStart({ ...policy, env }, argv[0] ?? "", userNamespace);
  // File descriptor 3 is the channel.
  const [args, seccomp, info, block] = [4, 5, 6, 7];
  const gate = ["--seccomp", `${seccomp}`, "--info-fd", `${info}`, "--block-fd", `${block}`];
  const limited = ["-c", 'ulimit -d "$1"; shift; exec "$@"', "sh", `${dataLimitMb(policy) * 1024}`];
  const child = spawn([SYSTEM_SHELL, ...limited, program, "--args", `${args}`, "--", ...argv], {
    env: HELPER_ENVIRONMENT,
    cwd: "/",
    stdio: ["ignore", "pipe", "pipe", channel, "pipe", "pipe", "pipe", "pipe"],
  });
  await started(child);
  const stdio = child.stdio as unknown as (Writable & Readable)[];
  // bubblewrap may exit before it has read everything; its stderr explains why.
  for (const stream of stdio.slice(CHANNEL_DESCRIPTOR)) stream?.on("error", () => undefined);
  stdio[args]?.end([...options, ...gate].map((option) => `${option}\0`).join(""));
  stdio[seccomp]?.end(filter);
  let pid: number | undefined;
  stdio[info]?.on("data", (chunk: Buffer) => {
    const [, found] = /"child-pid":\s*(\d+)/.exec(chunk.toString()) ?? [];
    if (found !== undefined) pid = Number(found);
  });
  let complaint = "";
  const listen = (chunk: Buffer): void => {
    complaint = (complaint + chunk.toString()).slice(0, 1000);
  };
  child.stderr?.on("data", listen);
  try {
    const passed = await passGate(
      { info: stdio[info] as Readable, open: () => void stdio[block]?.end("x") },
      mounts,
    );
    if (!passed) throw new Error(complaint.trim() || "bubblewrap ended");
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    child.stderr?.off("data", listen);
  }
  return { child, pid };
}

/** Variables that tell Node about the `ipc` channel: bubblewrap does not pass those that Node sets. */
const IPC_VARIABLES = {
  NODE_CHANNEL_FD: `${CHANNEL_DESCRIPTOR}`,
  NODE_CHANNEL_SERIALIZATION_MODE: "advanced",
};

/** Why bubblewrap does not start here; `undefined` if it does. */
export async function bubblewrapProblem(userNamespace: boolean): Promise<string | undefined> {
  const program = findProgram("bwrap", [canonicalPath(process.cwd())]);
  if (program === undefined) return "it is not installed, or only in the project";
  const namespaces = [...(userNamespace ? ["--unshare-user"] : []), "--unshare-pid", "--unshare-net"];
  const child = spawn([program, ...namespaces, "--ro-bind", "/", "/", "--", SYSTEM_SHELL, "-c", ":"], {
    env: HELPER_ENVIRONMENT,
    cwd: "/",
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => {
    complaint = (complaint + chunk.toString()).slice(0, 1000);
  });
  return await new Promise((resolve) => {
    child.once("error", ({ message }) => resolve(message));
    child.once("close", (code) => resolve(code === 0 ? undefined : complaint.trim() || `exit code ${code}`));
  });
}

/**
 * Limits data, not address space: Node reserves far more than it uses. Thread stacks count, so the number of threads is
 * limited too.
 */
function dataLimitMb({ memoryMb }: PackPolicy): number {
  const [major = 0] = process.versions.node.split(".").map(Number);
  return major >= 24 ? memoryMb + CODE_RANGE_MB : memoryMb;
}

function nodeFlags({ readable }: PackPolicy, enclosure: Enclosure): string[] {
  const heap = [`--max-old-space-size=${HEAP_MB}`, "--no-warnings"];
  if (enclosure !== "node") return heap;
  const [major = 0] = process.versions.node.split(".").map(Number);
  const permission = major < 22 ? "--experimental-permission" : "--permission";
  // Node 20 aborts with an assertion if a directory and its content are in two flags.
  const shown = (path: string): string => (statSync(path).isDirectory() ? `${path}/*` : path);
  return [...heap, permission, ...readable.map((path) => `--allow-fs-read=${shown(path)}`)];
}

function spawn(
  [program = "", ...args]: readonly string[],
  options: SpawnOptions & { readonly stdio: readonly StdioEntry[] },
): ChildProcess {
  // Starts its own session, without a terminal and its signals. Loaded lazily: it takes 4 ms, and most agents have no
  // isolated pack.
  const { spawn: start } = process.getBuiltinModule("node:child_process");
  const { stdio, ...others } = { serialization: "advanced" as const, ...options, detached: true };
  return withoutInherited(stdio, (sealed) => start(program, args, { ...others, stdio: [...sealed] }));
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve);
    child.once("error", reject);
  });
}
