import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import { truncateUtf8Start } from "@agent/internal";
import { endLeftovers, MARK } from "./leftovers.js";
import type { Answer, Task } from "./probe/messages.js";
import { temporaryWorkspace } from "./temporaryWorkspace.js";
import type { CheckPackOptions } from "./types.js";

// A limit against hanging only: three waits of ten seconds for a bad pack must fit on a busy machine.
const DEFAULT_TIMEOUT_MS = 90_000;
const UNREF = { ref: false };
const KEPT_OUTPUT_BYTES = 2000;

/** What came of one task in a process of its own. */
export interface ProbeResult {
  readonly answer?: Answer;
  /** How the process failed to give an answer: `it exited with code 7`. */
  readonly crash?: string;
  /** Whether that was because it took too long. */
  readonly timedOut?: boolean;
  /** What it printed, the end of it. */
  readonly output: string;
  /** Files the task created in the workspace. */
  readonly newFiles: readonly string[];
  /** Processes that outlived it; they were ended. */
  readonly leftovers: readonly string[];
}

/** Runs one task in a fresh Node process, in an empty directory, and leaves nothing of either behind. */
export async function runProbe(task: Task, options: CheckPackOptions): Promise<ProbeResult> {
  const workspace = await temporaryWorkspace();
  try {
    await options.setup?.(workspace.path);
    const before = readdirSync(workspace.path);
    const mark = randomUUID();
    const child = startProbe(workspace.path, mark);
    const result = await converse(child, task, options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const leftovers = await endLeftovers(mark);
    const newFiles = readdirSync(workspace.path).filter((name) => !before.includes(name));
    return { ...result, leftovers, newFiles };
  } finally {
    await workspace.remove();
  }
}

function startProbe(cwd: string, mark: string): ChildProcess {
  const probe = createRequire(import.meta.url).resolve("#probe");
  return fork(probe, [], {
    cwd,
    // Flags of the test runner (loaders, inspectors) are not part of what is examined.
    execArgv: [],
    env: { ...process.env, NODE_OPTIONS: plugAndPlayFlags(), NODE_NO_WARNINGS: "1", [MARK]: mark },
    serialization: "advanced",
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
}

/** The flags without which Node reads nothing that Yarn Plug'n'Play installed: packages are in archives there. */
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
  // A process that cannot be sent to has ended, which "exit" reports.
  child.send(task, () => undefined);

  const inTime = await Promise.race([exited.then(() => true), sleep(timeoutMs, false, UNREF)]);
  if (!inTime) child.kill("SIGKILL");
  const [code, signal] = await exited;
  // Not "close": a process the pack left behind may hold the pipes.
  child.stdout?.destroy();
  child.stderr?.destroy();
  // Ignore an answer if the process failed after it: unhandled rejections are raised only then.
  if (answer && code === 0) return { answer, output };
  const crash = inTime
    ? `the process ended with ${signal ?? `code ${code}`}`
    : `no result after ${timeoutMs} ms`;
  return { crash, timedOut: !inTime, output };
}
