import { NotInGrammar, shown } from "./refusal.js";

/** A word of a command; `text` is absent if it is known only when the command runs. */
export interface CommandWord {
  readonly text?: string | undefined;
  /** Whether an unknown word may split into several (it is not quoted). */
  readonly splits?: boolean;
  readonly source: string;
}

/** An assignment of a variable; `value` is absent if it is known only when the script runs. */
export interface Variable {
  readonly name: string;
  readonly value?: string | undefined;
}

/** A simple command of a script: its words, and the assignments before it. */
export interface SimpleCommand {
  readonly words: readonly CommandWord[];
  readonly assigned: readonly Variable[];
  /** Whether a redirection of it, or of a group around it, reads or writes a file. */
  readonly redirected?: boolean;
}

/** A redirection is one token: it contains no command. `touchesFile`: it uses a file other than /dev/null. */
type Token =
  | { readonly type: "word"; readonly at: number; readonly word: CommandWord }
  | { readonly type: "redirection"; readonly at: number; readonly touchesFile: boolean }
  | { readonly type: "newline" | "end" | "operator"; readonly at: number; readonly text: string };

/** A here-document whose lines follow. `isQuoted`: nothing in them is expanded. */
interface HereDocument {
  readonly delimiter: string;
  readonly isQuoted: boolean;
  readonly stripsTabs: boolean;
  readonly at: number;
}

interface WordPart {
  readonly text: string;
  readonly isKnown: boolean;
  readonly splits: boolean;
}

const MAX_NESTING = 50;
const MAX_WORDS = 10_000;
const MAX_COMMANDS = 50_000;
// One shell treats these as a space or a line ending, another as a letter. A lone surrogate is not text.
const AMBIGUOUS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff\p{Surrogate}]/u;
// Characters without a special meaning in any shell, unquoted, anywhere in a word.
const PLAIN = /[\w./,+%@^-]+/y;
const BRACES = /\{[\w-]*\}/y;
const EXPANSION = /\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*#?$!]|\{(?:[A-Za-z_][A-Za-z0-9_]*|[0-9@*])\})/y;
const DELIMITER = /(['"]?)([A-Za-z_][A-Za-z0-9_]*)\1(?=[ \t\n;&|)>]|$)/y;
const DUPLICATION = /[<>]&[0-9-](?=[ \t\n;&|)]|$)/y;
const PLAIN_BEFORE_REDIRECTION = /^(?:.*[^\d}]|\d)$/s;
const EXPANSION_IN_DOCUMENT = /\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\}/g;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=/;
// Reserved in some shells and the name of a command in others, or read in too many ways.
const NOT_JUDGED =
  /^(case|esac|in|select|function|coproc|\[\[|\]\]|repeat|foreach|end|namespace|nocorrect|noglob)$/;
const RESERVED = /^(if|then|else|elif|fi|for|while|until|do|done|\{|\}|!|time)$/;

/**
 * Parses all simple commands of a script, including those in substitutions; these precede the command that contains
 * them. Throws `NotInGrammar` unless the script is written in the grammar that sh, dash, bash and busybox parse alike:
 *
 *     list      = pipeline { (";" | "&" | newline | "&&" | "||") pipeline }
 *     pipeline  = ["!"] command { "|" command }
 *     command   = simple | "(" list ")" | "{" list "}" | if | while | until | for, each with redirections
 *     simple    = { NAME=word } { word }
 */
export function simpleCommands(source: string): SimpleCommand[] {
  return new Parser(source).script();
}

/** A recursive-descent parser that reads tokens on demand: the end of a word depends on the grammar around it. */
class Parser {
  readonly #source: string;
  readonly #found: SimpleCommand[] = [];
  #at = 0;
  #token: Token = { type: "newline", at: 0, text: "" };
  #nesting = 0;
  /** The number of open `$(`. */
  #substitutions = 0;
  /** The here-document whose body begins with the next line. */
  #hereDocument: HereDocument | undefined;

