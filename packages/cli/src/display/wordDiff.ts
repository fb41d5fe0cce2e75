import type { Style } from "./style.js";

const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
// Comparing takes time by the product of both lengths; longer lines are coloured as a whole.
const MOST_WORDS = 200;
// Lines that share a smaller part than this were rewritten: marking single words would only confuse.
const LEAST_SHARED = 0.3;

/** Colours a unified diff: added lines green, removed ones red, and inside a changed line what changed in inverse. */
export function paintDiff(lines: readonly string[], style: Style): string[] {
  const painted: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const removed = run(lines, at, "-");
    const added = run(lines, at + removed, "+");
    if (removed + added === 0) {
      painted.push(paintContext(lines[at] ?? "", style));
      at += 1;
      continue;
    }
    const before = lines.slice(at, at + removed);
    const after = lines.slice(at + removed, at + removed + added);
    // Only blocks of the same height correspond line by line.
    const pairs =
      removed === added ? before.map((line, index) => changedParts(line, after[index] ?? "")) : [];
    painted.push(
      ...before.map((line, index) => paintLine(line, pairs[index]?.before, style.red, style)),
      ...after.map((line, index) => paintLine(line, pairs[index]?.after, style.green, style)),
    );
    at += removed + added;
  }
  return painted;
}

/** How many lines from `at` on start with the mark. File headers (`--- a`) do not count. */
function run(lines: readonly string[], at: number, mark: "-" | "+"): number {
  let end = at;
  while (lines[end]?.startsWith(mark) && !/^(---|\+\+\+) \S/.test(lines[end] ?? "")) end++;
  return end - at;
}

function paintContext(line: string, style: Style): string {
  if (/^(---|\+\+\+) \S/.test(line)) return style.bold(line);
  return line.startsWith("@@ ") ? style.cyan(line) : line;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

function paintLine(
  line: string,
  changed: readonly Range[] | undefined,
  paint: (text: string) => string,
  style: Style,
): string {
  if (!changed || changed.length === 0) return paint(line);
  let text = "";
  let at = 0;
  for (const { start, end } of changed) {
    text += line.slice(at, start) + style.inverse(line.slice(start, end));
    at = end;
  }
  return paint(text + line.slice(at));
}

/** What differs between two lines, word by word. Both start with their mark, which is left out. */
function changedParts(before: string, after: string): { before: Range[]; after: Range[] } | undefined {
  const [old, fresh] = [before.slice(1).match(WORDS) ?? [], after.slice(1).match(WORDS) ?? []];
  if (old.length > MOST_WORDS || fresh.length > MOST_WORDS) return undefined;
  const { keptOld, keptNew } = commonWords(old, fresh);
  const shared = old.reduce((length, word, at) => length + (keptOld.has(at) ? word.trim().length : 0), 0);
  if (shared < LEAST_SHARED * Math.max(before.trim().length, after.trim().length)) return undefined;
  return { before: rangesOutside(old, keptOld), after: rangesOutside(fresh, keptNew) };
}

/** The longest common subsequence, as the places of its words on both sides. */
function commonWords(
  old: readonly string[],
  fresh: readonly string[],
): { keptOld: Set<number>; keptNew: Set<number> } {
  const width = fresh.length + 1;
  const lengths = new Uint16Array((old.length + 1) * width);
  const length = (i: number, j: number): number => lengths[i * width + j] as number;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === fresh[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const keptOld = new Set<number>();
  const keptNew = new Set<number>();
  for (let i = 0, j = 0; i < old.length && j < fresh.length; ) {
    if (old[i] === fresh[j]) {
      keptOld.add(i++);
      keptNew.add(j++);
    } else if (length(i + 1, j) >= length(i, j + 1)) i++;
    else j++;
  }
  return { keptOld, keptNew };
}

/** The parts of a line, behind its mark, whose words are not kept; neighbours are joined. */
function rangesOutside(words: readonly string[], kept: ReadonlySet<number>): Range[] {
  const ranges: { start: number; end: number }[] = [];
  let at = 1;
  for (const [index, word] of words.entries()) {
    const last = ranges.at(-1);
    if (!kept.has(index)) {
      if (last?.end === at) last.end += word.length;
      else ranges.push({ start: at, end: at + word.length });
    }
    at += word.length;
  }
  return ranges;
}
