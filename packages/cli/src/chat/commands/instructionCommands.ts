import { relative } from "node:path";
import { escapeToLine, isInside } from "@agent/internal";
import type { SlashCommand } from "@agent/terminal/host";
import type { AssembledAgent } from "../../assembly/assembleAgent.js";
import { findInstructions, InstructionConsent, instructionSize } from "../../instructions/instructions.js";

const CHANGE =
  "/instructions on uses the project's instructions here from now on, /instructions off does not.";

type Used = Pick<AssembledAgent, "instructions" | "useInstructions">;

/** The command about instructions for agents: AGENTS.md and similar files. */
export function instructionCommands(assembled: Used): Readonly<Record<string, SlashCommand>> {
  return {
    "/instructions": {
      usage: "/instructions [on|off]",
      help: "show the instruction files (AGENTS.md); or use the project's, or not",
      words: () => ["on", "off"],
      run: (argument) => showOrSwitch(argument, assembled),
    },
  };
}

async function showOrSwitch(argument: string, assembled: Used): Promise<readonly string[]> {
  if (argument !== "" && argument !== "on" && argument !== "off")
    return ["Use /instructions, /instructions on or /instructions off."];
  if (argument === "") return [...instructionLines(assembled), CHANGE];
  const use = argument === "on";
  await new InstructionConsent(process.cwd()).remember(use);
  assembled.useInstructions(use ? "all" : "own");
  return [
    `The project's instructions are ${use ? "used" : "not used"} here from now on.`,
    ...instructionLines(assembled),
  ];
}

/** Every file with its size, and whether the model gets it. */
function instructionLines({ instructions }: Used): string[] {
  const cwd = process.cwd();
  const used = new Map(instructions.map((one) => [one.file, one]));
  const others = findInstructions(cwd).filter(({ file }) => !used.has(file));
  const all = [...instructions, ...others];
  if (all.length === 0) return ["There are no instructions (AGENTS.md) here."];
  return all.map((one) => {
    const name = isInside(cwd, one.file) ? relative(cwd, one.file) : one.file;
    return `  ${escapeToLine(name)}  ${instructionSize(one)}  ${used.has(one.file) ? "used" : "not used"}`;
  });
}
