import { type ChildProcess, spawn } from "node:child_process";
import type { AgentEvent } from "@agent/core";
import { errorMessage, onAbort, truncateMiddle } from "@agent/core/toolkit";
import { delimited, killWindowsTree } from "@agent/internal";
import { renderOutput } from "../display/commandOutput.js";

const isWindows = process.platform === "win32";
const MOST_BYTES = 32 * 1024;
const MOST_KEPT = 1024 * 1024;
// A command that still runs this long after SIGTERM is killed.
const GRACE_MS = 2000;

/** The outcome of a line as text, and whether it succeeded. */
interface LineEnd {
  readonly ok: boolean;
  readonly summary: string;
}

/**
 * Runs a line the user typed after `!`, in their own shell and with their own rights: no model is involved. Reports it
 * as a call, and resolves to a note for the model, sent with the next message. Never rejects.
 */
export async function runShellLine(
  command: string,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
  id: string,
): Promise<string> {
  const startedAt = performance.now();
  const name = "!";
  const about = { title: command.replace(/\s+/g, " ").trim(), kind: "execute" as const };
  emit({ type: "tool_start", id, name, args: { command }, about });
  let output = "";
  const take = (chunk: string): void => {
    if (output.length < MOST_KEPT) output += chunk;
    emit({ type: "tool_output", id, name, chunk });
  };
  const { ok, summary } = await run(command, take, signal).catch(
    (error: unknown): LineEnd => ({ ok: false, summary: errorMessage(error) }),
  );
  const text = truncateMiddle(renderOutput(output, "plain").join("\n").trimEnd(), MOST_BYTES);
  const durationMs = performance.now() - startedAt;
  const outcome = ok ? "ok" : "error";
  const view = { type: "output" as const, text };
  emit({ type: "tool_end", id, name, outcome, text, summary, durationMs, about, view });
  return `The user ran this command: ${command}\n${delimited("output", text)}\n(${summary})`;
}

/** Rejects if the shell cannot be started: Node throws for some reasons, such as a line that is too long. */
function run(command: string, take: (chunk: string) => void, signal: AbortSignal): Promise<LineEnd> {
  return new Promise((resolve, reject) => {
    // On Windows the user's shell is that of the system, cmd.exe.
    const child = isWindows
      ? spawn(command, { stdio: ["ignore", "pipe", "pipe"], shell: true, windowsHide: true })
      : spawn(process.env.SHELL || "/bin/sh", ["-c", command], {
          stdio: ["ignore", "pipe", "pipe"],
          detached: true,
        });
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", take);
    if (signal.aborted) end(child);
    const release = onAbort(signal, () => end(child));
    child.on("error", reject);
    // Wait for `exit`, not `close`: background processes it started may keep the pipes open.
    child.on("exit", (code, by) => {
      release();
      setImmediate(() =>
        resolve({ ok: code === 0, summary: by === null ? `exit code ${code}` : `killed by ${by}` }),
      );
    });
  });
}

/** Kills the shell and everything it started. */
function end(child: ChildProcess): void {
  if (isWindows) {
    if (child.pid !== undefined) void killWindowsTree(child.pid);
    return;
  }
  signalGroup(child, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), GRACE_MS);
  child.once("exit", () => clearTimeout(timer));
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // The processes have already exited.
  }
}
