import { onAbort } from "@agent/core/toolkit";
import { spawn } from "./lazyNode.js";

const TIMEOUT_MS = 10_000;
const MAX_CHARACTERS = 4096;

interface ShortRunOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal | undefined;
}

interface ShortRun {
  /** `null` if it was ended: on abort, or because it took too long. */
  readonly code: number | null;
  readonly said: string;
}

/**
 * Runs a program that is only asked something, without input, and resolves to the start of what it says on one
 * stream. Rejects if it cannot be started.
 */
export function runShortly(
  program: string,
  args: readonly string[],
  stream: "stdout" | "stderr",
  { env = process.env, signal }: ShortRunOptions = {},
): Promise<ShortRun> {
  return new Promise((resolve, reject) => {
    let said = "";
    const child = spawn(program, args, {
      stdio: ["ignore", stream === "stdout" ? "pipe" : "ignore", stream === "stderr" ? "pipe" : "ignore"],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      env,
    });
    // Not the option of spawn: Node would warn about the eleventh run that shares one signal.
    const release = onAbort(signal, () => {
      child.kill("SIGKILL");
      // At once: what it started may hold the stream open.
      resolve({ code: null, said });
    });
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      if (said.length < MAX_CHARACTERS) said = (said + text).slice(0, MAX_CHARACTERS);
    });
    child.on("error", (error) => {
      release();
      reject(error);
    });
    child.on("close", (code) => {
      release();
      resolve({ code, said });
    });
  });
}
