import { Cursor } from "./cursor.js";
import { type HereDocument, readBody } from "./hereDocument.js";
import { type NotInGrammar, shown } from "./refusal.js";
import type { CommandWord } from "./rules.js";
import { WordReader } from "./wordReader.js";

/** A token of the script. A redirection is one token: nothing in it is a command. */
export type Token =
  | { readonly type: "word"; readonly at: number; readonly word: CommandWord }
  /** `touchesFile`: it reads or writes a file, other than /dev/null. */
  | { readonly type: "redirection"; readonly at: number; readonly touchesFile: boolean }
  | { readonly type: "newline" | "end"; readonly at: number }
  | { readonly type: "operator"; readonly at: number; readonly text: Operator };

type Operator = ";" | "&" | "&&" | "|" | "||" | "(" | ")";

// One shell takes these for a space or the end of a line, another for a letter. A lone surrogate is no text.
const AMBIGUOUS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\p{Surrogate}]/u;
const BLANK = /[ \t]/;
const DELIMITER = /(['"]?)([A-Za-z_][A-Za-z0-9_]*)\1(?=[ \t\n;&|)>]|$)/y;
const DUPLICATION = /[<>]&[0-9-](?=[ \t\n;&|)]|$)/y;
const PLAIN_BEFORE_REDIRECTION = /^(?:.*[^\d}]|\d)$/s;

/** Cuts a script into tokens. Throws `NotInGrammar` at the first thing that shells may read differently. */
export class Lexer {
  readonly #cursor: Cursor;
  readonly #words: WordReader;

