import { atomTest, isWordCode } from "./characters.js";
import type { Assertion, Node, Pattern } from "./tree.js";

const MAX_GROUP_DEPTH = 200;
const BACKSLASH = 0x5c;

/** A regular expression that is valid but cannot be checked here; `message` completes "the pattern …". */
export class UnsupportedPattern extends Error {
  override readonly name = "UnsupportedPattern";
}

const atStart: Assertion = (_codes, position) => position === 0;
const atEnd: Assertion = (codes, position) => position === codes.length;
const atWordEdge: Assertion = (codes, position) =>
  isWordCode(codes[position - 1]) !== isWordCode(codes[position]);
const insideWord: Assertion = (codes, position) => !atWordEdge(codes, position);

// One atom each, tried in this order. What is inside a class or an escape is read by the engine itself.
const CLASS = /\[(?:\\[\s\S]|[^\]\\])*\]/y;
const UNICODE_ESCAPE =
  /\\(?:u\{[\da-fA-F]+\}|u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|[pP]\{[^}]*\}|[\s\S])/uy;
// Without the flag, "\c" before anything but a letter is a backslash and a "c".
const PLAIN_ESCAPE =
  /\\(?:u[\da-fA-F]{4}|x[\da-fA-F]{2}|c[a-zA-Z]|(?=c)|[0-3][0-7]{0,2}|[4-7][0-7]?|[\s\S])/y;
const QUANTIFIER = /(?:([*+?])|\{(\d+)(,(\d*))?\})(\?)?/y;
const GROUP = /\((?:\?(?:(:)|(<?)([=!])|<[^>]*>))?/y;
const REFERENCE = /\\(?:([1-9]\d*)|k<([^>]*)>)/y;

/** Parses `source`, which `RegExp` must have accepted with the same flag. Throws `UnsupportedPattern`. */
export function parsePattern(source: string, unicode: boolean): Pattern {
  const names = groupNames(source);
  const hasNames = names.some((name) => name !== undefined);
  let position = 0;
  let groups = 0;
  let depth = 0;
  let hasReferences = false;

  function take(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = position;
    const found = expression.exec(source);
    if (found) position += found[0].length;
    return found;
  }

  function parseChoice(): Node {
    if (++depth > MAX_GROUP_DEPTH) {
      throw new UnsupportedPattern(`nests more than ${MAX_GROUP_DEPTH} groups`);
    }
    const options = [parseSequence()];
    while (source[position] === "|") {
      position++;
      options.push(parseSequence());
    }
    depth--;
    return options.length === 1 ? (options[0] as Node) : { kind: "choice", options };
  }

  function parseSequence(): Node {
    const parts: Node[] = [];
    while (position < source.length && source[position] !== "|" && source[position] !== ")") {
      const before = groups;
      parts.push(parseQuantifier(parseTerm(), before + 1));
    }
    return parts.length === 1 ? (parts[0] as Node) : { kind: "sequence", parts };
  }

  function parseQuantifier(body: Node, firstGroup: number): Node {
    const found = take(QUANTIFIER);
    if (!found) return body;
    const [, sign, least, comma, most, lazy] = found;
    const min = sign === undefined ? Number(least) : sign === "+" ? 1 : 0;
    return {
      kind: "repeat",
      body,
      min,
      max: largest(),
      lazy: lazy === "?",
      groups: [firstGroup, groups + 1],
    };

    function largest(): number {
      if (sign === "?") return 1;
      if (sign === undefined && comma === undefined) return min;
      return most ? Number(most) : Number.POSITIVE_INFINITY;
    }
  }

  function parseTerm(): Node {
    switch (source[position]) {
      case "(":
        return parseGroup();
      case "^":
        return assertion(atStart, 1);
      case "$":
        return assertion(atEnd, 1);
      case "\\":
        return parseEscape();
      case "[":
        return atom(take(CLASS)?.[0]);
      case ".":
        position++;
        return atom(".");
      default: {
        const code = unicode ? source.codePointAt(position) : source.charCodeAt(position);
        position += (code ?? 0) > 0xffff ? 2 : 1;
        return { kind: "character", fits: (other) => other === code };
      }
    }
  }

  function parseGroup(): Node {
    const found = take(GROUP);
    const [, plain, behind, sign] = found ?? [];
    if (!found || (found[0] === "(" && source[position] === "?")) {
      throw new UnsupportedPattern(
        `uses a group that is not known here: ${source.slice(position - 1, position + 8)}`,
      );
    }
    const isCapture = plain === undefined && sign === undefined;
    if (isCapture) groups++;
    const index = groups;
    const body = parseChoice();
    position++;
    if (sign !== undefined) return { kind: "look", body, behind: behind === "<", negative: sign === "!" };
    return isCapture ? { kind: "group", body, index } : body;
  }

  function parseEscape(): Node {
    const next = source[position + 1];
    if (next === "b") return assertion(atWordEdge, 2);
    if (next === "B") return assertion(insideWord, 2);
    return parseReference() ?? atom(take(unicode ? UNICODE_ESCAPE : PLAIN_ESCAPE)?.[0]);
  }

  function parseReference(): Node | undefined {
    const start = position;
    const [, number, name] = take(REFERENCE) ?? [];
    // Without the "u" flag a number beyond the groups is a character's code, and "\k" a letter where no group has a name.
    if (number !== undefined && (unicode || Number(number) <= names.length))
      return reference([Number(number)]);
    if (name !== undefined && (unicode || hasNames)) {
      return reference(names.flatMap((one, index) => (one === name ? [index + 1] : [])));
    }
    position = start;
    return undefined;
  }

  function reference(targets: readonly number[]): Node {
    hasReferences = true;
    return { kind: "reference", groups: targets };
  }

  function assertion(holds: Assertion, length: number): Node {
    position += length;
    return { kind: "assertion", holds };
  }

  function atom(text: string | undefined): Node {
    if (text === undefined) throw new UnsupportedPattern("cannot be read");
    if (text === "\\") return { kind: "character", fits: (code) => code === BACKSLASH };
    return { kind: "character", fits: atomTest(text, unicode) };
  }

  const root = parseChoice();
  return { root, unicode, hasReferences };
}

/** The name of each capturing group in order, `undefined` for one without. */
function groupNames(source: string): (string | undefined)[] {
  const tokens = /\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\((?!\?)|\(\?<(?![=!])([^>]*)>/g;
  const names: (string | undefined)[] = [];
  for (const [text, name] of source.matchAll(tokens)) {
    if (text.startsWith("(")) names.push(name);
  }
  return names;
}
