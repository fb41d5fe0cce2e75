/** Makes a part of an expression match for good, without going back into it: JavaScript has no other way. */
export type Once = (source: string) => string;

/** Numbers such parts, so that expressions made with the same `Once` can be joined. */
export function createOnce(): Once {
  let group = 0;
  return (source) => `(?=(?<g${++group}>${source}))\\k<g${group}>`;
}

/**
 * The source of a regular expression for a gitignore glob: `*` and `?` stay within a name, `**` as a whole name spans
 * any number of them. Returns `undefined` for a glob that can match nothing, such as an open class.
 *
 * What follows a wildcard is taken at the first place where it fits, for good: an earlier place leaves more
 * room for the rest, so a later one is never needed. Without that a hostile ignore file (`*a*a*a*…b`) would
 * keep the expression busy for years.
 */
export function ignoreGlobToSource(glob: string, once: Once): string | undefined {
  // Between "**" lie runs of names that belong together.
  const runs: string[][] = [[]];
  for (const name of glob.split("/")) {
    if (name === "**") runs.push([]);
    else runs.at(-1)?.push(name);
  }
  const parts = runs.map((names) => names.map((name) => nameToRegex(name, once)));
  if (parts.flat().includes(undefined)) return undefined;
  let source = "";
  for (const [index, names] of parts.entries()) {
    const isLast = index === parts.length - 1;
    const run = names.join("/");
    if (index === 0) source += run === "" || isLast ? run : `${run}/`;
    else if (isLast) source += run === "" ? ".+" : `(?:[^/]+/)*${run}`;
    else if (run !== "") source += once(`(?:[^/]+/)*?${run}/`);
  }
  return isValid(source) ? source : undefined;
}

function isValid(source: string): boolean {
  try {
    new RegExp(source);
    return true;
  } catch {
    return false;
  }
}

function nameToRegex(name: string, once: Once): string | undefined {
  // The fixed pieces between the stars.
  const pieces: string[] = [""];
  const add = (source: string): void => {
    pieces.push((pieces.pop() ?? "") + source);
  };
  for (let at = 0; at < name.length; at++) {
    const character = name[at] ?? "";
    if (character === "*") {
      // Neighbouring stars mean the same as one.
      if (at === 0 || name[at - 1] !== "*") pieces.push("");
    } else if (character === "?") add("[^/]");
    else if (character === "[") {
      const close = classEnd(name, at);
      if (close === undefined) return undefined;
      add(classToRegex(name.slice(at + 1, close)));
      at = close;
    } else if (character === "\\") {
      at++;
      if (at === name.length) return undefined;
      add(escapeCharacter(name[at] ?? ""));
    } else add(escapeCharacter(character));
  }
  const [first = "", ...rest] = pieces;
  const last = rest.pop();
  if (last === undefined) return first;
  return `${first}${rest.map((piece) => once(`[^/]*?${piece}`)).join("")}[^/]*${last}`;
}

/** Where the class that opens at `start` closes. A `]` right at its beginning belongs to it. */
function classEnd(name: string, start: number): number | undefined {
  let at = start + 1;
  if (name[at] === "!" || name[at] === "^") at++;
  if (name[at] === "]") at++;
  for (; at < name.length; at++) {
    if (name[at] === "\\") at++;
    else if (name.startsWith("[:", at)) at = Math.max(at, name.indexOf(":]", at) + 1);
    else if (name[at] === "]") return at;
  }
  return undefined;
}

const POSIX: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  digit: "0-9",
  lower: "a-z",
  space: "\\s",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f",
};

function classToRegex(content: string): string {
  const negated = /^[!^]/.test(content);
  const inside = (negated ? content.slice(1) : content)
    .replace(/\[:(\w+):\]|\\(.)|([[\]\\^])/gs, (_, posix?: string, escaped?: string, special?: string) =>
      posix === undefined ? `\\${escaped ?? special}` : (POSIX[posix] ?? ""),
    )
    // An escaped letter would become a class of its own (\d) in an expression.
    .replace(/\\([A-Za-z0-9])(?![^[]*:)/g, (all, letter: string) => (all === "\\s" ? all : letter));
  return negated ? `[^/${inside}]` : `(?!/)[${inside}]`;
}

function escapeCharacter(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}
