import type { Command } from "commander";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { print } from "../process/output.js";

/** The completions after a command: its subcommands and flags. */
interface Words {
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly flags: readonly { readonly name: string; readonly description: string }[];
}

const SHELLS: Readonly<Record<string, (words: readonly Words[]) => string>> = { bash, zsh, fish };

/** `agent completion`: generates the script from the commands and flags themselves, so that it is never out of date. */
export function completionCommand(shell: string, program: Command): ExitCode {
  const script = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
  if (!script)
    throw new CliError(`completion: the shell must be ${Object.keys(SHELLS).join(", ")}, got "${shell}".`);
  print(script(collectWords(program, "agent")));
  return EXIT.done;
}

function collectWords(command: Command, path: string): Words[] {
  const commands = command.commands.map((one) => ({ name: one.name(), description: one.description() }));
  const flags = command.options.map(({ long, description }) => ({ name: long ?? "", description }));
  const below = command.commands.flatMap((one) => collectWords(one, `${path} ${one.name()}`));
  return [{ path, commands, flags: [...flags, { name: "--help", description: "print help" }] }, ...below];
}

function bash(words: readonly Words[]): string {
  // A command's subcommands come after it in `words`, and before it in the cases. The space distinguishes "tool" from
  // "tools".
  const cases = words
    .filter(({ path }) => path !== "agent")
    .map((one) => `    "${one.path} "*) options="${names(one)}" ;;`)
    .reverse();
  const root = words[0];
  return `_agent() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line="\${COMP_WORDS[*]:0:COMP_CWORD} " options
  case "$line" in
${cases.join("\n")}
    *) options="${root ? names(root) : ""}" ;;
  esac
  COMPREPLY=($(compgen -W "$options" -- "$current"))
}
complete -o default -F _agent agent
`;
}

function zsh(words: readonly Words[]): string {
  return `autoload -U +X bashcompinit && bashcompinit
${bash(words)}`;
}

function fish(words: readonly Words[]): string {
  const lines = words.flatMap(({ path, commands, flags }) => {
    const [, ...before] = path.split(" ");
    const when =
      before.length === 0
        ? "__fish_use_subcommand"
        : before.map((name) => `__fish_seen_subcommand_from ${name}`).join("; and ");
    return [
      ...commands.map(
        ({ name, description }) => `complete -c agent -n '${when}' -f -a ${name} -d '${quoted(description)}'`,
      ),
      ...flags.map(
        ({ name, description }) =>
          `complete -c agent -n '${when}' -l ${name.replace(/^--/, "")} -d '${quoted(description)}'`,
      ),
    ];
  });
  return `${lines.join("\n")}\n`;
}

function names({ commands, flags }: Words): string {
  return [...commands, ...flags].map(({ name }) => name).join(" ");
}

function quoted(text: string): string {
  return text.replaceAll("'", "\\'");
}
