import { readFileSync } from "node:fs";
import type { SessionChoices } from "@agent/acp";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { choicesFile } from "../assembly/sessions.js";

/**
 * What the user of an editor chose in a kept session. A file that cannot be read counts as read-only: a session that
 * may have been read-only must not write after it is loaded.
 */
export function readChoices(sessionFile: string): SessionChoices | undefined {
  let text: string;
  try {
    text = readFileSync(choicesFile(sessionFile), "utf8");
  } catch (error) {
    // The user chose nothing.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { mode: "read-only" };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return { mode: "read-only" };
    const { mode, model, effort } = value;
    return {
      mode: typeof mode === "string" ? mode : "read-only",
      ...(typeof model === "string" && { model }),
      ...(typeof effort === "string" && { effort }),
    };
  } catch {
    return { mode: "read-only" };
  }
}

export async function saveChoices(sessionFile: string, choices: SessionChoices): Promise<void> {
  await writeFileAtomic(choicesFile(sessionFile), `${JSON.stringify(choices)}\n`, { follow: false });
}
