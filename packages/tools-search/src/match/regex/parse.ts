import { describeRequired, type Required } from "./required.js";
import {
  ANY_CHARACTER,
  assertionPart,
  CONTROL_ESCAPES,
  characterPart,
  NOTHING,
  ON_A_LINE,
  OTHER_DIALECTS,
  type Part,
  printable,
  RegexSyntaxError,
  SPACE_ON_A_LINE,
  SYNTAX,
  verbatim,
} from "./syntax.js";
import { type Assertion, type MaybeTree, treeOf } from "./tree.js";

/** What a search needs to know about a regular expression (JavaScript syntax), found in one reading. */
export interface ParsedRegex {
  /** The same expression in the stricter form that is valid with and without the `u` flag. */
  readonly source: string;
  /** The expression changed so that it cannot run over a line break, or `undefined` if that is not possible. */
  readonly lineSource: string | undefined;
  /** Strings of which every match contains at least one. */
  readonly required: Required;
  /** Its structure, or `undefined` if it has a part that only a backtracking engine can match. */
  readonly tree: MaybeTree;
  /** Whether `^`, `$` or a look-around makes a match depend on where the line begins and ends. */
  readonly anchored: boolean;
  /** Whether it means anything only with the `u` flag: `\p{…}`, `\u{…}`, characters beyond ASCII. */
  readonly needsUnicode: boolean;
  /** Whether it asks for a carriage return, so that the one at the end of a line must be there to be found. */
  readonly asksForReturn: boolean;
}

/** Reads an expression. Throws a `RegexSyntaxError` that says where and why it is not valid. */
export function parseRegex(text: string): ParsedRegex {
  return new Parser(text).parse();
}

