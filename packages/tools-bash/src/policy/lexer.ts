import { type HereDocument, readBody } from "./hereDocument.js";
import { NotInGrammar, shown } from "./refusal.js";
import type { CommandWord } from "./rules.js";

/** A token of the script. A redirection is one token: nothing in it is a command. */
export type Token =
  | { readonly type: "word"; readonly at: number; readonly word: CommandWord }
  | { readonly type: "redirection" | "newline" | "end"; readonly at: number }
  | { readonly type: "operator"; readonly at: number; readonly text: Operator };

type Operator = ";" | "&" | "&&" | "|" | "||" | "(" | ")";

// One shell takes these for a space or the end of a line, another for a letter. A lone surrogate is no text.
const AMBIGUOUS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\p{Surrogate}]/u;
const BLANK = /[ \t]/;
const ENDS_WORD = /[ \t\n;&|<>()]/;
const EXPANSION = /\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!]|\{(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*])\})/y;
// Characters without a special meaning in any shell, unquoted, anywhere in a word.
const PLAIN = /[\w./,+%@^-]+/y;
const BRACES = /\{[\w-]*\}/y;
const DELIMITER = /(['"]?)([A-Za-z_][A-Za-z0-9_]*)\1(?=[ \t\n;&|)>]|$)/y;
const DUPLICATION = /[<>]&[0-9-](?=[ \t\n;&|)]|$)/y;
const PLAIN_BEFORE_REDIRECTION = /^(?:.*[^\d}]|\d)$/s;

/** Cuts a script into tokens. Throws `NotInGrammar` at the first thing that shells may read differently. */
export class Lexer {
  readonly #source: string;
  /** Reads the commands of `$(`, which the lexer has just passed, through its `)`. */
  readonly #readSubstitution: () => void;
  #at = 0;
  #substitutions = 0;
  #hereDocument: HereDocument | undefined;

  constructor(source: string, readSubstitution: () => void) {
    this.#source = source;
    this.#readSubstitution = readSubstitution;
    const odd = AMBIGUOUS.exec(source);
    if (odd) {
      const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
      throw this.refusal(odd.index, `the character U+${code}, which shells read differently`, "leave it out");
    }
  }

  /** The error for what stands at `at`: what it is, where, and what to write instead. */
  refusal(at: number, what: string, instead: string): NotInGrammar {
    const line = this.#source.slice(0, at).split("\n").length;
    const place = this.#source.slice(at, at + 24);
    return new NotInGrammar(`line ${line} has ${what}${place && ` at ${shown(place)}`}: ${instead}`);
  }

