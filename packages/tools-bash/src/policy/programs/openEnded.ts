import { commandName } from "../rules.js";
import { isInterpreter } from "./interpreters.js";
import { wordSet } from "./program.js";

// Programs whose arguments are a language of their own, in which a word or two can mean anything. Those that plainly run
// another command are not here: the policy sees that in the command itself.
const PROGRAMS = wordSet(
  "awk c8 docker docker-compose emacs fd find gawk gmake just kubectl make mawk nawk nc ncat nyc ocaml podman rsync sed socat tar",
);
// Without a subcommand their options can be followed by any of them.
const NEED_SUBCOMMAND = wordSet("git npm pnpm yarn");
// Subcommands that bring code along and run it, or write where later commands find what to run.
const SUBCOMMANDS: readonly (readonly [program: RegExp, subcommand: RegExp])[] = [
  [
    /^(npm|pnpm|yarn|corepack)$/,
    /^(exec|x|dlx|explore|node|init|create|install|i|add|update|up|upgrade|link|config|set)$/,
  ],
  [/^(pip|pip3|gem|cargo|go|brew|apt|apt-get|composer|uv|poetry)$/, /^(install|add|get|generate)$/],
  [
    /^(uv|poetry|pipenv|pipx|rye|hatch|pdm|conda|mamba|nix|mise|asdf|rustup|bundle|composer|dotnet|go)$/,
    /^(run|exec|x|tool|shell|develop)$/,
  ],
  // These run a command given as an option (`--upload-pack`, `--exec`, `-O`) or kept in the configuration.
  [
    /^git$/,
    /^(archive|bisect|clone|config|difftool|fetch|fetch-pack|filter-branch|for-each-repo|grep|hook|init|ls-remote|merge-index|mergetool|pull|push|rebase|remote|send-email|send-pack|submodule|worktree)$/,
  ],
];

/** Whether a program, or its subcommand, does whatever its further arguments say. */
export function isOpenEnded([first = "", subcommand]: readonly string[]): boolean {
  const program = commandName(first);
  if (PROGRAMS.has(program) || isInterpreter(program)) return true;
  if (subcommand === undefined) return NEED_SUBCOMMAND.has(program);
  return SUBCOMMANDS.some(([programs, names]) => programs.test(program) && names.test(subcommand));
}
