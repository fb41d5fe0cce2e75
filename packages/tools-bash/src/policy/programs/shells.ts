import { Unresolvable } from "../refusal.js";
import type { CommandWord } from "../rules.js";
import { type Inside, known } from "./program.js";

const SHELL = /^(a|ba|da|k|mk|lk|pdk|ok|lok|rba|rk|ya|z|rz|hu)?sh(93)?([-.\d].*)?$/;

/** `sh -c 'text'`, `eval text` and `trap text`. */
export function readShell(name: string, parameters: readonly CommandWord[]): Inside | undefined {
  if (SHELL.test(name)) return { scripts: [shellScript(name, parameters)] };
  if (name === "eval") return { scripts: [parameters.map((word) => known(name, word)).join(" ")] };
  return name === "trap" ? trapped(parameters) : undefined;
}

/** The text after `-c`. A shell without one reads a file or its input. */
function shellScript(name: string, words: readonly CommandWord[]): string {
  for (let index = 0; index < words.length; index++) {
    const text = known(name, words[index]);
    if (/^[-+][A-Za-z]*o$/.test(text) && !text.includes("c")) known(name, words[++index]);
    else if (/^-[eufxlc]*c[eufxlc]*$/.test(text)) {
      // "bash -c -x 'text'": further options may stand between -c and its text.
      const length = words.slice(index + 1).findIndex((word) => !/^[-+]/.test(word.text ?? ""));
      if (length === -1) break;
      const options = words.slice(index, index + 1 + length);
      // "sh -c -o errexit 'text'": the first word would be taken for the text.
      if (options.some((word) => /o/i.test(word.text ?? ""))) {
        throw new Unresolvable(`an option of ${name} beside -c takes a word in front of the script`);
      }
      return known(name, words[index + 1 + length]);
    } else if (!/^[-+][eufx]+$/.test(text)) break;
  }
  throw new Unresolvable(
    `${name} without -c runs commands from a file or its input, which cannot be seen here`,
  );
}

function trapped(words: readonly CommandWord[]): Inside {
  const [first] = words[0]?.text === "--" ? words.slice(1) : words;
  if (first === undefined || first.text === "-" || /^(-[lp]|\d*)$/.test(first.text ?? "?")) return {};
  return { scripts: [known("trap", first)] };
}