  next(): Token {
    this.#skipBlanks();
    const at = this.#at;
    const char = this.#source[at];
    if (char === undefined) {
      if (this.#hereDocument) throw this.#unfinished(this.#hereDocument);
      return { type: "end", at };
    }
    if (char === "\n") {
      if (this.#substitutions > 0) this.#refuseLineBreak(true);
      this.#at++;
      this.#readHereDocument();
      return { type: "newline", at };
    }
    if (char === "<" || char === ">") return this.#redirection(at);
    if (/[;&|()]/.test(char)) return { type: "operator", at, text: this.#operator(char) };
    const word = this.#word();
    if (!/[<>]/.test(this.#source[this.#at] ?? "")) return { type: "word", at, word };
    // Directly before "<" or ">", one digit is a file descriptor. About more digits and "{name}" shells differ.
    if (/^\d$/.test(word.source)) return this.#redirection(at);
    if (word.text === undefined || !PLAIN_BEFORE_REDIRECTION.test(word.text) || /^\d$/.test(word.text)) {
      throw this.refusal(at, "a word joined to a redirection", "put a space between them");
    }
    return { type: "word", at, word };
  }

  #skipBlanks(): void {
    for (;;) {
      const char = this.#source[this.#at];
      if (char !== undefined && BLANK.test(char)) this.#at++;
      else if (char === "\\" && this.#source[this.#at + 1] === "\n") this.#continueLine();
      else if (char === "#") this.#skipComment();
      else return;
    }
  }

  /** A backslash at the end of a line joins what is around it: it may stand between words, not inside of one. */
  #continueLine(): void {
    const before = this.#source[this.#at - 1] ?? " ";
    const after = this.#source[this.#at + 2] ?? " ";
    if (this.#hereDocument || !(/[ \t\n]/.test(before) || BLANK.test(after))) {
      throw this.refusal(this.#at, "a line continued inside a word", "put a space before the backslash");
    }
    this.#at += 2;
  }

  #skipComment(): void {
    if (this.#substitutions > 0) throw this.refusal(this.#at, "a comment inside $(…)", "leave it out");
    while (this.#at < this.#source.length && this.#source[this.#at] !== "\n") this.#at++;
  }

  #operator(char: string): Operator {
    const after = this.#source[this.#at + 1] ?? "";
    const text = (char === "&" || char === "|") && after === char ? char + char : char;
    const behind = this.#source[this.#at + text.length] ?? "";
    // "&>", "|&", ";;", "&!", "((" and the like are operators of their own to some shells.
    const isJoined = char === "&" && text === "&" ? !/^[ \t\n)]?$/.test(behind) : /[;&|<>!]/.test(behind);
    if ((isJoined && char !== ")" && char !== "(") || (char === "(" && /[()#?*+@!]/.test(behind))) {
      const instead =
        text === "&" ? 'write "> file 2>&1", or a space behind "&"' : "put a space between them";
      throw this.refusal(this.#at, "operators joined to one", instead);
    }
    if (char === ")" && /[(]/.test(behind))
      throw this.refusal(this.#at, '")("', "put a separator between them");
    this.#at += text.length;
    return text as Operator;
  }

  #redirection(at: number): Token {
    const start = this.#at;
    const refuse = (): NotInGrammar =>
      this.refusal(at, "a redirection of its own kind", 'use "<", ">", ">>", "2>&1", ">&2" or "<<WORD"');
    if (this.#source.startsWith("<<", start)) {
      if (start !== at || /[<>&|]/.test(this.#source[start + 2] ?? "")) throw refuse();
      this.#startHereDocument(at);
    } else if (this.#source[start + 1] === "&") {
      if (this.#match(DUPLICATION) === undefined) throw refuse();
    } else {
      this.#at += this.#source.startsWith(">>", start) ? 2 : 1;
      if (/[<>&|!(]/.test(this.#source[this.#at] ?? "")) throw refuse();
      while (BLANK.test(this.#source[this.#at] ?? "")) this.#at++;
      if (/^[\n;&|<>()#!\\]?$/.test(this.#source[this.#at] ?? "")) throw refuse();
      const target = this.#word();
      if (/[<>]/.test(this.#source[this.#at] ?? "") || /^\d+$/.test(target.source)) {
        throw this.refusal(at, "a redirection joined to another", "put a space between them");
      }
    }
    return { type: "redirection", at };
  }

  #startHereDocument(at: number): void {
    if (this.#hereDocument) throw this.refusal(at, "a second here-document in one line", "use two commands");
    if (this.#substitutions > 0)
      throw this.refusal(at, "a here-document inside $(…)", "give the text to the command on its input");
    this.#at += 2;
    const stripsTabs = this.#source[this.#at] === "-";
    if (stripsTabs) this.#at++;
    while (BLANK.test(this.#source[this.#at] ?? "")) this.#at++;
    const [, quotes, delimiter = ""] = this.#match(DELIMITER) ?? [];
    if (delimiter === "") {
      throw this.refusal(at, "a here-document whose end is no plain word", "use letters, as in <<'END'");
    }
    this.#hereDocument = { delimiter, isQuoted: quotes !== "", stripsTabs, at };
  }

  /** The lines behind the one with "<<", up to the delimiter. */
  #readHereDocument(): void {
    const document = this.#hereDocument;
    if (document === undefined) return;
    const body = readBody(this.#source, this.#at, document);
    if (body === undefined) throw this.#unfinished(document);
    if ("odd" in body)
      throw this.refusal(body.at, `${shown(body.odd)} in a here-document`, "quote its delimiter: <<'END'");
    this.#at = body.end;
    this.#hereDocument = undefined;
  }

  #unfinished({ at, delimiter }: HereDocument): NotInGrammar {
    return this.refusal(at, "a here-document without its end", `add a line with ${delimiter} alone`);
  }

  /** A word up to the next blank or operator. Its text is unknown where only running the script would tell. */
  #word(): CommandWord {
    const start = this.#at;
    let text = "";
    let isKnown = true;
    let splits = false;
    for (;;) {
      text += this.#match(PLAIN)?.[0] ?? "";
      const char = this.#source[this.#at] ?? "";
      if (char === "" || (ENDS_WORD.test(char) && !/[(]/.test(char))) break;
      if (char === "'" || char === '"') {
        const quoted = char === "'" ? this.#singleQuoted() : this.#doubleQuoted();
        text += quoted.text;
        if (!quoted.isKnown) isKnown = false;
        if (quoted.splits) splits = true;
      } else if (char === "$") {
        if (this.#dollar(/^[ \t\n;|&)]?$/) === "literal") text += "$";
        else {
          isKnown = false;
          splits = true;
        }
      } else if (char === "\\") {
        const escaped = this.#source[this.#at + 1];
        if (escaped === "\n" && BLANK.test(this.#source[this.#at + 2] ?? "")) break;
        if (escaped === undefined || escaped === "\n")
          throw this.refusal(this.#at, "a line continued inside a word", "put a space before the backslash");
        text += escaped;
        this.#at += 2;
      } else {
        const literal = this.#unquoted(char, text === "" && start === this.#at);
        if (literal.isPattern) {
          isKnown = false;
          splits = splits || !literal.isTilde;
        }
        text += literal.text;
      }
    }
    const source = this.#source.slice(start, this.#at);
    return isKnown ? { text, source } : { source, splits };
  }

  #unquoted(char: string, isFirst: boolean): { text: string; isPattern: boolean; isTilde: boolean } {
    const at = this.#at;
    if (char === "`") throw this.refusal(at, "a backtick", "write $(…)");
    if (char === "(")
      throw this.refusal(
        at,
        "a parenthesis in a word",
        "quote it; functions, arrays and patterns with parentheses are not judged",
      );
    if (char === "{" || char === "}") {
      const braces = this.#match(BRACES)?.[0];
      if (braces !== undefined) return { text: braces, isPattern: false, isTilde: false };
      // Alone it may be a reserved word: the parser decides.
      if (isFirst && /^[ \t\n;]?$/.test(this.#source[at + 1] ?? "")) {
        this.#at++;
        return { text: char, isPattern: false, isTilde: false };
      }
      throw this.refusal(at, `an unquoted ${char}`, "quote it, or write the words one by one");
    }
    this.#at++;
    const isTilde = char === "~" && (isFirst || /[=:]/.test(this.#source[at - 1] ?? ""));
    const isBracket = char === "[" && !(isFirst && /^[ \t\n]?$/.test(this.#source[at + 1] ?? ""));
    return { text: char, isPattern: isTilde || isBracket || char === "*" || char === "?", isTilde };
  }

  #singleQuoted(): { text: string; isKnown: boolean; splits: boolean } {
    const end = this.#source.indexOf("'", this.#at + 1);
    if (end === -1) throw this.refusal(this.#at, "a quote that is never closed", "close it");
    const text = this.#source.slice(this.#at + 1, end);
    this.#refuseLineBreak(text.includes("\n"));
    this.#at = end + 1;
    return { text, isKnown: true, splits: false };
  }

  #doubleQuoted(): { text: string; isKnown: boolean; splits: boolean } {
    const start = this.#at++;
    let text = "";
    let isKnown = true;
    let splits = false;
    for (;;) {
      const char = this.#source[this.#at];
      if (char === undefined) throw this.refusal(start, "a quote that is never closed", "close it");
      if (char === '"') break;
      if (char === "`") throw this.refusal(this.#at, "a backtick", "write $(…), or \\` in double quotes");
      if (char === "$") {
        const kind = this.#dollar(/^[" /|).,;]$/);
        if (kind === "literal") text += "$";
        else {
          isKnown = false;
          // "$@" becomes as many words as there are arguments.
          splits = splits || kind === "list";
        }
        continue;
      }
      const escaped = char === "\\" ? (this.#source[this.#at + 1] ?? "") : "";
      if (escaped === "\n") throw this.refusal(this.#at, "a line continued inside quotes", "join the lines");
      text += escaped !== "" && '$`"\\'.includes(escaped) ? escaped : char + escaped;
      this.#at += 1 + escaped.length;
    }
    this.#refuseLineBreak(this.#source.slice(start, this.#at).includes("\n"));
    this.#at++;
    return { text, isKnown, splits };
  }

  #refuseLineBreak(hasLineBreak: boolean): void {
    if (hasLineBreak && this.#hereDocument)
      throw this.refusal(
        this.#hereDocument.at,
        "a here-document and a quoted line break in one line",
        "swap them",
      );
  }

  /** Passes "$x", "${x}", "$(…)", or a "$" that stands for itself because of what is behind it. */
  #dollar(literalBefore: RegExp): "literal" | "value" | "list" {
    const at = this.#at;
    const after = this.#source[at + 1] ?? "";
    const expansion = this.#match(EXPANSION)?.[0];
    if (expansion !== undefined) return /[@*]/.test(expansion) ? "list" : "value";
    if (after === "(" && this.#source[at + 2] !== "(") {
      this.#at += 2;
      this.#substitutions++;
      this.#readSubstitution();
      this.#substitutions--;
      this.#refuseLineBreak(this.#source.slice(at, this.#at).includes("\n"));
      return "value";
    }
    if (!literalBefore.test(after)) {
      const what = /[({]/.test(after) ? "arithmetic or an expansion with an operator" : "a $ without a name";
      const instead = `use "$name", "\${name}" or "$(command)"; put a $ that means itself in '…'`;
      throw this.refusal(at, what, instead);
    }
    this.#at++;
    return "literal";
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }
}
