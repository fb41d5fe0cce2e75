/** Where something stands in a text. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** A list in brackets in a program's text: what is between them, and its items without the commas. */
export interface PackList extends Range {
  readonly items: readonly Range[];
}

/** Finds `packs: [ … ]` in a program, past strings and comments. `undefined` if there is none that is closed. */
export function findPackList(text: string): PackList | undefined {
  for (let at = 0; at < text.length; at++) {
    const next = skipQuoted(text, at);
    const key = /^(["']?)packs\1\s*:\s*\[/.exec(text.slice(at, at + 100));
    if (key && !/[\w$.]/.test(text[at - 1] ?? "")) return readList(text, at + key[0].length);
    if (next > at) at = next - 1;
  }
  return undefined;
}

/** The name in an entry of `packs`: alone, or with options after it. */
export function nameOf(pack: unknown): unknown {
  return Array.isArray(pack) ? pack[0] : pack;
}

/** The text with a name at the end of the list. */
export function withItem(text: string, { start, items }: PackList, name: string): string {
  const last = items.at(-1);
  const at = last?.end ?? start;
  return `${text.slice(0, at)}${last ? ", " : ""}${JSON.stringify(name)}${text.slice(at)}`;
}

/** The text without an item and the comma after it, or before it if it is the last. */
export function withoutItem(text: string, list: PackList, item: Range): string {
  const last = list.items.at(-1) === item;
  const before = list.items[list.items.indexOf(item) - 1];
  const after = /^\s*,[ \t]*\n?[ \t]*/.exec(text.slice(item.end, list.end))?.[0].length ?? 0;
  const start = last && before ? before.end : item.start;
  return text.slice(0, start) + text.slice(last && before ? item.end : item.end + after);
}

function readList(text: string, start: number): PackList | undefined {
  const items: Range[] = [];
  let depth = 0;
  // An item reaches from its first to its last character that is neither space nor comment.
  let item: Range | undefined;
  const close = (): void => {
    if (item) items.push(item);
    item = undefined;
  };
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? "";
    const next = skipQuoted(text, at);
    if (depth === 0 && character === ",") close();
    else if (depth === 0 && character === "]") {
      close();
      return { start, end: at, items };
    } else if (!/\s/.test(character) && !isComment(text, at)) {
      item = { start: item?.start ?? at, end: Math.max(next, at + 1) };
    }
    if (next > at) at = next - 1;
    else if ("[{(".includes(character)) depth++;
    else if ("]})".includes(character)) depth--;
  }
  return undefined;
}

function isComment(text: string, at: number): boolean {
  return text.startsWith("//", at) || text.startsWith("/*", at);
}

/** The end of the string or comment that begins at a place, or the place itself. */
function skipQuoted(text: string, at: number): number {
  if (isComment(text, at)) return endOf(text, text[at + 1] === "/" ? "\n" : "*/", at + 2);
  const quote = text.charAt(at);
  if (quote === "" || !"\"'`".includes(quote)) return at;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === quote) return end + 1;
  }
  return text.length;
}

function endOf(text: string, mark: string, from: number): number {
  const found = text.indexOf(mark, from);
  return found < 0 ? text.length : found + mark.length;
}
