import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";

const MOST_CANDIDATES = 200;

/** What could stand in place of `text.slice(start, cursor)`. */
export interface Completion {
  readonly start: number;
  readonly candidates: readonly string[];
}

/** The words that can follow a slash command: `words(["/enable"])` gives tool names. */
export type CompleteCommand = (before: readonly string[]) => readonly string[] | undefined;

/** Candidates for the word before the cursor: a slash command, its arguments, or a path. Never rejects. */
export async function complete(
  text: string,
  cursor: number,
  completeCommand: CompleteCommand,
): Promise<Completion> {
  const before = text.slice(0, cursor);
  const word = /\S*$/.exec(before)?.[0] ?? "";
  const start = cursor - word.length;
  if (before.startsWith("/")) {
    const words = completeCommand(before.slice(0, start).split(/\s+/).filter(Boolean));
    if (words) return { start, candidates: words.filter((candidate) => candidate.startsWith(word)) };
  }
  return { start, candidates: await paths(word) };
}

/** The longest start that all candidates share. */
export function commonStart(candidates: readonly string[]): string {
  let [common = ""] = candidates;
  for (const candidate of candidates) {
    let length = 0;
    while (length < common.length && common[length] === candidate[length]) length++;
    common = common.slice(0, length);
  }
  // Never half a character.
  return common.isWellFormed() ? common : common.slice(0, -1);
}

async function paths(word: string): Promise<string[]> {
  const slash = word.lastIndexOf("/") + 1;
  const [folder, start] = [word.slice(0, slash), word.slice(slash)];
  try {
    const entries = await readdir(resolve(withHome(folder) || "."), { withFileTypes: true });
    return entries
      .filter(({ name }) => name.startsWith(start) && (start.startsWith(".") || !name.startsWith(".")))
      .slice(0, MOST_CANDIDATES)
      .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
      .sort();
  } catch {
    return [];
  }
}

function withHome(folder: string): string {
  return folder === "~/" || folder.startsWith("~/")
    ? join(homedir(), dirname(`${folder.slice(1)}x`))
    : folder;
}
