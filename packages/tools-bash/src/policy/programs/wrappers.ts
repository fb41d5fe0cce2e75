import { shown, Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import type { Variable } from "../script.js";
import { type Inside, known, skipValue } from "./program.js";

/** The syntax of a program that runs another one: options, then a number of operands, then the command. */
interface Wrapper {
  /** Letters of options without and with a value. An option that is not listed makes the call unresolvable. */
  readonly flags?: string;
  readonly values?: string;
  readonly longFlags?: readonly string[];
  readonly longValues?: readonly string[];
  readonly operands?: number;
  /** Takes NAME=value in front of the command. */
  readonly assignments?: boolean;
  /** Options that make it do something else than run a command. */
  readonly queries?: readonly string[];
  /** The command is one text for a shell, as for `watch`. */
  readonly script?: boolean;
  /** The wrapper has no effect of its own: an allow list judges only the command inside. */
  readonly transparent?: boolean;
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    builtin: { transparent: true },
    busybox: {},
    chroot: { longFlags: ["skip-chdir"], longValues: ["userspec", "groups"], operands: 1 },
    command: { flags: "p", queries: ["-v", "-V"], transparent: true },
    doas: { flags: "Ln", values: "aCu" },
    env: {
      flags: "i0v",
      values: "uC",
      longFlags: ["ignore-environment", "null", "debug"],
      longValues: ["unset", "chdir"],
      assignments: true,
      transparent: true,
    },
    exec: { flags: "cl", values: "a", transparent: true },
    ionice: {
      flags: "t",
      values: "cn",
      longFlags: ["ignore"],
      longValues: ["class", "classdata"],
      transparent: true,
    },
    nice: { flags: "0123456789", values: "n", longValues: ["adjustment"], transparent: true },
    nohup: { transparent: true },
    setsid: { flags: "cfw", longFlags: ["ctty", "fork", "wait"], transparent: true },
    ssh: { flags: "1246AaCfGgKkMNnqsTtVvXxYy", values: "bcDEeIiLlmpRw", operands: 1, script: true },
    stdbuf: { values: "ioe", longValues: ["input", "output", "error"], transparent: true },
    sudo: {
      flags: "ABbEHkKnPS",
      values: "CDghpRrTtUu",
      longFlags: ["askpass", "background", "non-interactive", "preserve-env", "set-home", "stdin"],
      longValues: ["chdir", "group", "host", "prompt", "user"],
      assignments: true,
      queries: ["-l", "-v", "-V", "--list", "--validate", "--version"],
    },
    time: {
      flags: "apqvV",
      values: "fo",
      longFlags: ["portability"],
      longValues: ["format", "output"],
      transparent: true,
    },
    timeout: {
      flags: "v",
      values: "ks",
      longFlags: ["foreground", "preserve-status", "verbose"],
      longValues: ["kill-after", "signal"],
      operands: 1,
      transparent: true,
    },
    toybox: {},
    watch: {
      flags: "bcdegtx",
      values: "n",
      longFlags: ["differences", "errexit", "no-title"],
      longValues: ["interval"],
      script: true,
    },
    xargs: {
      flags: "0rtpxo",
      values: "adEILnPsJR",
      longFlags: ["null", "no-run-if-empty", "verbose", "interactive", "exit", "open-tty"],
      longValues: ["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace"],
    },
  }),
);

/** Whether the command that a program runs is found in its words by `readWrapper`. */
export function isWrapper(name: string): boolean {
  return WRAPPERS.has(name);
}

export function isTransparent(name: string): boolean {
  return WRAPPERS.get(name)?.transparent === true;
}

