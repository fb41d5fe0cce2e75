import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { Isolation } from "@agent/core/isolation";
import { truncateUtf8Start, withTimeout } from "@agent/internal";
import { endLeftovers, MARK } from "./leftovers.js";
import type { Answer, Task } from "./probe/messages.js";
import { temporaryWorkspace } from "./temporaryWorkspace.js";
import type { CheckPackOptions } from "./types.js";

// Only guards against a hang. A process waits up to ten seconds each (`settleMs`) for late tools, for a call, for its
// exit, for handles to close and for dispose(): a bad pack may cause all these waits, and they must fit.
const DEFAULT_TIMEOUT_MS = 90_000;
const UNREF = { ref: false };
const KEPT_OUTPUT_BYTES = 2000;
const DRAIN_MS = 1000;

/** The result of one task in a separate process. */
export interface ProbeResult {
  readonly answer?: Answer;
  /** Why the process gave no answer: `it exited with code 7`. */
  readonly crash?: string;
  /** Whether it was killed because it took too long. */
  readonly timedOut?: boolean;
  /** The end of its output. */
  readonly output: string;
  /** Files the task created in the workspace. */
  readonly newFiles: readonly string[];
  /** Command lines of the processes that outlived it. They have been killed. */
  readonly leftovers: readonly string[];
}

/** The caller's options, and the sandbox of the processes. */
export interface ProbeOptions extends CheckPackOptions {
  readonly sandbox?: Isolation | undefined;
}

/** Runs one task in a fresh Node process, in an empty directory, and removes both afterwards. */
export async function runProbe(task: Task, options: ProbeOptions): Promise<ProbeResult> {
  const workspace = await temporaryWorkspace();
  try {
    await options.setup?.(workspace.path);
    const before = readdirSync(workspace.path);
    const mark = randomUUID();
    const child = options.sandbox
      ? await startSandboxed(options.sandbox, workspace.path, task.module)
      : startProbe(workspace.path, mark);
    const result = await converse(child, task, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const leftovers = await endLeftovers(mark);
    const newFiles = readdirSync(workspace.path).filter((name) => !before.includes(name));
    return { ...result, leftovers, newFiles };
  } finally {
    await workspace.remove();
  }
}

/** Starts a probe in a sandbox: everything that the pack starts ends with its process. */
async function startSandboxed(sandbox: Isolation, directory: string, module: string): Promise<ChildProcess> {
  const env = { NODE_NO_WARNINGS: "1" };
  const examiner = { script: probeFile(), entry: fileURLToPath(module), directory, env };
  return (await sandbox.startExaminer(examiner)) as ChildProcess;
}

function probeFile(): string {
  return createRequire(import.meta.url).resolve("#probe");
}

function startProbe(cwd: string, mark: string): ChildProcess {
  return fork(probeFile(), [], {
    cwd,
    // Do not inherit Node flags of the test runner, such as loaders and inspectors.
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: plugAndPlayFlags(), NODE_NO_WARNINGS: "1", [MARK]: mark },
    serialization: "advanced",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

/** The Node flags for Yarn Plug'n'Play, which keeps packages in archives that Node alone cannot read. */
function plugAndPlayFlags(): string {
  const flags = (process.env.NODE_OPTIONS ?? "").match(
    /--(?:require|import|experimental-loader)[= ](?:"(?:[^"\\]|\\.)*"|\S+)/g,
  );
  return (flags ?? []).filter((flag) => /\.pnp\.(?:cjs|loader\.mjs)"?$/.test(flag)).join(" ");
}

async function converse(
  child: ChildProcess,
  task: Task,
  timeoutMs: number,
): Promise<Omit<ProbeResult, "leftovers" | "newFiles">> {
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (chunk: string) => {
      output = truncateUtf8Start(output + chunk, KEPT_OUTPUT_BYTES);
    });
  }
  let answer: Answer | undefined;
  child.on("message", (message: Answer) => {
    answer = message;
  });
  const exited = once(child, "exit");
  const closed = once(child, "close");
  // Ignore a failure to send: the process has ended, and the event "exit" reports that.
  child.send(task, () => undefined);

  const inTime = await Promise.race([exited.then(() => true), sleep(timeoutMs, false, UNREF)]);
  if (!inTime) child.kill("SIGKILL");
  const [code, signal] = await exited;
  // What was printed last may still be in the pipes. Wait a moment only: a process that was left behind may hold them open.
  await withTimeout(closed, DRAIN_MS, () => undefined);
  child.stdout?.destroy();
  child.stderr?.destroy();
  // Ignore an answer if the process failed after it: unhandled rejections are raised only then.
  if (answer && code === 0) return { answer, output };
  const crash = inTime
    ? `the process ended with ${signal ?? `code ${code}`}`
    : `no result after ${timeoutMs} ms`;
  return { crash, timedOut: !inTime, output };
}