  /** `readSubstitution` reads the commands of `$(`, which was just passed, through its `)`. */
  constructor(source: string, readSubstitution: () => void) {
    this.#cursor = new Cursor(source);
    this.#words = new WordReader(this.#cursor, readSubstitution);
    const odd = AMBIGUOUS.exec(source);
    if (odd) {
      const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      throw this.#cursor.refusal(
        odd.index,
        `the character U+${code}, which shells read differently`,
        "leave it out",
      );
    }
  }

  /** The error for what stands at `at`: what it is, where, and what to write instead. */
  refusal(at: number, what: string, instead: string): NotInGrammar {
    return this.#cursor.refusal(at, what, instead);
  }

  next(): Token {
    this.#skipBlanks();
    const at = this.#cursor.at;
    const char = this.#cursor.source[at];
    if (char === undefined) {
      if (this.#cursor.hereDocument) throw this.#unfinished(this.#cursor.hereDocument);
      return { type: "end", at };
    }
    if (char === "\n") {
      if (this.#cursor.substitutions > 0) this.#cursor.refuseLineBreak(true);
      this.#cursor.at++;
      this.#readHereDocument();
      return { type: "newline", at };
    }
    if (char === "<" || char === ">") return this.#redirection(at);
    if (/[;&|()]/.test(char)) return { type: "operator", at, text: this.#operator(char) };
    const word = this.#words.read();
    if (!/[<>]/.test(this.#cursor.source[this.#cursor.at] ?? "")) return { type: "word", at, word };
    // Directly before "<" or ">", one digit is a file descriptor. About more digits and "{name}" shells differ.
    if (/^\d$/.test(word.source)) return this.#redirection(at);
    if (word.text === undefined || !PLAIN_BEFORE_REDIRECTION.test(word.text) || /^\d$/.test(word.text)) {
      throw this.#cursor.refusal(at, "a word joined to a redirection", "put a space between them");
    }
    return { type: "word", at, word };
  }

  #skipBlanks(): void {
    for (;;) {
      const char = this.#cursor.source[this.#cursor.at];
      if (char !== undefined && BLANK.test(char)) this.#cursor.at++;
      else if (char === "\\" && this.#cursor.source[this.#cursor.at + 1] === "\n") this.#continueLine();
      else if (char === "#") this.#skipComment();
      else return;
    }
  }

  /** A backslash at the end of a line joins what is around it: it may stand between words, not inside of one. */
  #continueLine(): void {
    const before = this.#cursor.source[this.#cursor.at - 1] ?? " ";
    const after = this.#cursor.source[this.#cursor.at + 2] ?? " ";
    if (this.#cursor.hereDocument || !(/[ \t\n]/.test(before) || BLANK.test(after))) {
      throw this.#cursor.refusal(
        this.#cursor.at,
        "a line continued inside a word",
        "put a space before the backslash",
      );
    }
    this.#cursor.at += 2;
  }

  #skipComment(): void {
    if (this.#cursor.substitutions > 0)
      throw this.#cursor.refusal(this.#cursor.at, "a comment inside $(…)", "leave it out");
    while (this.#cursor.at < this.#cursor.source.length && this.#cursor.source[this.#cursor.at] !== "\n")
      this.#cursor.at++;
  }

  #operator(char: string): Operator {
    const after = this.#cursor.source[this.#cursor.at + 1] ?? "";
    const text = (char === "&" || char === "|") && after === char ? char + char : char;
    const behind = this.#cursor.source[this.#cursor.at + text.length] ?? "";
    // "&>", "|&", ";;", "&!", "((" and the like are operators of their own to some shells.
    const isJoined = char === "&" && text === "&" ? !/^[ \t\n)]?$/.test(behind) : /[;&|<>!]/.test(behind);
    if ((isJoined && char !== ")" && char !== "(") || (char === "(" && /[()#?*+@!]/.test(behind))) {
      const instead =
        text === "&" ? 'write "> file 2>&1", or a space behind "&"' : "put a space between them";
      throw this.#cursor.refusal(this.#cursor.at, "operators joined to one", instead);
    }
    if (char === ")" && /[(]/.test(behind))
      throw this.#cursor.refusal(this.#cursor.at, '")("', "put a separator between them");
    this.#cursor.at += text.length;
    return text as Operator;
  }

  #redirection(at: number): Token {
    const start = this.#cursor.at;
    let touchesFile = false;
    const refuse = (): NotInGrammar =>
      this.#cursor.refusal(at, "its own redirection kind", 'use "<", ">", ">>", "2>&1", ">&2" or "<<WORD"');
    if (this.#cursor.source.startsWith("<<", start)) {
      if (start !== at || /[<>&|]/.test(this.#cursor.source[start + 2] ?? "")) throw refuse();
      this.#startHereDocument(at);
    } else if (this.#cursor.source[start + 1] === "&") {
      if (this.#cursor.match(DUPLICATION) === undefined) throw refuse();
    } else {
      this.#cursor.at += this.#cursor.source.startsWith(">>", start) ? 2 : 1;
      if (/[<>&|!(]/.test(this.#cursor.source[this.#cursor.at] ?? "")) throw refuse();
      while (BLANK.test(this.#cursor.source[this.#cursor.at] ?? "")) this.#cursor.at++;
      if (/^[\n;&|<>()#!\\]?$/.test(this.#cursor.source[this.#cursor.at] ?? "")) throw refuse();
      const target = this.#words.read();
      touchesFile = target.text !== "/dev/null";
      if (/[<>]/.test(this.#cursor.source[this.#cursor.at] ?? "") || /^\d+$/.test(target.source)) {
        throw this.#cursor.refusal(at, "a redirection joined to another", "put a space between them");
      }
    }
    return { type: "redirection", at, touchesFile };
  }

  #startHereDocument(at: number): void {
    if (this.#cursor.hereDocument)
      throw this.#cursor.refusal(at, "a second here-document in one line", "use two commands");
    if (this.#cursor.substitutions > 0)
      throw this.#cursor.refusal(
        at,
        "a here-document inside $(…)",
        "give the text to the command on its input",
      );
    this.#cursor.at += 2;
    const stripsTabs = this.#cursor.source[this.#cursor.at] === "-";
    if (stripsTabs) this.#cursor.at++;
    while (BLANK.test(this.#cursor.source[this.#cursor.at] ?? "")) this.#cursor.at++;
    const [, quotes, delimiter = ""] = this.#cursor.match(DELIMITER) ?? [];
    if (delimiter === "") {
      throw this.#cursor.refusal(
        at,
        "a here-document whose end is no plain word",
        "use letters, as in <<'END'",
      );
    }
    this.#cursor.hereDocument = { delimiter, isQuoted: quotes !== "", stripsTabs, at };
  }

  /** The lines behind the one with "<<", up to the delimiter. */
  #readHereDocument(): void {
    const document = this.#cursor.hereDocument;
    if (document === undefined) return;
    const body = readBody(this.#cursor.source, this.#cursor.at, document);
    if (body === undefined) throw this.#unfinished(document);
    if ("odd" in body)
      throw this.#cursor.refusal(
        body.at,
        `${shown(body.odd)} in a here-document`,
        "quote its delimiter: <<'END'",
      );
    this.#cursor.at = body.end;
    this.#cursor.hereDocument = undefined;
  }

  #unfinished({ at, delimiter }: HereDocument): NotInGrammar {
    return this.#cursor.refusal(at, "a here-document without its end", `add a line with ${delimiter} alone`);
  }
}
