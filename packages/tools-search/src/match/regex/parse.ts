import { type AST, RegExpParser, RegExpSyntaxError } from "@eslint-community/regexpp";
import { describeRequired, type Required } from "./required.js";
import { RegexSyntaxError } from "./syntaxError.js";
import { type Assertion, type MaybeTree, treeOf } from "./tree.js";
import { toUnicodeSyntax, type UnicodeSyntax } from "./unicodeSyntax.js";

/** The properties of a regular expression (JavaScript syntax) that a search depends on. */
export interface ParsedRegex {
  /** The same expression in the stricter form that is valid with and without the `u` flag. */
  readonly source: string;
  /** The expression changed so that it cannot match across a line ending, or `undefined` if that is impossible. */
  readonly lineSource: string | undefined;
  /** Strings at least one of which every match contains. */
  readonly required: Required;
  /** Its structure, or `undefined` if only a backtracking engine can match a part of it. */
  readonly tree: MaybeTree;
  /** Whether `^`, `$` or a look-around makes a match depend on the start and end of the line. */
  readonly anchored: boolean;
  /** Whether it needs the `u` flag: `\p{…}`, `\u{…}`, non-ASCII characters. */
  readonly needsUnicode: boolean;
  /** Whether it matches a carriage return, so that the one at the end of a line must be kept. */
  readonly asksForReturn: boolean;
}

/** The parser's messages rewritten with what to do; any other is shown unchanged. */
const MESSAGES: Readonly<Record<string, string>> = {
  "Nothing to repeat": "nothing to repeat",
  "numbers out of order in {} quantifier": "the numbers of the quantifier are out of order",
  "Range out of order in character class": "the range in the class is out of order",
  "Invalid property name": "this is not a Unicode property",
  "Invalid unicode escape": "this is not a character",
  "Invalid escape": "this escape is not JavaScript syntax",
  "Invalid named capture referenced": "no group has this name",
};
const NEWLINE = "\n";
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;
/** The white space of `\s` without the line feed, for use inside a class. */
const SPACE_ON_A_LINE =
  "\\t\\v\\f\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff";
const ON_A_LINE: Readonly<Record<string, string>> = {
  "\\s": "[^\\S\\n]",
  "\\W": "[^\\w\\n]",
  "\\D": "[^\\d\\n]",
};

/** Parses an expression. Throws a `RegexSyntaxError` with the position and the reason. */
export function parseRegex(text: string): ParsedRegex {
  const syntax = toUnicodeSyntax(text);
  const pattern = parsePattern(syntax);
  const parsed = new Reader(syntax).read(pattern);
  // The parser may support newer syntax than the engine.
  new RegExp(parsed.source, "u");
  return parsed;
}

function parsePattern({ text, placeOf }: UnicodeSyntax): AST.Pattern {
  try {
    return new RegExpParser().parsePattern(text, 0, text.length, { unicode: true });
  } catch (error) {
    if (!(error instanceof RegExpSyntaxError)) throw error;
    const reason = error.message.slice(error.message.lastIndexOf(": ") + 2);
    // The parser has read past the error.
    throw new RegexSyntaxError(MESSAGES[reason] ?? reason, placeOf(Math.max(0, error.index - 1)));
  }
}

/** Converts the parser's tree to what the search needs. */
class Reader {
  readonly #syntax: UnicodeSyntax;
  #anchored = false;
  #spansLines = false;
  #needsUnicode = false;
  #asksForReturn = false;

  constructor(syntax: UnicodeSyntax) {
    this.#syntax = syntax;
  }

  read(pattern: AST.Pattern): ParsedRegex {
    const { source, line, required, tree } = this.#alternatives(pattern);
    return {
      source,
      lineSource: this.#spansLines ? undefined : line,
      required,
      tree,
      anchored: this.#anchored,
      needsUnicode: this.#needsUnicode,
      asksForReturn: this.#asksForReturn,
    };
  }

  #alternatives({ alternatives }: { readonly alternatives: readonly AST.Alternative[] }): Part {
    return choicePart(
      alternatives.map(({ elements }) => sequencePart(elements.map((element) => this.#element(element)))),
    );
  }

  #element(node: AST.Element): Part {
    switch (node.type) {
      case "Assertion":
        return this.#assertion(node);
      case "Quantifier": {
        const quantifier = node.raw.slice(node.element.raw.length);
        return repeatPart(this.#element(node.element), quantifier, node.min, node.max);
      }
      case "CapturingGroup":
        return groupPart(node.name === null ? "(" : `(?<${node.name}>`, this.#alternatives(node));
      case "Group":
        return groupPart("(?:", this.#alternatives(node));
      case "Backreference":
        return verbatim(node.raw);
      case "Character":
        return this.#character(node);
      case "CharacterSet":
        return this.#set(node);
      case "CharacterClass":
        return this.#class(node);
      case "ExpressionCharacterClass":
        return this.#fail("this class needs the v flag, which is not supported", node);
    }
  }

  #assertion(node: AST.Assertion): Part {
    if (node.kind === "word") return assertionPart(node.negate ? "\\B" : "\\b");
    this.#anchored = true;
    if (!("alternatives" in node)) return assertionPart(node.kind === "start" ? "^" : "$");
    // A look-around sees the neighbouring lines in a longer text, but only its own line in a single line.
    this.#spansLines = true;
    return this.#lookAround(node);
  }

  #lookAround(node: AST.LookaroundAssertion): Part {
    const open = `(?${node.kind === "lookbehind" ? "<" : ""}${node.negate ? "!" : "="}`;
    return verbatim(`${open}${this.#alternatives(node).source})`);
  }

  #character(node: AST.Character): Part {
    const character = String.fromCodePoint(node.value);
    if (character === NEWLINE) {
      this.#fail("a match lies within one line and can hold no line break (search for one line of it)", node);
    }
    this.#note(character, false);
    const source = SYNTAX.test(character) ? `\\${character}` : printable(character);
    // Non-ASCII bytes depend on the file's encoding, so such characters are left to the expression.
    const required = character <= "\x7f" ? { exact: [character], anyOf: undefined } : NOTHING;
    return { ...characterPart(source), required };
  }

  #set(node: AST.CharacterSet): Part {
    if (node.kind === "any") return ANY_CHARACTER;
    if (node.kind === "property") this.#property(node.raw);
    return characterPart(node.raw, ON_A_LINE[node.raw]);
  }