class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;
  #anchored = false;
  #spansLines = false;
  #needsUnicode = false;
  #asksForReturn = false;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): ParsedRegex {
    const whole = this.#alternatives();
    if (this.#at < this.#text.length) this.#fail('")" without a "(" before it');
    return {
      source: whole.source,
      lineSource: this.#spansLines ? undefined : whole.line,
      required: whole.required,
      tree: whole.tree,
      anchored: this.#anchored,
      needsUnicode: this.#needsUnicode,
      asksForReturn: this.#asksForReturn,
    };
  }

  #fail(problem: string, at = this.#at): never {
    throw new RegexSyntaxError(problem, at + 1);
  }

  #peek(text: string): boolean {
    return this.#text.startsWith(text, this.#at);
  }

  #take(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const found = expression.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #alternatives(): Part {
    const branches = [this.#sequence()];
    while (this.#peek("|")) {
      this.#at++;
      branches.push(this.#sequence());
    }
    return {
      source: branches.map((branch) => branch.source).join("|"),
      line: branches.map((branch) => branch.line).join("|"),
      required: describeRequired.oneOf(branches.map((branch) => branch.required)),
      tree: treeOf.choice(branches.map((branch) => branch.tree)),
    };
  }

  #sequence(): Part {
    const parts: Part[] = [];
    while (this.#at < this.#text.length && !this.#peek("|") && !this.#peek(")")) parts.push(this.#term());
    return {
      source: parts.map((part) => part.source).join(""),
      line: parts.map((part) => part.line).join(""),
      required: describeRequired.allOf(parts.map((part) => part.required)),
      tree: treeOf.sequence(parts.map((part) => part.tree)),
    };
  }

  #term(): Part {
    const start = this.#at;
    if (this.#take(/[*+?]|\{\d+(,\d*)?\}/y) !== undefined) this.#fail("nothing to repeat", start);
    const assertion = this.#take(/[\^$]|\\[bB]|\(\?<?[=!]/y);
    const atom = assertion === undefined ? this.#atom() : this.#assertion(assertion, start);
    return this.#quantified(atom, assertion !== undefined);
  }

  #assertion(token: string, start: number): Part {
    if (!token.startsWith("\\")) this.#anchored = true;
    if (!token.startsWith("(")) return assertionPart(token as Assertion);
    // A look-around sees the neighbouring lines in a longer text, and only its own line in a line.
    this.#spansLines = true;
    const inside = this.#group(start);
    return verbatim(`${token}${inside.source})`);
  }

  #quantified(atom: Part, isAssertion: boolean): Part {
    const start = this.#at;
    const quantifier = this.#take(/(?:[*+?]|\{\d+(?:,\d*)?\})\??/y);
    if (quantifier === undefined) return atom;
    if (isAssertion) this.#fail("nothing to repeat (an anchor or look-around matches no character)", start);
    const [, low = "", high = ""] = /^\{(\d+),?(\d*)/.exec(quantifier) ?? [];
    if (high !== "" && Number(low) > Number(high)) {
      this.#fail("the numbers of the quantifier are out of order", start);
    }
    const optional = /^[*?]/.test(quantifier) || Number(low || 1) === 0;
    return {
      source: atom.source + quantifier,
      line: atom.line + quantifier,
      required: optional ? NOTHING : describeRequired.repeated(atom.required),
      tree: treeOf.repeat(atom.tree, quantifier),
    };
  }

  #atom(): Part {
    const start = this.#at;
    if (this.#peek("(")) {
      const token = this.#take(/\((?:\?:|\?<[A-Za-z_$][\w$]*>)?/y) ?? "(";
      if (token === "(" && this.#peek("?")) {
        this.#fail(
          '"(?" is not followed by ":", "=", "!", "<=", "<!" or "<name>"; for (?i) set ignore_case',
          start,
        );
      }
      const inside = this.#group(start);
      return { ...inside, source: `${token}${inside.source})`, line: `${token}${inside.line})` };
    }
    if (this.#peek("[")) return this.#class();
    if (this.#peek("\\")) return this.#escape();
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return character === "." ? ANY_CHARACTER : this.#literal(character, start);
  }

  #group(start: number): Part {
    if (++this.#depth > 200) this.#fail("groups are nested more than 200 levels deep", start);
    const inside = this.#alternatives();
    if (!this.#peek(")")) this.#fail('the group "(" is never closed', start);
    this.#at++;
    this.#depth--;
    return inside;
  }

  #literal(character: string, start: number): Part {
    if (character === "\n") {
      this.#fail(
        "a match lies within one line and can hold no line break (search for one line of it)",
        start,
      );
    }
    if (character > "\x7f") this.#needsUnicode = true;
    if (character === "\r") this.#asksForReturn = true;
    const source = SYNTAX.test(character) ? `\\${character}` : printable(character);
    // Beyond ASCII the bytes depend on the file's encoding, so such characters are left to the expression.
    const exact = character <= "\x7f" ? [character] : undefined;
    return { ...characterPart(source), required: { exact, anyOf: undefined } };
  }

  #escape(): Part {
    const start = this.#at++;
    const set = this.#take(/[dDwWsS]/y);
    if (set !== undefined) {
      return characterPart(`\\${set}`, ON_A_LINE[set]);
    }
    const reference = this.#take(/[1-9]\d*|k<[^>]*>/y);
    if (reference !== undefined) return verbatim(`\\${reference}`);
    const property = this.#property(start);
    if (property !== undefined) return characterPart(property);
    return this.#literal(this.#escapedCharacter(start), start);
  }

  /** `\p{…}`, after the backslash. */
  #property(start: number): string | undefined {
    const property = this.#take(/[pP]\{[^}]*\}/y);
    if (property === undefined) return undefined;
    this.#needsUnicode = true;
    try {
      if (new RegExp(`\\${property}`, "u").test("\n")) this.#spansLines = true;
    } catch {
      this.#fail(`\\${property} is not a Unicode property`, start);
    }
    return `\\${property}`;
  }

  /** The character that an escape stands for, after the backslash. */
  #escapedCharacter(start: number): string {
    const code = this.#take(/u\{[0-9a-fA-F]{1,6}\}|u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|c[A-Za-z]|0(?!\d)/y);
    if (code !== undefined) {
      if (code.startsWith("c")) return String.fromCharCode(code.charCodeAt(1) % 32);
      const value = Number.parseInt(code.replace(/[ux{}]/g, ""), 16);
      if (value > 0x10ffff) this.#fail(`\\${code} is not a character`, start);
      return String.fromCodePoint(value);
    }
    const character = this.#text[this.#at];
    if (character === undefined) this.#fail("a backslash at the end escapes nothing", start);
    this.#at++;
    const control = CONTROL_ESCAPES[character];
    if (control !== undefined) return control;
    if (/[A-Za-z0-9]/.test(character)) {
      const advice = OTHER_DIALECTS[character];
      this.#fail(`\\${character} is not JavaScript syntax${advice ? ` (${advice})` : ""}`, start);
    }
    return character;
  }

  #class(): Part {
    const start = this.#at;
    if (this.#take(/\[\[:\w*:\]/y) !== undefined) {
      this.#fail(
        "POSIX classes such as [[:alpha:]] are not JavaScript syntax (use \\w, \\d, \\s or a-z)",
        start,
      );
    }
    const negated = this.#take(/\[\^?/y) === "[^";
    let source = "";
    let line = negated ? "\\n" : "";
    while (!this.#peek("]")) {
      if (this.#at >= this.#text.length) this.#fail('the class "[" is never closed', start);
      const item = this.#classRange(negated);
      source += item.source;
      line += item.line;
    }
    this.#at++;
    const open = negated ? "[^" : "[";
    // [^] matches everything and [] nothing; the former must stay off the line break too.
    return characterPart(`${open}${source}]`, `${open}${line}]`);
  }

  #classRange(negated: boolean): { source: string; line: string } {
    const start = this.#at;
    const low = this.#classItem(negated);
    if (low.code === undefined || !/^-[^\]]/s.test(this.#text.slice(this.#at, this.#at + 2))) return low;
    this.#at++;
    const high = this.#classItem(negated);
    if (high.code === undefined)
      return { source: `${low.source}\\-${high.source}`, line: `${low.line}\\-${high.line}` };
    if (low.code > high.code) this.#fail("the range in the class is out of order", start);
    if (!negated && low.code <= 10 && high.code >= 10) this.#spansLines = true;
    const range = `${low.source}-${high.source}`;
    return { source: range, line: range };
  }

  #classItem(negated: boolean): { source: string; line: string; code?: number } {
    const start = this.#at;
    if (this.#at >= this.#text.length) this.#fail("the class is never closed", start);
    if (this.#peek("\\")) {
      this.#at++;
      const set = this.#take(/[dDwWsS]/y);
      if (set !== undefined) {
        if (!negated && (set === "W" || set === "D")) this.#spansLines = true;
        return { source: `\\${set}`, line: !negated && set === "s" ? SPACE_ON_A_LINE : `\\${set}` };
      }
      const property = this.#property(start);
      if (property !== undefined) return { source: property, line: property };
      const character = this.#take(/b/y) === undefined ? this.#escapedCharacter(start) : "\b";
      return this.#classCharacter(character, negated);
    }
    const character = String.fromCodePoint(this.#text.codePointAt(this.#at) ?? 0);
    this.#at += character.length;
    return this.#classCharacter(character, negated);
  }

  #classCharacter(character: string, negated: boolean): { source: string; line: string; code: number } {
    if (character > "\x7f") this.#needsUnicode = true;
    if (character === "\r" && !negated) this.#asksForReturn = true;
    const source = SYNTAX.test(character) || character === "-" ? `\\${character}` : printable(character);
    // A line break among the characters of a class is one that no line has.
    const line = character === "\n" && !negated ? "" : source;
    return { source, line, code: character.codePointAt(0) ?? 0 };
  }
}
