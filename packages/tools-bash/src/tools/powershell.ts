import { type CallDescription, defineTool, type PermissionLanguage } from "@agent/core";
import { canonicalPath, errorMessage } from "@agent/core/toolkit";
import { checkedCommand, checkedDirectory, currentDirectory, PLACE_INPUT } from "../command/arguments.js";
import { checkedEnv } from "../command/environment.js";
import { findPowerShell, type WindowsShell } from "../windows/shells.js";
import type { SharedRunner } from "./bash.js";
import { powershellRefusal } from "./commandRunner.js";

const INPUT = {
  type: "object",
  properties: {
    command: { type: "string", description: "The command, in the language of PowerShell" },
    ...PLACE_INPUT,
  },
  required: ["command"],
  additionalProperties: false,
} as const;

/** PowerShell commands are not parsed: a rule covers the whole tool or exactly one command. */
const WHOLE_COMMANDS: PermissionLanguage = {
  check: (pattern) =>
    `commands of PowerShell are not parsed, so a rule can only name the whole command: "run_powershell(=${pattern})"`,
  match: (patterns, targets) => patterns.map(() => targets.map(() => "maybe" as const)),
};

/** Creates `run_powershell`, for Windows without a bash. Its results are those of `run_bash`. */
export function createRunPowershell(runner: SharedRunner, find = findPowerShell) {
  const { settings } = runner;
  const findShell = (): WindowsShell => {
    const found = find();
    if (found === undefined) throw new Error("There is no PowerShell on this machine. Nothing was run.");
    return found;
  };
  return defineTool({
    name: "run_powershell",
    description:
      "Run a command in PowerShell and get JSON with stdout, stderr and exit_code. It can change or destroy anything the user can: prefer the other tools for reading, searching and editing files. There is no terminal and no input. Start nothing in the background.",
    input: INPUT,
    capabilities: ["execute"],
    kind: "execute",
    titleFrom: "command",
    permissions: WHOLE_COMMANDS,
    // The tool enforces its own time limit: see `timeout`.
    deadlineMs: Number.POSITIVE_INFINITY,
    describe: (input): CallDescription => {
      try {
        const text = checkedCommand(input);
        const cwd = checkedDirectory(input, settings.directory);
        checkedEnv(input.env);
        const refusal = powershellRefusal(settings.policy);
        const isElsewhere = canonicalPath(cwd) !== canonicalPath(currentDirectory(settings.directory));
        return {
          targets: [{ type: "command", text, open: true, ...(isElsewhere && { cwd }) }],
          ...(refusal !== undefined && { refusal }),
        };
      } catch (error) {
        return error instanceof Error && "code" in error ? {} : { refusal: errorMessage(error) };
      }
    },
    execute: async (input, call) => await runner.ready().run(input, call, findShell),
  });
}
