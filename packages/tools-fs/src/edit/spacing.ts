/** The line with every run of blanks as one space, without indentation. */
export function withoutSpacing(line: string): string {
  return line.trim().replace(/[ \t]+/g, " ");
}

/**
 * New text for lines that were found although their blanks differ. A line that the edit keeps is written as the file has
 * it; a changed line keeps the file's blanks before and after what changed.
 */
export function keepSpacing(newText: string, wanted: readonly string[], actual: readonly string[]): string {
  const kept = new Map(wanted.map((line, index) => [withoutSpacing(line), actual[index] ?? line]));
  return newText
    .split("\n")
    .map((line) => {
      if (line.trim() === "") return line;
      return kept.get(withoutSpacing(line)) ?? spaceLike(line, wanted, actual);
    })
    .join("\n");
}

/** The line with the blanks of the file's line that has the most words in common with it at both ends. */
function spaceLike(line: string, wanted: readonly string[], actual: readonly string[]): string {
  const words = partsOf(line);
  let best = { shared: 0, text: line };
  for (const [index, other] of wanted.entries()) {
    const theirs = partsOf(other);
    const file = partsOf(actual[index] ?? "");
    if (theirs.length !== file.length) continue;
    const most = Math.min(words.length, theirs.length);
    let head = 0;
    while (head < most && words[head]?.word === theirs[head]?.word) head++;
    let tail = 0;
    while (tail < most - head && words.at(-1 - tail)?.word === theirs.at(-1 - tail)?.word) tail++;
    if (head + tail <= best.shared) continue;
    const middle = words.slice(head, words.length - tail);
    const end = tail === 0 ? [] : file.slice(-tail);
    const parts = [
      ...file.slice(0, head),
      ...middle.map((part, at) => ({ ...part, blank: gap(part, file[head + at]) })),
      ...end,
    ];
    best = { shared: head + tail, text: parts.map(({ blank, word }) => blank + word).join("") };
  }
  return best.text;
}

/** A changed word keeps the column of the word it replaces. */
function gap(part: Part, replaced: Part | undefined): string {
  return replaced?.blank ?? part.blank;
}

interface Part {
  readonly blank: string;
  readonly word: string;
}

function partsOf(line: string): Part[] {
  return [...line.matchAll(/([ \t]*)([^ \t]+)/g)].map(([, blank = "", word = ""]) => ({ blank, word }));
}