  #property(source: string): void {
    this.#needsUnicode = true;
    if (new RegExp(source, "u").test(NEWLINE)) this.#spansLines = true;
  }

  #class({ negate, elements }: AST.CharacterClass): Part {
    const items = elements.map((element) => this.#classItem(element, negate));
    const open = negate ? "[^" : "[";
    const source = items.map((item) => item.source).join("");
    // [^] matches everything and [] nothing; the former must exclude the line ending too.
    const line = (negate ? "\\n" : "") + items.map((item) => item.line).join("");
    return characterPart(`${open}${source}]`, `${open}${line}]`);
  }

  #classItem(node: AST.CharacterClassElement, negate: boolean): ClassItem {
    switch (node.type) {
      case "Character":
        return this.#classCharacter(node.value, negate);
      case "CharacterClassRange": {
        const { min, max } = node;
        if (!negate && min.value <= 10 && max.value >= 10) this.#spansLines = true;
        const low = this.#classCharacter(min.value, negate);
        const high = this.#classCharacter(max.value, negate);
        const range = `${low.source}-${high.source}`;
        return { source: range, line: range };
      }
      case "CharacterSet": {
        const { raw } = node;
        if (node.kind === "property") this.#property(raw);
        if (!negate && (raw === "\\W" || raw === "\\D")) this.#spansLines = true;
        return { source: raw, line: !negate && raw === "\\s" ? SPACE_ON_A_LINE : raw };
      }
      default:
        return this.#fail("this class needs the v flag, which is not supported", node);
    }
  }

  #classCharacter(value: number, negate: boolean): ClassItem {
    const character = String.fromCodePoint(value);
    this.#note(character, negate);
    const source = SYNTAX.test(character) || character === "-" ? `\\${character}` : printable(character);
    // A line ending in a character class matches nothing, because lines contain none.
    return { source, line: character === NEWLINE && !negate ? "" : source };
  }

  #note(character: string, negate: boolean): void {
    if (character > "\x7f") this.#needsUnicode = true;
    if (character === "\r" && !negate) this.#asksForReturn = true;
  }

  #fail(problem: string, node: AST.Node): never {
    throw new RegexSyntaxError(problem, this.#syntax.placeOf(node.start));
  }
}

interface ClassItem {
  readonly source: string;
  readonly line: string;
}

/** A character escaped for the source of an expression: control characters as `\xNN`. */
function printable(character: string): string {
  return character < " " ? `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}` : character;
}

/** A part of an expression: its source, the strings it requires, and its structure. */
interface Part {
  /** Valid with and without the `u` flag. */
  readonly source: string;
  /** The same for a text of many lines: it cannot match a line ending. */
  readonly line: string;
  readonly required: Required;
  readonly tree: MaybeTree;
}

const NOTHING: Required = { exact: undefined, anyOf: undefined };

/** "." matches every character of the line: a lone carriage return or U+2028 does not end a line here. */
const ANY_CHARACTER: Part = characterPart("[^\\n]");

/** A part that is copied unchanged and requires nothing: a look-around or a back-reference. */
function verbatim(source: string): Part {
  return { source, line: source, required: NOTHING, tree: undefined };
}

function assertionPart(assertion: Assertion): Part {
  return { ...verbatim(assertion), tree: { kind: "assertion", assertion } };
}

/** One character out of several, with different source for a text of many lines. */
function characterPart(source: string, line = source): Part {
  return { source, line, required: NOTHING, tree: { kind: "character", source } };
}

function sequencePart(parts: readonly Part[]): Part {
  return {
    source: parts.map((part) => part.source).join(""),
    line: parts.map((part) => part.line).join(""),
    required: describeRequired.allOf(parts.map((part) => part.required)),
    tree: treeOf.sequence(parts.map((part) => part.tree)),
  };
}

function choicePart(branches: readonly Part[]): Part {
  return {
    source: branches.map((branch) => branch.source).join("|"),
    line: branches.map((branch) => branch.line).join("|"),
    required: describeRequired.oneOf(branches.map((branch) => branch.required)),
    tree: treeOf.choice(branches.map((branch) => branch.tree)),
  };
}

/** `open` is the start of the group: `(`, `(?:`, `(?<name>`. */
function groupPart(open: string, inside: Part): Part {
  return { ...inside, source: `${open}${inside.source})`, line: `${open}${inside.line})` };
}

/** `quantifier` is the source of the repetition: `*`, `{2,}?`. */
function repeatPart(part: Part, quantifier: string, least: number, most: number): Part {
  return {
    source: part.source + quantifier,
    line: part.line + quantifier,
    required: least === 0 ? NOTHING : describeRequired.repeated(part.required),
    tree: treeOf.repeat(part.tree, least, most),
  };
}
