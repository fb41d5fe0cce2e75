const CONTEXT = 3;
// Comparing takes time by the product of the two line counts; larger changes are shown as all removed and all added.
const MOST_PRODUCT = 4_000_000;

interface Entry {
  readonly mark: " " | "-" | "+";
  readonly line: string;
}

/** The difference between two texts as the lines of a unified diff without file names. Empty if there is none. */
export function lineDiff(before: string, after: string): string[] {
  if (before === after) return [];
  const [old, fresh] = [splitLines(before), splitLines(after)];
  let start = 0;
  while (start < old.length && start < fresh.length && old[start] === fresh[start]) start++;
  let end = 0;
  while (end < old.length - start && end < fresh.length - start && old.at(-1 - end) === fresh.at(-1 - end))
    end++;
  const entries: Entry[] = [
    ...old.slice(0, start).map(context),
    ...compare(old.slice(start, old.length - end), fresh.slice(start, fresh.length - end)),
    ...old.slice(old.length - end).map(context),
  ];
  const hunks = formatHunks(entries);
  if (hunks.length === 0) return ["\\ Only the newline at the end of the file differs"];
  return hunks;
}

function context(line: string): Entry {
  return { mark: " ", line };
}

function splitLines(text: string): string[] {
  if (text === "") return [];
  return (text.endsWith("\n") ? text.slice(0, -1) : text).split(/\r?\n/);
}

function compare(old: readonly string[], fresh: readonly string[]): Entry[] {
  const removed = (line: string): Entry => ({ mark: "-", line });
  const added = (line: string): Entry => ({ mark: "+", line });
  if (old.length * fresh.length > MOST_PRODUCT || old.length === 0 || fresh.length === 0) {
    return [...old.map(removed), ...fresh.map(added)];
  }
  const width = fresh.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const length = (i: number, j: number): number => lengths[i * width + j] as number;
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = fresh.length - 1; j >= 0; j--) {
      lengths[i * width + j] =
        old[i] === fresh[j] ? length(i + 1, j + 1) + 1 : Math.max(length(i + 1, j), length(i, j + 1));
    }
  }
  const entries: Entry[] = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < fresh.length) {
    const [left, right] = [old[i], fresh[j]];
    if (left !== undefined && left === right) {
      entries.push(context(left));
      i++;
      j++;
    } else if (left !== undefined && (right === undefined || length(i + 1, j) >= length(i, j + 1))) {
      entries.push(removed(left));
      i++;
    } else if (right !== undefined) {
      entries.push(added(right));
      j++;
    }
  }
  return entries;
}

function formatHunks(entries: readonly Entry[]): string[] {
  const changed = entries.flatMap(({ mark }, at) => (mark === " " ? [] : [at]));
  const lines: string[] = [];
  for (let index = 0; index < changed.length; ) {
    const first = Math.max(0, (changed[index] ?? 0) - CONTEXT);
    let last = changed[index] ?? 0;
    for (index++; index < changed.length && (changed[index] ?? 0) <= last + 2 * CONTEXT; index++)
      last = changed[index] ?? last;
    const hunk = entries.slice(first, last + CONTEXT + 1);
    const count = (marks: string): number => hunk.filter(({ mark }) => marks.includes(mark)).length;
    const line = (marks: string): number =>
      entries.slice(0, first).filter(({ mark }) => marks.includes(mark)).length + 1;
    lines.push(`@@ -${line(" -")},${count(" -")} +${line(" +")},${count(" +")} @@`);
    lines.push(...hunk.map((entry) => entry.mark + entry.line));
  }
  return lines;
}