  constructor(source: string) {
    this.#source = source;
    const odd = AMBIGUOUS.exec(source);
    if (!odd) return;
    const code = (odd[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    throw this.#refusal(`the character U+${code}, which shells read differently`, "leave it out", odd.index);
  }

  script(): SimpleCommand[] {
    this.#advance();
    this.#list();
    if (this.#token.type !== "end") throw this.#unexpected();
    return this.#found;
  }

  // ——— grammar

  /** Parses commands up to a token that may end the list. Exactly one operator separates two of them. */
  #list(...ends: string[]): void {
    this.#skipNewlines();
    while (this.#token.type !== "end" && !this.#is(...ends)) {
      this.#andOr();
      if (this.#is(...ends)) return;
      if (this.#is(";", "&")) this.#advance();
      else if (this.#token.type !== "newline") return;
      this.#skipNewlines();
    }
  }

  /** A list of at least one command, and the word after it. */
  #body(...ends: string[]): string {
    this.#skipNewlines();
    if (this.#is(...ends)) throw this.#unexpected();
    this.#list(...ends);
    const end = ends.find((text) => this.#is(text));
    if (end === undefined) throw this.#unexpected();
    this.#advance();
    return end;
  }

  #andOr(): void {
    for (;;) {
      if (this.#is("!")) this.#advance();
      this.#command();
      for (; this.#is("|"); this.#command()) this.#advancePastNewlines();
      if (!this.#is("&&", "||")) return;
      this.#advancePastNewlines();
    }
  }

  #command(): void {
    if (!this.#is("(", "{", "if", "while", "until", "for")) {
      this.#simple();
      return;
    }
    const start = this.#found.length;
    this.#nested(() => this.#compound());
    for (; this.#token.type === "redirection"; this.#advance()) {
      if (!this.#token.touchesFile) continue;
      const inner = this.#found.splice(start);
      for (const command of inner) this.#found.push({ ...command, redirected: true });
    }
    if (this.#token.type === "word") throw this.#unexpected();
  }

  #compound(): void {
    if (this.#accepts("(")) this.#body(")");
    else if (this.#accepts("{")) this.#body("}");
    else if (this.#accepts("if")) {
      let end: string;
      do {
        this.#body("then");
        end = this.#body("elif", "else", "fi");
      } while (end === "elif");
      if (end === "else") this.#body("fi");
    } else if (this.#accepts("for")) this.#for();
    else {
      this.#advance();
      this.#body("do");
      this.#body("done");
    }
  }

  #for(): void {
    const name = this.#token.type === "word" ? this.#token.word.source : "";
    if (!NAME.test(name) || isReserved(name)) throw this.#unexpected();
    this.#advance();
    if (!this.#accepts("in")) throw this.#unexpected();
    while (this.#token.type === "word") this.#advance();
    if (!this.#is(";") && this.#token.type !== "newline") throw this.#unexpected();
    this.#advancePastNewlines();
    this.#found.push({ words: [], assigned: [{ name }] });
    if (!this.#accepts("do")) throw this.#unexpected();
    this.#body("done");
  }

  #nested(read: () => void): void {
    if (++this.#nesting > MAX_NESTING)
      throw this.#refusal("commands nested too deeply", "write them in a row", this.#token.at);
    read();
    this.#nesting--;
  }

  #simple(): void {
    const assigned: Variable[] = [];
    const words: CommandWord[] = [];
    const start = this.#token;
    let redirected = false;
    for (; this.#token.type === "word" || this.#token.type === "redirection"; this.#advance()) {
      if (this.#token.type === "redirection") {
        redirected ||= this.#token.touchesFile;
        continue;
      }
      const { word } = this.#token;
      if (word.source === "{" || word.source === "}") throw this.#unexpected();
      const [prefix, name] = ASSIGNMENT.exec(word.source) ?? [];
      if (words.length === 0 && prefix !== undefined && name !== undefined) {
        assigned.push({ name, value: word.text?.slice(prefix.length) });
        continue;
      }
      if (words.length === 0) this.#checkCommandWord(word);
      else if (words.every(({ source }) => source === "time" || source === "-p")) this.#checkTimed(word);
      if (words.push(word) > MAX_WORDS)
        throw this.#refusal("too many words", "use a file, or several commands", this.#token.at);
    }
    if (this.#token === start || /^(time|time -p)$/.test(words.map(({ source }) => source).join(" ")))
      throw this.#unexpected();
    if (this.#found.push({ words, assigned, ...(redirected && { redirected }) }) > MAX_COMMANDS)
      throw this.#refusal("too many commands", "use a file, or several calls", this.#token.at);
  }

  #checkCommandWord({ source, text }: CommandWord): void {
    if (isReserved(source) && source !== "time") throw this.#unexpected();
    // "a+=b", "a[0]=b" and "é=b" set a variable in one shell, and "a:" is a label. In another they are commands.
    if (/^[^'"\\]+[=:[]/.test(source) || /^[=%[]./.test(source) || text === "") {
      const instead = "write NAME=value, or the plain name of a program";
      throw this.#refusal("an unusual name of a command", instead, this.#token.at);
    }
  }

  /** In bash, "time" is a keyword before a whole pipeline; in other shells a program. */
  #checkTimed({ source, text }: CommandWord): void {
    if (text === undefined || isReserved(source) || /^(-(?!p$)|\w+\+?=)/.test(source))
      throw this.#refusal('"time" before something else than a command', 'leave out "time"', this.#token.at);
  }

  #skipNewlines(): void {
    while (this.#token.type === "newline") this.#advance();
  }

  #advancePastNewlines(): void {
    this.#advance();
    this.#skipNewlines();
  }

  /** Whether the token is one of these operators or unquoted words. */
  #is(...texts: string[]): boolean {
    if (this.#token.type === "word") return texts.includes(this.#token.word.source);
    return this.#token.type === "operator" && texts.includes(this.#token.text);
  }

  #accepts(text: string): boolean {
    if (!this.#is(text)) return false;
    this.#advance();
    return true;
  }

  #unexpected(): NotInGrammar {
    const isUnjudged = this.#token.type === "word" && NOT_JUDGED.test(this.#token.word.source);
    return isUnjudged
      ? this.#refusal(
          "a construct that not all shells know",
          "use if, for, while, or plain commands",
          this.#token.at,
        )
      : this.#refusal(
          "something that does not belong there",
          "write plain commands, with ; && || | between them",
          this.#token.at,
        );
  }

  // ——— tokens

  #advance(): void {
    this.#token = this.#next();
  }

  #next(): Token {
    this.#skipBlanks();
    const at = this.#at;
    const char = this.#peek();
    if (char === "") {
      if (this.#hereDocument) throw this.#unfinished(this.#hereDocument);
      return { type: "end", at, text: "" };
    }
    if (char === "\n") {
      this.#refuseLineBreak(this.#substitutions > 0);
      this.#at++;
      this.#readHereDocument();
      return { type: "newline", at, text: "" };
    }
    if (/[<>]/.test(char)) return this.#redirection(at);
    if (/[;&|()]/.test(char)) return { type: "operator", at, text: this.#operator(char) };
    const word = this.#word();
    if (!/[<>]/.test(this.#peek())) return { type: "word", at, word };
    // Directly before "<" or ">", one digit is a file descriptor. Shells differ for more digits and "{name}".
    if (/^\d$/.test(word.source)) return this.#redirection(at);
    if (word.text === undefined || !PLAIN_BEFORE_REDIRECTION.test(word.text) || /^\d$/.test(word.text))
      throw this.#refusal("a word joined to a redirection", "put a space between them", at);
    return { type: "word", at, word };
  }

  #skipBlanks(): void {
    for (;;) {
      if (/[ \t]/.test(this.#peek())) this.#at++;
      else if (this.#source.startsWith("\\\n", this.#at)) {
        // A line continuation joins the text around it: it may occur between words, but not inside one.
        const isBetween = /[ \t\n]/.test(this.#peek(-1) || " ") || /[ \t]/.test(this.#peek(2) || " ");
        if (this.#hereDocument || !isBetween) throw this.#continued();
        this.#at += 2;
      } else if (this.#peek() === "#") {
        if (this.#substitutions > 0) throw this.#refusal("a comment inside $(…)", "leave it out");
        const end = this.#source.indexOf("\n", this.#at);
        this.#at = end === -1 ? this.#source.length : end;
      } else return;
    }
  }

  #operator(char: string): string {
    const text = /[&|]/.test(char) && this.#peek(1) === char ? char + char : char;
    const next = this.#peek(text.length);
    // "&>", "|&", ";;", "&!", "((" and the like are separate operators in some shells.
    const isJoined = text === "&" ? !/^[ \t\n)]?$/.test(next) : /[;&|<>!]/.test(next);
    if (/[()]/.test(char) ? char === "(" && /[()#?*+@!]/.test(next) : isJoined) {
      const instead = text === "&" ? 'write "> file 2>&1", or a space after "&"' : "put a space between them";
      throw this.#refusal("operators joined to one", instead);
    }
    if (char === ")" && next === "(") throw this.#refusal('")("', "put a separator between them");
    this.#at += text.length;
    return text;
  }

  #redirection(at: number): Token {
    const refuse = (): NotInGrammar =>
      this.#refusal("its own redirection kind", 'use "<", ">", ">>", "2>&1", ">&2" or "<<WORD"', at);
    if (this.#source.startsWith("<<", this.#at)) {
      if (this.#at !== at || /[<>&|]/.test(this.#peek(2))) throw refuse();
      this.#startHereDocument(at);
      return { type: "redirection", at, touchesFile: false };
    }
    if (this.#peek(1) === "&") {
      if (this.#match(DUPLICATION) === undefined) throw refuse();
      return { type: "redirection", at, touchesFile: false };
    }
    this.#at += this.#source.startsWith(">>", this.#at) ? 2 : 1;
    if (/[<>&|!(]/.test(this.#peek())) throw refuse();
    this.#match(/[ \t]+/y);
    if (/^[\n;&|<>()#!\\]?$/.test(this.#peek())) throw refuse();
    const target = this.#word();
    if (/[<>]/.test(this.#peek()) || /^\d+$/.test(target.source))
      throw this.#refusal("a redirection joined to another", "put a space between them", at);
    return { type: "redirection", at, touchesFile: target.text !== "/dev/null" };
  }

  // ——— here-documents

  #startHereDocument(at: number): void {
    if (this.#hereDocument) throw this.#refusal("a second here-document in one line", "use two commands", at);
    if (this.#substitutions > 0)
      throw this.#refusal("a here-document inside $(…)", "give the text to the command on its input", at);
    this.#at += 2;
    const stripsTabs = this.#match(/-?[ \t]*/y)?.[0].startsWith("-") === true;
    const [, quotes, delimiter] = this.#match(DELIMITER) ?? [];
    if (delimiter === undefined)
      throw this.#refusal("a here-document whose end is not a plain word", "use letters, as in <<'END'", at);
    this.#hereDocument = { delimiter, isQuoted: quotes !== "", stripsTabs, at };
  }

  /** The lines after the one with "<<", up to the delimiter. */
  #readHereDocument(): void {
    const document = this.#hereDocument;
    while (this.#hereDocument !== undefined && document !== undefined) {
      if (this.#at >= this.#source.length) throw this.#unfinished(document);
      const line = this.#match(/.*/y)?.[0] ?? "";
      const start = this.#at - line.length;
      this.#at++;
      if ((document.stripsTabs ? line.replace(/^\t+/, "") : line) === document.delimiter)
        this.#hereDocument = undefined;
      else if (!document.isQuoted) {
        const odd = /[\\`]|\$(?![ .,;]|$)/.exec(line.replace(EXPANSION_IN_DOCUMENT, ""));
        if (odd)
          throw this.#refusal(`${shown(odd[0])} in a here-document`, "quote its delimiter: <<'END'", start);
      }
    }
  }

  #unfinished({ at, delimiter }: HereDocument): NotInGrammar {
    return this.#refusal("a here-document without its end", `add a line with ${delimiter} alone`, at);
  }

  /** Shells differ in where the body begins if a line ending after "<<" is quoted. */
  #refuseLineBreak(hasLineBreak: boolean): void {
    const at = this.#hereDocument?.at;
    if (hasLineBreak && at !== undefined)
      throw this.#refusal("a here-document and a quoted line break in one line", "swap them", at);
  }

  // ——— words

  /** Parses a word up to the next blank or operator. Its text is unknown if it depends on running the script. */
  #word(): CommandWord {
    const start = this.#at;
    const parts: WordPart[] = [];
    for (let part = this.#wordPart(start); part; part = this.#wordPart(start)) parts.push(part);
    const source = this.#source.slice(start, this.#at);
    if (parts.every(({ isKnown }) => isKnown))
      return { text: parts.map(({ text }) => text).join(""), source };
    return { source, splits: parts.some(({ splits }) => splits) };
  }

  #wordPart(start: number): WordPart | undefined {
    const plain = this.#match(PLAIN);
    if (plain) return literal(plain[0]);
    const char = this.#peek();
    if (char === "" || /[ \t\n;&|<>)]/.test(char)) return undefined;
    if (char === "'") return this.#singleQuoted();
    if (char === '"') return this.#doubleQuoted();
    if (char === "$") {
      const isLiteral = this.#dollar(/^[ \t\n;|&)]?$/) === "literal";
      return isLiteral ? literal("$") : { text: "", isKnown: false, splits: true };
    }
    if (char !== "\\") return this.#unquoted(char, this.#at === start);
    const escaped = this.#peek(1);
    if (escaped === "\n" && /[ \t]/.test(this.#peek(2))) return undefined;
    if (escaped === "" || escaped === "\n") throw this.#continued();
    this.#at += 2;
    return literal(escaped);
  }

  #unquoted(char: string, isFirst: boolean): WordPart {
    if (char === "`") throw this.#refusal("a backtick", "write $(…)");
    if (char === "(") {
      const instead = "quote it; functions, arrays and patterns with parentheses are not judged";
      throw this.#refusal("a parenthesis in a word", instead);
    }
    const next = this.#peek(1);
    if (char === "{" || char === "}") {
      const braces = this.#match(BRACES)?.[0];
      if (braces !== undefined) return literal(braces);
      if (!isFirst || !/^[ \t\n;]?$/.test(next))
        throw this.#refusal(`an unquoted ${char}`, "quote it, or write the words one by one");
      // On its own it may be a reserved word: the grammar decides.
    }
    const isTilde = char === "~" && (isFirst || /[=:]/.test(this.#peek(-1)));
    const isPattern = /[*?]/.test(char) || (char === "[" && !(isFirst && /^[ \t\n]?$/.test(next)));
    this.#at++;
    return { text: char, isKnown: !isTilde && !isPattern, splits: isPattern };
  }

  #singleQuoted(): WordPart {
    const end = this.#source.indexOf("'", this.#at + 1);
    if (end === -1) throw this.#refusal("a quote that is never closed", "close it");
    const text = this.#source.slice(this.#at + 1, end);
    this.#refuseLineBreak(text.includes("\n"));
    this.#at = end + 1;
    return literal(text);
  }

  #doubleQuoted(): WordPart {
    const start = this.#at++;
    let text = "";
    let isKnown = true;
    let splits = false;
    for (let char = this.#peek(); char !== '"'; char = this.#peek()) {
      if (char === "") throw this.#refusal("a quote that is never closed", "close it", start);
      if (char === "`") throw this.#refusal("a backtick", "write $(…), or \\` in double quotes");
      if (char === "$") {
        const kind = this.#dollar(/^[" /|).,;]$/);
        if (kind === "literal") text += "$";
        else isKnown = false;
        // "$@" expands to as many words as there are arguments.
        splits ||= kind === "list";
        continue;
      }
      const escaped = char === "\\" ? this.#peek(1) : "";
      if (escaped === "\n") throw this.#refusal("a line continued inside quotes", "join the lines");
      text += escaped !== "" && '$`"\\'.includes(escaped) ? escaped : char + escaped;
      this.#at += 1 + escaped.length;
    }
    this.#refuseLineBreak(this.#source.slice(start, this.#at).includes("\n"));
    this.#at++;
    return { text, isKnown, splits };
  }

  /** Skips "$x", "${x}", "$(…)", or a literal "$". */
  #dollar(literalBefore: RegExp): "literal" | "value" | "list" {
    const at = this.#at;
    const expansion = this.#match(EXPANSION)?.[0];
    if (expansion !== undefined) return /[@*]/.test(expansion) ? "list" : "value";
    const after = this.#peek(1);
    if (after === "(" && this.#peek(2) !== "(") {
      this.#at += 2;
      this.#substitution();
      this.#refuseLineBreak(this.#source.slice(at, this.#at).includes("\n"));
      return "value";
    }
    if (!literalBefore.test(after)) {
      const what = /[({]/.test(after) ? "arithmetic or an expansion with an operator" : "a $ without a name";
      const instead = `use "$name", "\${name}" or "$(command)"; put a $ that means itself in '…'`;
      throw this.#refusal(what, instead);
    }
    this.#at++;
    return "literal";
  }

  /** Parses the commands of `$(…)`. The ")" is the last token that is read, so the rest of the word begins after it. */
  #substitution(): void {
    const outer = this.#token;
    this.#substitutions++;
    this.#advance();
    this.#nested(() => this.#list(")"));
    if (!this.#is(")")) throw this.#unexpected();
    this.#substitutions--;
    this.#token = outer;
  }

  // ——— characters

  #peek(offset = 0): string {
    return this.#source[this.#at + offset] ?? "";
  }

  /** Skips what the sticky pattern matches here, if anything. */
  #match(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source) ?? undefined;
    if (found) this.#at = pattern.lastIndex;
    return found;
  }

  #continued(): NotInGrammar {
    return this.#refusal("a line continued inside a word", "put a space before the backslash");
  }

  /** The error for the text at `at`: what it is, where, and what to write instead. */
  #refusal(what: string, instead: string, at = this.#at): NotInGrammar {
    const line = this.#source.slice(0, at).split("\n").length;
    const place = this.#source.slice(at, at + 24);
    return new NotInGrammar(`line ${line} has ${what}${place && ` at ${shown(place)}`}: ${instead}`);
  }
}

function isReserved(word: string): boolean {
  return RESERVED.test(word) || NOT_JUDGED.test(word);
}

function literal(text: string): WordPart {
  return { text, isKnown: true, splits: false };
}
