import { type CommandWord, commandName } from "../rules.js";
import { readAwk } from "./awk.js";
import { readBuiltin } from "./builtins.js";
import { readFind } from "./find.js";
import { readGit } from "./git.js";
import { readHooks } from "./hooks.js";
import { readInterpreter } from "./interpreters.js";
import { readLauncher } from "./launchers.js";
import { readMake } from "./make.js";
import type { Inside, ProgramReader } from "./program.js";
import { readRunner } from "./runners.js";
import { readSed } from "./sed.js";
import { readShell } from "./shells.js";
import { readWrapper } from "./wrappers.js";

// The tables behind these readers are incomplete: no one can list every program that runs another one. For more
// than a guard rail, use `allow` and the sandbox.
const READERS: readonly ProgramReader[] = [
  readWrapper,
  readLauncher,
  readRunner,
  readShell,
  readBuiltin,
  readFind,
  readAwk,
  readSed,
  readInterpreter,
  readMake,
  readGit,
  readHooks,
];

/** The commands that a command runs besides its own program. Throws `Unresolvable` if its arguments do not tell. */
export function inside(command: readonly CommandWord[]): Required<Inside> {
  const name = commandName(command[0]?.text ?? "");
  const parameters = command.slice(1);
  const found = READERS.map((read) => read(name, parameters) ?? {});
  return {
    scripts: found.flatMap(({ scripts = [] }) => scripts),
    commands: found.flatMap(({ commands = [] }) => commands),
    launched: found.flatMap(({ launched = [] }) => launched),
  };
}
