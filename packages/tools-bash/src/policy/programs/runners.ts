import type { CommandWord } from "../rules.js";
import { HOOKS } from "./hookTables.js";
import { type Inside, wordSet } from "./program.js";

/** Subcommands by which programs of all kinds run the command behind them. */
const VERBS = wordSet("exec run shell enter");
/** With these the words behind the subcommand are for the project's own program. */
const BUILD_TOOLS = wordSet(
  "bazel cabal cargo dart dotnet flutter gh go gradle stack swift turbo vitest zig",
);

/**
 * Programs that no table knows, with a subcommand that says what they do: `lxc exec box -- rm`, `pdm run rm`. Words that are
 * not known yet are passed over: they are arguments more often than commands.
 */
export function readRunner(name: string, parameters: readonly CommandWord[]): Inside | undefined {
  if (HOOKS.launching.has(name) || BUILD_TOOLS.has(name)) return undefined;
  const at = parameters.findIndex(({ text }) => text === undefined || !text.startsWith("-"));
  if (!VERBS.has(parameters[at]?.text ?? "")) return undefined;
  const words = parameters.slice(at + 1).filter(({ text }) => text !== undefined);
  return { launched: [{ words, phrase: [] }] };
}
