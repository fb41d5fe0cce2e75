import { readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";

const MOST_CANDIDATES = 200;
// A path that starts with a quote may contain spaces. An apostrophe inside a word is not a quote.
const QUOTED_START = /(?<=^|\s)(["'])([^"']*)$/;
const CONTROL = /\p{Cc}/u;

/** Candidates to replace `text.slice(start, cursor)`. */
export interface Completion {
  readonly start: number;
  readonly candidates: readonly string[];
}

/** The possible next words of a slash command: `words(["/enable"])` returns tool names. */
export type CompleteCommand = (before: readonly string[]) => Promise<readonly string[] | undefined>;

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
    const words = await completeCommand(before.slice(0, start).split(/\s+/).filter(Boolean));
    if (words) return { start, candidates: words.filter((candidate) => candidate.startsWith(word)) };
  }
  const quoted = QUOTED_START.exec(before);
  if (!quoted) return { start, candidates: (await paths(word)).map((path) => withQuotes(path)) };
  const [whole, mark, path = ""] = quoted;
  const found = await paths(path);
  return { start: cursor - whole.length, candidates: found.map((one) => withQuotes(one, mark)) };
}

/** The longest common prefix of all candidates. */
export function commonStart(candidates: readonly string[]): string {
  let [common = ""] = candidates;
  for (const candidate of candidates) {
    let length = 0;
    while (length < common.length && common[length] === candidate[length]) length++;
    common = common.slice(0, length);
  }
  // Do not cut between the two halves of a surrogate pair.
  return common.isWellFormed() ? common : common.slice(0, -1);
}

/** Quotes a path with spaces. The quote of a directory stays open, so that the path can be continued. */
function withQuotes(path: string, begun?: string): string {
  if (begun === undefined && !/\s/.test(path)) return path;
  const mark = begun ?? (path.includes('"') ? "'" : '"');
  return path.endsWith("/") ? `${mark}${path}` : `${mark}${path}${mark}`;
}

async function paths(word: string): Promise<string[]> {
  const slash = word.lastIndexOf("/") + 1;
  const [folder, start] = [word.slice(0, slash), word.slice(slash)];
  try {
    const entries = await readdir(resolve(withHome(folder) || "."), { withFileTypes: true });
    return (
      entries
        // A line break in a name would break the message.
        .filter(
          ({ name }) =>
            name.startsWith(start) && !CONTROL.test(name) && (start.startsWith(".") || !name.startsWith(".")),
        )
        .slice(0, MOST_CANDIDATES)
        .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? "/" : ""}`)
        .sort()
    );
  } catch {
    return [];
  }
}

function withHome(folder: string): string {
  return folder.startsWith("~/") ? join(homedir(), folder.slice(2)) : folder;
}
