import type * as Unbash from "unbash";
import type { Assignment, Command, SyntaxNode, Word, WordPart } from "unbash";
import { shown, Unresolvable } from "./refusal.js";
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
}

// What one shell takes for a space or the end of a line and another for a letter.
const AMBIGUOUS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this finds
  /[\x00-\x08\x0b-\x1f\x7f\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/;

// Read by bash one way and by a plain sh another: "((rm x))" is arithmetic there and a subshell here.
const BASH_ONLY: Partial<Record<SyntaxNode["type"], string>> = {
  TestCommand: "[[ … ]]",
  ArithmeticCommand: "((…))",
  ArithmeticFor: "for ((…))",
  Select: "select",
  Coproc: "coproc",
  ProcessSubstitution: "<(…)",
  AnsiCQuoted: "$'…'",
  LocaleString: '$"…"',
  ArrayValue: "an array",
  HereString: "<<<",
};

// In bash, a variable used in arithmetic is evaluated, down to a command in its subscript.
const HIDDEN_SUBSCRIPT = /\[[^[\]]*(?:\$\(|`)/;

let parser: typeof Unbash | undefined;

/** The parser, loaded at the first use: most people have no policy. (`require`, because rules are checked in `register`.) */
function unbash(): typeof Unbash {
  // Node's own module is loaded here as well: without a policy nothing needs it.
  parser ??= process.getBuiltinModule("node:module").createRequire(import.meta.url)(
    "unbash",
  ) as typeof Unbash;
  return parser;
}

/** All simple commands of a script, also those in functions, substitutions and here-documents. */
export function simpleCommands(source: string): SimpleCommand[] {
  const odd = AMBIGUOUS.exec(source);
  if (odd)
    throw new Unresolvable(`it contains the character ${codePoint(odd[0])}, which shells read differently`);
  const found: SimpleCommand[] = [];
  const numbers = new NumberVariables();
  const visit = (node: SyntaxNode): void => {
    if (node.type === "Script" && "errors" in node && node.errors?.[0]) {
      throw new Unresolvable(`it cannot be parsed (${node.errors[0].message})`);
    }
    const bashOnly = BASH_ONLY[node.type];
    if (bashOnly !== undefined)
      throw new Unresolvable(`${bashOnly} means different things to different shells`);
    if (node.type === "Command") found.push(simpleCommand(node));
    if (node.type === "For") found.push({ words: [], assigned: [{ name: node.name.value }] });
    numbers.visit(node);
    unbash().forEachChild(node, visit);
  };
  visit(unbash().parse(source));
  numbers.check();
  return found;
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}

function simpleCommand(node: Command): SimpleCommand {
  const assignments = node.prefix.filter((part) => part.type === "Assignment");
  const assigned = assignments.map(({ name, value, append }) => {
    const text = value.type === "Word" ? commandWord(value).text : undefined;
    return { name, value: append ? undefined : text };
  });
  const words = node.name === undefined ? [] : [commandWord(node.name)];
  for (const argument of node.args) {
    words.push(argument.type === "Word" ? commandWord(argument) : assignmentWord(argument));
  }
  return { words, assigned };
}

/** "export A=b" and "dd if=x" hold an assignment for the parser, a word for the command. */
function assignmentWord(argument: Assignment): CommandWord {
  const value = argument.value.type === "Word" ? commandWord(argument.value).text : undefined;
  if (value === undefined) return { source: argument.text, splits: false };
  return { source: argument.text, text: `${argument.name}${argument.append ? "+" : ""}=${value}` };
}

function commandWord(word: Word): CommandWord {
  const text = staticText(word);
  if (text !== undefined) {
    if (HIDDEN_SUBSCRIPT.test(text))
      throw new Unresolvable(`${shown(word.text)} may be evaluated as a subscript`);
    return { text, source: word.text };
  }
  return {
    source: word.text,
    splits: word.parts?.some((part) => part.type !== "DoubleQuoted" && !isText(part)) ?? true,
  };
}

function isText(part: WordPart): boolean {
  return part.type === "Literal" || part.type === "SingleQuoted";
}

/** The word as the command will get it, or `undefined` if only running the script would tell. */
function staticText(word: Word): string | undefined {
  if (word.parts === undefined) return word.value;
  let text = "";
  for (const part of word.parts) {
    const pieces = part.type === "DoubleQuoted" ? part.parts : [part];
    for (const piece of pieces) {
      if (piece.type !== "Literal" && piece.type !== "SingleQuoted") return undefined;
      text += piece.value;
    }
  }
  return text;
}

/** Lets arithmetic name only variables that the script itself sets to numbers. */
class NumberVariables {
  readonly #used = new Set<string>();
  readonly #numbers = new Set<string>();
  readonly #others = new Set<string>();

  visit(node: SyntaxNode): void {
    if (node.type === "Assignment" && node.value.type === "Word") {
      this.#assign(node.name, isNumber(node.value));
    } else if (node.type === "For") {
      this.#assign(node.name.value, node.wordlist?.every(isNumber) ?? false);
    }
    if (node.type === "ArithmeticExpansion") this.#evaluate(node.text);
    if (node.type === "Assignment") this.#evaluate(node.index?.text);
    if (node.type !== "ParameterExpansion") return;
    this.#evaluate(node.index?.text);
    if (node.operation?.type === "Slice") {
      this.#evaluate(node.operation.offset.text);
      this.#evaluate(node.operation.length?.text);
    }
    // The first evaluates the name it finds in the variable, the second commands: "${x@P}".
    if (
      node.prefix === "!" ||
      (node.operation?.type === "Transform" && node.operation.operand.text === "P")
    ) {
      throw new Unresolvable(`${shown(node.text)} may evaluate the content of a variable`);
    }
  }

  #evaluate(arithmetic = ""): void {
    for (const name of arithmetic.match(/(?<!\w)[A-Za-z_]\w*|\$\{?[\d@*]/g) ?? []) this.#used.add(name);
  }

  check(): void {
    for (const name of this.#used) {
      if (this.#numbers.has(name) && !this.#others.has(name)) continue;
      throw new Unresolvable(`the arithmetic uses ${name}, which is not set to a number in the same script`);
    }
  }

  #assign(name: string, isNumeric: boolean): void {
    (isNumeric ? this.#numbers : this.#others).add(name);
  }
}

function isNumber(word: Word): boolean {
  if (word.parts === undefined) return /^-?\d+$/.test(word.value);
  return word.parts.every((part) => part.type === "ArithmeticExpansion");
}
