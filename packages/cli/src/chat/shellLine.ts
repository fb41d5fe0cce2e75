import { spawn } from "node:child_process";
import type { AgentEvent } from "@agent/core";
import { truncateMiddle } from "@agent/core/toolkit";
import { renderOutput } from "../display/commandOutput.js";

const MOST_BYTES = 32 * 1024;
const MOST_KEPT = 1024 * 1024;

/**
 * Runs a line the person typed after `!`, in their own shell and with their own rights: no model is involved. Reports
 * it as a call, and resolves to a note for the model, sent with the next message.
 */
export function runShellLine(
  command: string,
  emit: (event: AgentEvent) => void,
  signal: AbortSignal,
  id: string,
): Promise<string> {
  const startedAt = performance.now();
  const name = "!";
  emit({ type: "tool_start", id, name, args: { command } });
  return new Promise((resolve) => {
    const child = spawn(process.env.SHELL || "/bin/sh", ["-c", command], {
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    let output = "";
    const take = (chunk: Buffer): void => {
      const text = chunk.toString("utf8");
      if (output.length < MOST_KEPT) output += text;
      emit({ type: "tool_output", id, name, chunk: text });
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    const stop = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGTERM");
      } catch {
        // The process has ended already.
      }
    };
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    const finish = (ok: boolean, summary: string): void => {
      signal.removeEventListener("abort", stop);
      const clean = truncateMiddle(renderOutput(output, "plain").join("\n").trimEnd(), MOST_BYTES);
      const durationMs = performance.now() - startedAt;
      emit({ type: "tool_end", id, name, outcome: ok ? "ok" : "error", text: clean, summary, durationMs });
      resolve(`The person ran this command: ${command}\n<output>\n${clean}\n</output>\n(${summary})`);
    };
    child.on("error", (error) => finish(false, error.message));
    // Wait for `exit`, not `close`: background processes it started may keep the pipes open.
    child.on("exit", (code, by) => {
      setImmediate(() => finish(code === 0, by === null ? `exit code ${code}` : `ended by ${by}`));
    });
  });
}
