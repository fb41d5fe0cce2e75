import { fstatSync } from "node:fs";
import { CliError } from "../process/errors.js";

const STDIN = 0;
const MAX_INPUT_BYTES = 10 * 1024 * 1024;
/**
 * How long a pipe may be silent before the task starts without it. Another program may keep one open and never write.
 */
const SILENCE_MS = 3000;
/** As an argument of a task: wait for standard input, however long it takes. */
const STDIN_MARK = "-";

export interface Task {
  /** The user's text. */
  readonly text: string;
  /** The content of standard input, unless it is the task itself. */
  readonly attached?: string;
}

/**
 * Reads the task from the arguments, or from standard input if there are none. With arguments, standard input is
 * attached to them if it is a file or a pipe with data. `note` reports what was attached, or that a pipe stayed silent.
 */
export async function readTask(words: readonly string[], note: (message: string) => void): Promise<Task> {
  const text = words.filter((word) => word !== STDIN_MARK).join(" ");
  const isAsked = words.length === 0 || words.includes(STDIN_MARK);
  if (isAsked && process.stdin.isTTY) {
    throw new CliError(
      'There is nothing to do. Give a task: agent "list the files", or run agent alone to chat.',
    );
  }
  if (!isAsked && !mayHaveInput()) return { text: checked(text) };
  const input = await readInput(isAsked ? undefined : SILENCE_MS);
  if (input === undefined) {
    note(
      `standard input is open but sent nothing for ${SILENCE_MS / 1000} s, so the task starts without it. Add "-" to wait for it, or < /dev/null to skip it.`,
    );
    return { text: checked(text) };
  }
  if (text.trim() === "") return { text: checked(input) };
  if (input.trim() === "") return { text: checked(text) };
  if (!isAsked) note(`attached standard input (${Buffer.byteLength(input)} bytes)`);
  return { text: checked(text), attached: input };
}

/**
 * Whether the user may have connected something to standard input: a shell does that with files and pipes. Programs
 * that start others connect sockets or character devices and often never write to them, so those need the mark.
 */
function mayHaveInput(): boolean {
  try {
    const input = fstatSync(STDIN);
    return input.isFIFO() || (input.isFile() && input.size > 0);
  } catch {
    // Standard input is closed.
    return false;
  }
}

/** All of standard input; `undefined` if it sends nothing for `silenceMs`. */
async function readInput(silenceMs: number | undefined): Promise<string | undefined> {
  const { stdin } = process;
  const timer = silenceMs === undefined ? undefined : setTimeout(() => stdin.destroy(), silenceMs);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of stdin) {
      clearTimeout(timer);
      size += chunk.length;
      if (size > MAX_INPUT_BYTES) {
        throw new CliError(
          `Standard input has more than ${MAX_INPUT_BYTES} bytes. Save it in a file and name its path in the task.`,
        );
      }
      chunks.push(chunk);
    }
  } catch (error) {
    if (silenceMs !== undefined && size === 0 && stdin.destroyed) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
  }
  const bytes = Buffer.concat(chunks);
  if (bytes.includes(0)) {
    throw new CliError(
      "Standard input is binary. Save it in a file and name its path in the task, or use --image for a picture.",
    );
  }
  return bytes.toString("utf8");
}

function checked(task: string): string {
  const text = task.trim();
  if (text !== "") return text;
  throw new CliError('The task is empty. Give one: agent "list the files", or pipe it in.');
}
