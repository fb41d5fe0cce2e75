import { CliError } from "../process/errors.js";

const MAX_TASK_BYTES = 10 * 1024 * 1024;
/** Among the words of a task: standard input goes here. */
const STDIN_MARK = "-";

/**
 * The task: the words given, or all of standard input if there are none. With words, standard input is read only
 * where a `-` among them asks for it: a pipe that is merely open must not keep the command waiting.
 */
export async function readTask(words: readonly string[]): Promise<string> {
  if (words.length > 0 && !words.includes(STDIN_MARK)) return checked(words.join(" "));
  if (process.stdin.isTTY) {
    throw new CliError(
      'There is nothing to do. Give a task: agent "list the files", or run agent alone to chat.',
    );
  }
  const input = await readStandardInput();
  if (words.length === 0 || (words.length === 1 && words[0] === STDIN_MARK)) return checked(input);
  return checked(`${words.filter((word) => word !== STDIN_MARK).join(" ")}\n\n${input}`);
}

async function readStandardInput(): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of process.stdin) {
    size += chunk.length;
    if (size > MAX_TASK_BYTES) {
      throw new CliError(
        `Standard input holds more than ${MAX_TASK_BYTES} bytes. Give the path of a file in the task instead.`,
      );
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function checked(task: string): string {
  const text = task.trim();
  if (text !== "") return text;
  throw new CliError('The task is empty. Give one: agent "list the files", or pipe it in.');
}
