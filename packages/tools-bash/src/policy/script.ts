import { Lexer, type Token } from "./lexer.js";
import type { NotInGrammar } from "./refusal.js";
import type { CommandWord } from "./rules.js";

/** A variable that is set; without `value` where only running the script would tell. */
export interface Variable {
  readonly name: string;
  readonly value?: string | undefined;
}

/** A simple command of a script: its words, and the variables set in front of it. */
export interface SimpleCommand {
  readonly words: readonly CommandWord[];
  readonly assigned: readonly Variable[];
  /** Whether a redirection makes it, or a group around it, read or write a file. */
  readonly redirected?: boolean;
}

const MAX_NESTING = 50;
const MAX_WORDS = 10_000;
const MAX_COMMANDS = 50_000;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const ASSIGNMENT = /^([A-Za-z_][A-Za-z0-9_]*)=/;
// Reserved in every shell. Behind one of the first a command begins; the others end a list of commands.
const CLOSING = new Set(["then", "else", "elif", "fi", "do", "done", "}"]);
// Reserved in some shells and the name of a command in others, or read in too many ways.
const NOT_JUDGED = new Set(
  "case esac in select function coproc [[ ]] repeat foreach end namespace nocorrect noglob".split(" "),
);
const RESERVED = new Set(["if", "for", "while", "until", "{", "!", "time", ...CLOSING, ...NOT_JUDGED]);

/**
 * All simple commands of a script, also those in substitutions. Throws `NotInGrammar` unless the script is
 * written in the grammar that sh, dash, bash and busybox read alike:
 *
 *     list      = pipeline { (";" | "&" | newline | "&&" | "||") pipeline }
 *     pipeline  = ["!"] command { "|" command }
 *     command   = simple | "(" list ")" | "{" list "}" | if | while | until | for, each with redirections
 *     simple    = { NAME=word } { word }
 */
export function simpleCommands(source: string): SimpleCommand[] {
  const found: SimpleCommand[] = [];
  const lexer: Lexer = new Lexer(source, () => new Parser(lexer, found, nesting).substitution());
  const nesting = { depth: 0 };
  new Parser(lexer, found, nesting).script();
  return found;
}

class Parser {
  #token: Token;

  constructor(
    readonly lexer: Lexer,
    readonly found: SimpleCommand[],
    readonly nesting: { depth: number },
  ) {
    this.#token = lexer.next();
  }

