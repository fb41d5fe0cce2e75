import { basename } from "node:path";
import { onAbort } from "@agent/core/toolkit";
import { spawn } from "./lazyNode.js";

const CHECK_TIMEOUT_MS = 10_000;
const MAX_MESSAGE_BYTES = 4096;

// Shells that parse a whole line before they run any of it.
const PARSES_BY_LINE = new Set(["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"]);

/**
 * Whether the syntax must be checked before the command runs. A command of one line need not: the shell finds
 * the error before it runs anything, so asking it a second time is only needed when it failed.
 */
export function needsCheckFirst(command: string, shell: string): boolean {
  return command.includes("\n") || !isKnownShell(shell);
}

/** Whether the name is that of a shell whose ways are known. */
export function isKnownShell(shell: string): boolean {
  return PARSES_BY_LINE.has(basename(shell));
}

/**
 * Asks the shell itself whether it can parse the command, without running any of it. Resolves to the
 * problem with its line, or to `undefined`. `script` is the text, or the file that holds it.
 */
export async function findSyntaxError(
  shell: string,
  script: { readonly text: string; readonly file?: string | undefined },
  signal?: AbortSignal,
): Promise<string | undefined> {
  const args = script.file === undefined ? ["-n", "-c", script.text, "sh"] : ["-n", script.file];
  const message = await complaint(shell, args, signal);
  return message === undefined ? undefined : describe(message, shell);
}

/** What the shell says against the script; `undefined` if it is content, or could not be asked. */
function complaint(shell: string, args: string[], signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, args, {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: CHECK_TIMEOUT_MS,
      killSignal: "SIGKILL",
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
    });
    // Not the option of spawn: Node would warn about the eleventh check that shares one signal.
    const release = onAbort(signal, () => {
      child.kill("SIGKILL");
      reject(new Error("Aborted before the command was started. Nothing was run."));
    });
    let message = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (message.length < MAX_MESSAGE_BYTES) message += chunk.toString("utf8");
    });
    child.on("error", (error: NodeJS.ErrnoException) => {
      release();
      reject(
        new Error(`The shell ${shell} cannot be started: ${error.code ?? error.message}. Nothing was run.`),
      );
    });
    child.on("close", (code) => {
      release();
      resolve(code === 0 ? undefined : message.slice(0, MAX_MESSAGE_BYTES));
    });
  });
}

function describe(message: string, shell: string): string {
  const name = basename(shell);
  const hint = name === "bash" ? "" : ` The shell is ${shell}; what only bash understands needs bash -c '…'.`;
  const first = message.trim().split("\n", 1)[0] ?? "";
  const found = /(?:line )?(\d+): *(.*)$/s.exec(first.replace(/^.*?: (?=(?:line )?\d+: )/, ""));
  const where = found
    ? `on line ${found[1]}: ${(found[2] ?? "").replace(/^syntax error:? */i, "")}`
    : first || "the shell gave no reason";
  return `Syntax error ${where}. Nothing was run.${hint}`;
}
