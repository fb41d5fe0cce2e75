import { RegexSyntaxError } from "./syntaxError.js";

const MAX_DEPTH = 200;
/** Letters and digits with a meaning after a backslash; the parser checks what follows them. */
const ESCAPES = /[dDwWsSbBpPkcxunrtvf0-9]/;
/** Characters whose escape the `u` flag allows. */
const SYNTAX = /[\\^$.*+?()[\]{}|/]/;
const QUANTIFIER = /\{\d+(?:,\d*)?\}/y;
const GROUP = /\((?:\?(?::|=|!|<=|<!|<[A-Za-z_$]))?/y;
/** Escapes with braces. */
const WITH_BRACES = /\\(?:u\{[0-9a-fA-F]+\}|[pP]\{[^}]*\}|k<[^>]*>)/y;
/** An item of a class that matches several characters. */
const SET = /\\(?:[dDwWsS]|[pP]\{[^}]*\})/y;
const POSIX_CLASS = /\[\[:\w*:\]/y;
/** Escapes of other regular-expression dialects, and their JavaScript equivalents. */
const OTHER_DIALECTS: Readonly<Record<string, string>> = {
  A: "use ^",
  z: "use $",
  Z: "use $",
  h: "use [ \\t]",
  R: "matches never span lines",
  Q: "escape each character, or search literally",
  G: "leave it out",
};

/** An expression in the stricter syntax of the `u` flag. */
export interface UnicodeSyntax {
  readonly text: string;
  /** Maps a position in `text` to the original expression; both count from 0. */
  readonly placeOf: (index: number) => number;
}

/**
 * Rewrites an expression so that it is valid with the `u` flag: people and models write `}`, `\-` or `[\w-.]`, which
 * are valid only without it, and `\p{L}`, which is valid only with it. Throws for unclosed brackets and for syntax of
 * other dialects.
 */
export function toUnicodeSyntax(expression: string): UnicodeSyntax {
  return new Rewriter(expression).rewrite();
}

class Rewriter {
  readonly #given: string;
  readonly #places: number[] = [];
  readonly #groups: number[] = [];
  #text = "";
  #at = 0;

  constructor(given: string) {
    this.#given = given;
  }

  rewrite(): UnicodeSyntax {
    while (this.#at < this.#given.length) this.#token();
    const open = this.#groups.at(-1);
    if (open !== undefined) throw new RegexSyntaxError('the group "(" is never closed', open);
    const places = this.#places;
    return { text: this.#text, placeOf: (index) => places[index] ?? this.#given.length };
  }

  #token(): void {
    const character = this.#given[this.#at];
    if (character === "\\") this.#escape();
    else if (character === "[") this.#class();
    else if (character === "(") this.#group();
    else if (character === ")") this.#closeGroup();
    else if (character === "{") this.#brace();
    else if (character === "}" || character === "]") this.#takeEscaped();
    else this.#take(1);
  }

  #closeGroup(): void {
    if (this.#groups.pop() === undefined) this.#fail('")" without a "(" before it');
    this.#take(1);
  }

  #brace(): void {
    const quantifier = this.#peek(QUANTIFIER);
    if (quantifier === undefined) this.#takeEscaped();
    else this.#take(quantifier.length);
  }

  #group(): void {
    if (this.#groups.push(this.#at) > MAX_DEPTH) this.#fail("groups are nested more than 200 levels deep");
    const token = this.#peek(GROUP) ?? "(";
    if (token === "(" && this.#given[this.#at + 1] === "?") {
      this.#fail('"(?" is not followed by ":", "=", "!", "<=", "<!" or "<name>"; for (?i) set ignore_case');
    }
    this.#take(token.length);
  }

  #escape(): void {
    const character = this.#given[this.#at + 1];
    if (character === undefined) this.#fail("a backslash at the end escapes nothing");
    const isKnown = ESCAPES.test(character);
    if (/[A-Za-z0-9]/.test(character) && !isKnown) {
      const advice = OTHER_DIALECTS[character];
      this.#fail(`\\${character} is not JavaScript syntax${advice ? ` (${advice})` : ""}`);
    }
    // Any other character matches itself, with or without a backslash.
    if (!isKnown && !SYNTAX.test(character)) this.#at++;
    this.#take(this.#peek(WITH_BRACES)?.length ?? (isKnown || SYNTAX.test(character) ? 2 : 1));
  }

  #class(): void {
    const start = this.#at;
    if (this.#peek(POSIX_CLASS) !== undefined) {
      this.#fail("POSIX classes such as [[:alpha:]] are not JavaScript syntax (use \\w, \\d, \\s or a-z)");
    }
    this.#take(this.#given[this.#at + 1] === "^" ? 2 : 1);
    let afterSet = false;
    while (this.#given[this.#at] !== "]") {
      if (this.#at >= this.#given.length) throw new RegexSyntaxError('the class "[" is never closed', start);
      afterSet = this.#classItem(afterSet);
    }
    this.#take(1);
  }

  /** Returns whether the item was a set: a hyphen next to one is literal, not a range. */
  #classItem(afterSet: boolean): boolean {
    const set = this.#peek(SET);
    if (set !== undefined) {
      this.#take(set.length);
      return true;
    }
    const character = this.#given[this.#at];
    if (character === "-" && (afterSet || this.#peek(SET, 1) !== undefined)) this.#takeEscaped();
    else if (character === "\\" && this.#given[this.#at + 1] === "-") this.#take(2);
    else if (character === "\\") this.#escape();
    else this.#take(1);
    return false;
  }

  #peek(expression: RegExp, ahead = 0): string | undefined {
    expression.lastIndex = this.#at + ahead;
    return expression.exec(this.#given)?.[0];
  }

  #take(length: number): void {
    for (let end = this.#at + length; this.#at < end && this.#at < this.#given.length; this.#at++) {
      this.#places.push(this.#at);
      this.#text += this.#given[this.#at];
    }
  }

  #takeEscaped(): void {
    this.#places.push(this.#at);
    this.#text += "\\";
    this.#take(1);
  }

  #fail(problem: string): never {
    throw new RegexSyntaxError(problem, this.#at);
  }
}
