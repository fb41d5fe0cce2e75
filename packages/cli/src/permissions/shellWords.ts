/** A plain word character outside quotes: nothing the shell expands into another command. */
const PLAIN = /[\p{L}\p{N}_@%+=:,./^~*?[\]{}!#-]/u;
const BLANKS: ReadonlySet<string> = new Set([" ", "\t", "\n"]);
const SEPARATOR = /&&|\|\||[;|]/y;
const ERROR_TO_OUTPUT = /2>&1(?=\s|$|[;|&])/y;

/**
 * The simple commands of a script, each as its words. `undefined` if the words do not show the whole effect of the
 * script: substitutions, redirections, groups, background jobs, escapes, several lines. Then no rule for a prefix
 * allows it.
 */
export function simpleCommands(script: string): string[][] | undefined {
  const commands: string[][] = [[]];
  const text = withoutOuterBlanks(script);
  for (let at = 0; at < text.length; ) {
    if (text[at] === " " || text[at] === "\t") {
      at += 1;
      continue;
    }
    const skipped = matchAt(ERROR_TO_OUTPUT, text, at);
    const separator = matchAt(SEPARATOR, text, at);
    if (skipped !== undefined) at += skipped.length;
    else if (separator !== undefined) {
      commands.push([]);
      at += separator.length;
    } else {
      const word = readWord(text, at);
      if (!word) return undefined;
      commands.at(-1)?.push(word.text);
      at = word.end;
    }
  }
  return commands.some((words) => words.length === 0) ? undefined : commands;
}

/** Trims the characters that a shell ignores. Other white space, such as a no-break space, is part of a word. */
function withoutOuterBlanks(script: string): string {
  let [start, end] = [0, script.length];
  while (start < end && BLANKS.has(script[start] ?? "")) start++;
  while (end > start && BLANKS.has(script[end - 1] ?? "")) end--;
  return script.slice(start, end);
}

function readWord(text: string, start: number): { text: string; end: number } | undefined {
  let word = "";
  let at = start;
  // A comment, or a word that begins like one.
  if (text[at] === "#") return undefined;
  while (at < text.length) {
    const character = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (character === "'" || character === '"') {
      const close = text.indexOf(character, at + 1);
      const inside = text.slice(at + 1, close);
      if (close === -1 || (character === '"' && /[$`\\!]/.test(inside)) || inside.includes("\n"))
        return undefined;
      word += inside;
      at = close + 1;
    } else if (PLAIN.test(character)) {
      word += character;
      at += character.length;
    } else if (/[ \t;|]/.test(character)) break;
    else if (text.startsWith("&&", at)) break;
    else return undefined;
  }
  return at === start ? undefined : { text: word, end: at };
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