/** Looks through a wrapper. Throws `Unresolvable` if its options do not tell where the command begins. */
export function readWrapper(name: string, parameters: readonly CommandWord[]): Inside | undefined {
  const wrapper = WRAPPERS.get(name);
  if (wrapper === undefined) return undefined;
  const options = readOptions(name, wrapper, parameters);
  if (options === "query") return {};
  const assigned: Variable[] = [];
  let index = options.end;
  if (wrapper.assignments) {
    for (; isAssignment(parameters[index]); index++) assigned.push(variable(parameters[index]));
  }
  for (const word of parameters.slice(index, index + (wrapper.operands ?? 0))) known(name, word);
  const inner = parameters.slice(index + (wrapper.operands ?? 0));
  if (inner.length === 0 && (wrapper.script || wrapper.operands === 1)) {
    throw new Unresolvable(`${name} without a command starts a shell that reads its input`);
  }
  if (inner.length === 0) return { commands: [{ words: [], assigned }] };
  if (wrapper.script) return { scripts: [inner.map((word) => known(name, word)).join(" ")] };
  return { commands: [{ words: name === "xargs" ? withInput(inner, options.replaced) : inner, assigned }] };
}

function readOptions(name: string, wrapper: Wrapper, words: readonly CommandWord[]) {
  let replaced: string | undefined;
  let index = 0;
  for (; index < words.length; index++) {
    const text = words[index]?.text;
    if (text === undefined) {
      if (isAssignment(words[index])) break;
      throw new Unresolvable(
        `it is not known which command ${name} runs after ${shown(words[index]?.source ?? "")}`,
      );
    }
    if (wrapper.queries?.includes(text)) return "query";
    if (text === "--") {
      index++;
      break;
    }
    if (text === "-" && name === "env") continue; // the same as -i
    if (!text.startsWith("-")) break;
    const option = text.startsWith("--") ? longOption(wrapper, text) : shortOption(wrapper, text);
    if (option === undefined)
      throw new Unresolvable(`the option ${shown(text)} of ${name} is not known to the policy`);
    if (option.letter === "I") replaced = option.attached ?? known(name, words[index + 1]);
    if (option.takesNext) skipValue(name, words[++index]);
  }
  return { end: index, replaced };
}

function longOption(wrapper: Wrapper, text: string) {
  const [name = "", value] = text.slice(2).split("=", 2);
  if (wrapper.longFlags?.includes(name)) return { takesNext: false };
  if (!wrapper.longValues?.includes(name)) return undefined;
  return { takesNext: value === undefined, letter: name === "replace" ? "I" : undefined, attached: value };
}

function shortOption(wrapper: Wrapper, text: string) {
  for (let at = 1; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (wrapper.values?.includes(letter)) {
      const attached = text.slice(at + 1);
      return { letter, takesNext: attached === "", attached: attached || undefined };
    }
    if (!wrapper.flags?.includes(letter)) return undefined;
  }
  return { takesNext: false };
}

// For env, unlike for a shell, any name will do: bash takes functions from "BASH_FUNC_ls%%=() { …; }".
const ASSIGNMENT = /^[^-=][^=]*=/;
const UNKNOWN_VALUE = /^[A-Za-z_]\w*\+?=/;

/** The variable that "NAME=value" sets; a word without "=" is a name alone. */
export function variable(word: CommandWord | undefined): Variable {
  const [name = "", ...rest] = (word?.text ?? word?.source ?? "").split("=");
  const isKnown = word?.text !== undefined && rest.length > 0 && !name.endsWith("+");
  return { name: name.replace(/\+$/, ""), value: isKnown ? rest.join("=") : undefined };
}

function isAssignment(word: CommandWord | undefined): boolean {
  // "env A=$x": the value may split, and its second word be the command.
  if (word?.text === undefined)
    return word !== undefined && word.splits !== true && UNKNOWN_VALUE.test(word.source);
  return ASSIGNMENT.test(word.text);
}

/** xargs adds words from its input at the end, or puts them where the replacement text is. */
function withInput(words: readonly CommandWord[], replaced: string | undefined): CommandWord[] {
  const filled = words.map((word) =>
    replaced && word.text?.includes(replaced) ? { source: word.source, splits: false } : word,
  );
  return replaced ? filled : [...filled, { source: "(input of xargs)", splits: true }];
}
