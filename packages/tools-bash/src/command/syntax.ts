import { basename } from "node:path";
import { probeProgram } from "../helpers/probe.js";

// Shells that parse a whole line before they run any of it.
const PARSES_BY_LINE = new Set(["sh", "ash", "bash", "dash", "ksh", "mksh", "zsh"]);

/**
 * Whether the syntax must be checked before the command runs. Not needed for a single line: the shell finds the error
 * before it runs anything, so a second check is needed only if it failed.
 */
export function needsCheckFirst(command: string, shell: string): boolean {
  return command.includes("\n") || !isKnownShell(shell);
}

/** Whether this is the name of a shell known to parse a whole line first. */
export function isKnownShell(shell: string): boolean {
  return PARSES_BY_LINE.has(basename(shell));
}

/**
 * Lets the shell itself parse the command without running it. Resolves to the error with its line, or to `undefined`.
 * `script` is the text, or the file that contains it.
 */
export async function findSyntaxError(
  shell: string,
  script: { readonly text: string; readonly file?: string | undefined },
  signal?: AbortSignal,
): Promise<string | undefined> {
  const args = script.file === undefined ? ["-n", "-c", script.text, "sh"] : ["-n", script.file];
  const message = await complaint(shell, args, signal);
  return message === undefined ? undefined : describe(message, shell, script.text);
}

/** The shell's error message about the script; `undefined` if there is none. */
async function complaint(
  shell: string,
  args: readonly string[],
  signal?: AbortSignal,
): Promise<string | undefined> {
  const { code, output } = await probeProgram(shell, args, "stderr", { signal }).catch(
    (error: NodeJS.ErrnoException) => {
      throw new Error(
        `The shell ${shell} cannot be started: ${error.code ?? error.message}. Nothing was run.`,
      );
    },
  );
  if (signal?.aborted) throw new Error("Aborted before the command was started. Nothing was run.");
  return code === 0 ? undefined : output;
}

function describe(message: string, shell: string, command: string): string {
  const first = message.trim().split("\n", 1)[0] ?? "";
  const found = /(?:line )?(\d+): *(.*)$/s.exec(first.replace(/^.*?: (?=(?:line )?\d+: )/, ""));
  const where = found
    ? `on line ${found[1]}: ${(found[2] ?? "").replace(/^syntax error:? */i, "")}`
    : first || "the shell gave no reason";
  return `Syntax error ${where}. Nothing was run.${hint(shell, command)}`;
}

function hint(shell: string, command: string): string {
  if (command.includes("\r\n")) {
    return " The command has Windows line endings (CR LF), and to a shell the CR is part of the last word of each line. End the lines with LF alone.";
  }
  return basename(shell) === "bash"
    ? ""
    : ` The shell is ${shell}; what only bash understands needs bash -c '…'.`;
}
