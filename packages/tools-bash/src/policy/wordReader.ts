import type { Cursor } from "./cursor.js";
import type { CommandWord } from "./rules.js";

const BLANK = /[ \t]/;
const ENDS_WORD = /[ \t\n;&|<>()]/;
const EXPANSION = /\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!]|\{(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*])\})/y;
// Characters without a special meaning in any shell, unquoted, anywhere in a word.
const PLAIN = /[\w./,+%@^-]+/y;
const BRACES = /\{[\w-]*\}/y;

/** Reads the words of a script. Throws `NotInGrammar` for one that shells may read differently. */
export class WordReader {
  readonly #cursor: Cursor;
  /** Reads the commands of `$(`, which this reader has just passed, through its `)`. */
  readonly #readSubstitution: () => void;

  constructor(cursor: Cursor, readSubstitution: () => void) {
    this.#cursor = cursor;
    this.#readSubstitution = readSubstitution;
  }

  /** A word up to the next blank or operator. Its text is unknown where only running the script would tell. */
  read(): CommandWord {
    const start = this.#cursor.at;
    let text = "";
    let isKnown = true;
    let splits = false;
    for (;;) {
      text += this.#cursor.match(PLAIN)?.[0] ?? "";
      const char = this.#cursor.source[this.#cursor.at] ?? "";
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
        const escaped = this.#cursor.source[this.#cursor.at + 1];
        if (escaped === "\n" && BLANK.test(this.#cursor.source[this.#cursor.at + 2] ?? "")) break;
        if (escaped === undefined || escaped === "\n")
          throw this.#cursor.refusal(
            this.#cursor.at,
            "a line continued inside a word",
            "put a space before the backslash",
          );
        text += escaped;
        this.#cursor.at += 2;
      } else {
        const literal = this.#unquoted(char, text === "" && start === this.#cursor.at);
        if (literal.isPattern) {
          isKnown = false;
          splits = splits || !literal.isTilde;
        }
        text += literal.text;
      }
    }
    const source = this.#cursor.source.slice(start, this.#cursor.at);
    return isKnown ? { text, source } : { source, splits };
  }

  #unquoted(char: string, isFirst: boolean): { text: string; isPattern: boolean; isTilde: boolean } {
    const at = this.#cursor.at;
    if (char === "`") throw this.#cursor.refusal(at, "a backtick", "write $(…)");
    if (char === "(")
      throw this.#cursor.refusal(
        at,
        "a parenthesis in a word",
        "quote it; functions, arrays and patterns with parentheses are not judged",
      );
    if (char === "{" || char === "}") {
      const braces = this.#cursor.match(BRACES)?.[0];
      if (braces !== undefined) return { text: braces, isPattern: false, isTilde: false };
      // Alone it may be a reserved word: the parser decides.
      if (isFirst && /^[ \t\n;]?$/.test(this.#cursor.source[at + 1] ?? "")) {
        this.#cursor.at++;
        return { text: char, isPattern: false, isTilde: false };
      }
      throw this.#cursor.refusal(at, `an unquoted ${char}`, "quote it, or write the words one by one");
    }
    this.#cursor.at++;
    const isTilde = char === "~" && (isFirst || /[=:]/.test(this.#cursor.source[at - 1] ?? ""));
    const isBracket = char === "[" && !(isFirst && /^[ \t\n]?$/.test(this.#cursor.source[at + 1] ?? ""));
    return { text: char, isPattern: isTilde || isBracket || char === "*" || char === "?", isTilde };
  }

  #singleQuoted(): { text: string; isKnown: boolean; splits: boolean } {
    const end = this.#cursor.source.indexOf("'", this.#cursor.at + 1);
    if (end === -1) throw this.#cursor.refusal(this.#cursor.at, "a quote that is never closed", "close it");
    const text = this.#cursor.source.slice(this.#cursor.at + 1, end);
    this.#cursor.refuseLineBreak(text.includes("\n"));
    this.#cursor.at = end + 1;
    return { text, isKnown: true, splits: false };
  }

  #doubleQuoted(): { text: string; isKnown: boolean; splits: boolean } {
    const start = this.#cursor.at++;
    let text = "";
    let isKnown = true;
    let splits = false;
    for (;;) {
      const char = this.#cursor.source[this.#cursor.at];
      if (char === undefined) throw this.#cursor.refusal(start, "a quote that is never closed", "close it");
      if (char === '"') break;
      if (char === "`")
        throw this.#cursor.refusal(this.#cursor.at, "a backtick", "write $(…), or \\` in double quotes");
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
      const escaped = char === "\\" ? (this.#cursor.source[this.#cursor.at + 1] ?? "") : "";
      if (escaped === "\n")
        throw this.#cursor.refusal(this.#cursor.at, "a line continued inside quotes", "join the lines");
      text += escaped !== "" && '$`"\\'.includes(escaped) ? escaped : char + escaped;
      this.#cursor.at += 1 + escaped.length;
    }
    this.#cursor.refuseLineBreak(this.#cursor.source.slice(start, this.#cursor.at).includes("\n"));
    this.#cursor.at++;
    return { text, isKnown, splits };
  }

  /** Passes "$x", "${x}", "$(…)", or a "$" that stands for itself because of what is behind it. */
  #dollar(literalBefore: RegExp): "literal" | "value" | "list" {
    const at = this.#cursor.at;
    const after = this.#cursor.source[at + 1] ?? "";
    const expansion = this.#cursor.match(EXPANSION)?.[0];
    if (expansion !== undefined) return /[@*]/.test(expansion) ? "list" : "value";
    if (after === "(" && this.#cursor.source[at + 2] !== "(") {
      this.#cursor.at += 2;
      this.#cursor.substitutions++;
      this.#readSubstitution();
      this.#cursor.substitutions--;
      this.#cursor.refuseLineBreak(this.#cursor.source.slice(at, this.#cursor.at).includes("\n"));
      return "value";
    }
    if (!literalBefore.test(after)) {
      const what = /[({]/.test(after) ? "arithmetic or an expansion with an operator" : "a $ without a name";
      const instead = `use "$name", "\${name}" or "$(command)"; put a $ that means itself in '…'`;
      throw this.#cursor.refusal(at, what, instead);
    }
    this.#cursor.at++;
    return "literal";
  }
}
