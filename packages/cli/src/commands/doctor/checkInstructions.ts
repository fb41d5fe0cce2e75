import type { Diagnosis } from "@agent/core";
import { isInside } from "@agent/internal";
import { findInstructions, InstructionConsent, instructionSize } from "../../instructions/instructions.js";
import { configDirectory } from "../../process/paths.js";

/**
 * Lists each instruction file (AGENTS.md and similar) that a model gets here, with its size and the user's consent for
 * a project's.
 */
export function checkInstructions(cwd: string): Diagnosis[] {
  const { answer } = new InstructionConsent(cwd);
  const found = findInstructions(cwd);
  if (found.length === 0) return [{ subject: "instructions", ok: true, detail: "none (AGENTS.md)" }];
  return found.map((one) => {
    const isOwn = isInside(configDirectory(), one.file);
    const use =
      isOwn || answer === true
        ? "used"
        : answer === false
          ? "not used, as you chose. To use it: /instructions on, in a chat"
          : "used without a terminal; in one you are asked first";
    return { subject: "instructions", ok: true, detail: `${one.file} (${instructionSize(one)}), ${use}` };
  });
}
