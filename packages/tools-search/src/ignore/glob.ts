/**
 * The regular expression for a gitignore glob: `*` and `?` stay within a name, `**` as a whole name spans
 * any number of them. Returns `undefined` for a glob that can match nothing, such as an open class.
 */
export function ignoreGlobToRegex(glob: string): RegExp | undefined {
  const names = glob.split("/");
  let source = "";
  for (const [index, name] of names.entries()) {
    const last = index === names.length - 1;
    if (name === "**") {
      // At the end: everything inside. Elsewhere: any directories, also none.
      source += last ? ".+" : "(?:.+/)?";
      continue;
    }
    const part = nameToRegex(name);
    if (part === undefined) return undefined;
    source += last ? part : `${part}/`;
  }
  try {
    return new RegExp(`^${source}$`, "s");
  } catch {
    return undefined;
  }
}

function nameToRegex(name: string): string | undefined {
  let source = "";
  for (let at = 0; at < name.length; at++) {
    const character = name[at] ?? "";
    if (character === "*") {
      // Neighbouring stars mean the same as one, and would only make the expression backtrack.
      if (name[at - 1] !== "*" || at === 0) source += "[^/]*";
    } else if (character === "?") source += "[^/]";
    else if (character === "[") {
      const close = classEnd(name, at);
      if (close === undefined) return undefined;
      source += classToRegex(name.slice(at + 1, close));
      at = close;
    } else if (character === "\\") {
      at++;
      if (at === name.length) return undefined;
      source += escapeCharacter(name[at] ?? "");
    } else source += escapeCharacter(character);
  }
  return source;
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