  script(): void {
    this.#list(() => this.#token.type === "end");
    if (this.#token.type !== "end") throw this.#unexpected();
  }

  /** The commands of `$(…)`. The token in hand at the end is the ")", so the lexer stands right behind it. */
  substitution(): void {
    this.#nested(() => this.#list(() => this.#isOperator(")")));
    if (!this.#isOperator(")")) throw this.#unexpected();
  }

  /** Commands up to a token that may end the list. Between two of them stands exactly one operator. */
  #list(isEnd: () => boolean): void {
    this.#skipNewlines();
    while (!isEnd()) {
      this.#andOr();
      if (isEnd()) return;
      if (this.#isOperator(";") || this.#isOperator("&")) this.#advance();
      else if (this.#token.type !== "newline") return;
      this.#skipNewlines();
    }
  }

  #andOr(): void {
    for (;;) {
      this.#pipeline();
      if (!this.#isOperator("&&") && !this.#isOperator("||")) return;
      this.#advance();
      this.#skipNewlines();
    }
  }

  #pipeline(): void {
    if (this.#isReserved("!")) this.#advance();
    for (;;) {
      this.#command();
      if (!this.#isOperator("|")) return;
      this.#advance();
      this.#skipNewlines();
    }
  }

  #command(): void {
    if (this.#isOperator("(")) this.#compound(() => this.#subshell());
    else if (this.#isReserved("{")) this.#compound(() => this.#enclosed("{", "}"));
    else if (this.#isReserved("if")) this.#compound(() => this.#if());
    else if (this.#isReserved("while") || this.#isReserved("until")) this.#compound(() => this.#loop());
    else if (this.#isReserved("for")) this.#compound(() => this.#for());
    else this.#simple();
  }

  #compound(read: () => void): void {
    const start = this.found.length;
    this.#nested(read);
    for (; this.#token.type === "redirection"; this.#advance()) {
      if (!this.#token.touchesFile) continue;
      for (let index = start; index < this.found.length; index++) {
        const command = this.found[index];
        if (command) this.found[index] = { ...command, redirected: true };
      }
    }
    if (this.#token.type === "word") throw this.#unexpected();
  }

  #nested(read: () => void): void {
    if (++this.nesting.depth > MAX_NESTING)
      throw this.#refusal("commands nested too deeply", "write them in a row");
    read();
    this.nesting.depth--;
  }

  #subshell(): void {
    this.#advance();
    this.#nonEmpty(() => this.#isOperator(")"));
    if (!this.#isOperator(")")) throw this.#unexpected();
    this.#advance();
  }

  #enclosed(start: string, end: string): void {
    this.#expect(start);
    this.#nonEmpty(() => this.#isReserved(end));
    this.#expect(end);
  }

  #if(): void {
    this.#expect("if");
    for (;;) {
      this.#nonEmpty(() => this.#isReserved("then"));
      this.#expect("then");
      this.#nonEmpty(() => ["elif", "else", "fi"].some((word) => this.#isReserved(word)));
      if (!this.#isReserved("elif")) break;
      this.#advance();
    }
    if (this.#isReserved("else")) this.#enclosed("else", "fi");
    else this.#expect("fi");
  }

  #loop(): void {
    this.#advance();
    this.#nonEmpty(() => this.#isReserved("do"));
    this.#enclosed("do", "done");
  }

  #for(): void {
    this.#advance();
    const name = this.#token.type === "word" ? this.#token.word.source : "";
    if (!NAME.test(name) || RESERVED.has(name)) throw this.#unexpected();
    this.#advance();
    this.#expect("in");
    while (this.#token.type === "word") this.#advance();
    if (!this.#isOperator(";") && this.#token.type !== "newline") throw this.#unexpected();
    this.#advance();
    this.#skipNewlines();
    this.found.push({ words: [], assigned: [{ name }] });
    this.#enclosed("do", "done");
  }

  #nonEmpty(isEnd: () => boolean): void {
    this.#skipNewlines();
    if (isEnd()) throw this.#unexpected();
    this.#list(isEnd);
  }

  #simple(): void {
    const assigned: Variable[] = [];
    const words: CommandWord[] = [];
    const start = this.#token;
    let redirected = false;
    for (; this.#token.type === "word" || this.#token.type === "redirection"; this.#advance()) {
      if (this.#token.type !== "word") {
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
        throw this.#refusal("too many words", "use a file, or several commands");
    }
    if (this.#token === start || /^(time|time -p)$/.test(words.map(({ source }) => source).join(" ")))
      throw this.#unexpected();
    if (this.found.push({ words, assigned, ...(redirected && { redirected }) }) > MAX_COMMANDS)
      throw this.#refusal("too many commands", "use a file, or several calls");
  }

  #checkCommandWord({ source, text }: CommandWord): void {
    if (RESERVED.has(source) && source !== "time") throw this.#unexpected();
    // "a+=b", "a[0]=b" and "é=b" set a variable in one shell, and "a:" is a label. In another they are commands.
    const isOdd = /^[^'"\\]+[=:[]/.test(source) || /^[=%[]./.test(source);
    if (isOdd || text === "")
      throw this.#refusal("an unusual name of a command", "write NAME=value, or the plain name of a program");
  }

  /** For bash, "time" is a word in front of a whole pipeline; for others a program. */
  #checkTimed({ source, text }: CommandWord): void {
    if (text === undefined || RESERVED.has(source) || /^(-(?!p$)|\w+\+?=)/.test(source))
      throw this.#refusal('"time" before something else than a command', 'leave out "time"');
  }

  #skipNewlines(): void {
    while (this.#token.type === "newline") this.#advance();
  }

  #advance(): void {
    this.#token = this.lexer.next();
  }

  #expect(word: string): void {
    if (!this.#isReserved(word)) throw this.#unexpected();
    this.#advance();
  }

  #isOperator(text: string): boolean {
    return this.#token.type === "operator" && this.#token.text === text;
  }

  #isReserved(text: string): boolean {
    return this.#token.type === "word" && this.#token.word.source === text;
  }

  #unexpected(): NotInGrammar {
    if (this.#token.type === "word" && NOT_JUDGED.has(this.#token.word.source))
      return this.#refusal("a construct that not all shells know", "use if, for, while, or plain commands");
    return this.#refusal(
      "something that does not belong there",
      "write plain commands, with ; && || | between them",
    );
  }

  #refusal(what: string, instead: string): NotInGrammar {
    return this.lexer.refusal(this.#token.at, what, instead);
  }
}
