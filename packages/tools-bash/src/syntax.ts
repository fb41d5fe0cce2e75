import { spawn } from "node:child_process";
import { basename } from "node:path";

const CHECK_TIMEOUT_MS = 10_000;
const MAX_MESSAGE_BYTES = 4096;

// One simple command of plain words that starts with none of the words the grammar reserves: it cannot have
// a syntax error in any shell, so asking the shell is not needed.
const PLAIN_WORDS = /^ *[A-Za-z0-9_./-]+( +[A-Za-z0-9_.,/:@%+-]+)* *$/;
const RESERVED = new Set(
  "case coproc do done elif else end esac fi for foreach function if in nocorrect repeat select then time until while".split(
    " ",
  ),
);

/**
 * Asks the shell itself whether it can parse the command, without running any of it. Resolves to the
 * problem with its line, or to `undefined`. `script` is the text, or the file that holds it.
 */
export async function findSyntaxError(
  shell: string,
  script: { readonly text: string; readonly file?: string | undefined },
  signal?: AbortSignal,
): Promise<string | undefined> {
  if (isPlain(script.text)) return undefined;
  const args = script.file === undefined ? ["-n", "-c", script.text, "sh"] : ["-n", script.file];
  const message = await complaint(shell, args, signal);
  return message === undefined ? undefined : describe(message, shell);
}

function isPlain(text: string): boolean {
  return PLAIN_WORDS.test(text) && !RESERVED.has(text.trimStart().split(" ", 1)[0] ?? "");
}

/** What the shell says against the script; `undefined` if it is content, or could not be asked. */
function complaint(shell: string, args: string[], signal?: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const child = spawn(shell, args, {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: CHECK_TIMEOUT_MS,
      killSignal: "SIGKILL",
      env: { PATH: process.env.PATH ?? "", LC_ALL: "C" },
      ...(signal && { signal }),
    });
    let message = "";
    child.stderr.on("data", (chunk: Buffer) => {
      if (message.length < MAX_MESSAGE_BYTES) message += chunk.toString("utf8");
    });
    child.on("error", reject);
    child.on("close", (code) => resolve(code === 0 ? undefined : message.slice(0, MAX_MESSAGE_BYTES)));
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
