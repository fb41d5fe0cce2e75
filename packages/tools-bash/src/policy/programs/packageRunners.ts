import type { CommandWord } from "../rules.js";
import { commandName } from "../rules.js";

/** Programs that run the package they name, and the subcommand in front of it. */
const RUNNERS: ReadonlyMap<string, readonly string[]> = new Map([
  ["npx", [""]],
  ["pnpx", [""]],
  ["bunx", [""]],
  ["uvx", [""]],
  ["npm", ["exec", "x"]],
  ["pnpm", ["exec", "dlx"]],
  ["yarn", ["exec", "dlx"]],
  ["bun", ["x"]],
  ["pipx", ["run"]],
]);
// Options that change neither what runs nor where.
const HARMLESS = /^(-y|--yes|--no|--no-install|--)$/;
const PACKAGE = /^(@[\w.-]+\/)?[A-Za-z0-9][\w.-]*(@[\w.^~-]+)?$/;

/**
 * The number of words up to the package's name, in `npx -y vitest run`: 3. `undefined` for another command, and where
 * another option or an unusual name makes it run something else.
 */
export function packageWords(words: readonly CommandWord[]): number | undefined {
  const [program, second] = words;
  const subcommands = RUNNERS.get(program?.text ?? "");
  if (!subcommands) return undefined;
  const hasSubcommand = !subcommands.includes("");
  if (hasSubcommand && !subcommands.includes(second?.text ?? "")) return undefined;
  let at = hasSubcommand ? 2 : 1;
  while (HARMLESS.test(words[at]?.text ?? "")) at++;
  const name = words[at]?.text ?? "";
  return PACKAGE.test(name) && commandName(name) !== "" ? at + 1 : undefined;
}
