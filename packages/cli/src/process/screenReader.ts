import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { stateDirectory } from "./paths.js";

/**
 * Turns screen-reader mode on if the user's config had it on when the last chat started: the first prompt is drawn
 * before a config is read. `AGENT_SCREEN_READER` takes precedence.
 */
export function recallScreenReader(): void {
  if (process.env.AGENT_SCREEN_READER !== undefined) return;
  try {
    if (existsSync(markFile())) process.env.AGENT_SCREEN_READER = "1";
  } catch {
    // The directory belongs to another user: code that needs it first reports that.
  }
}

/** Stores the config's setting for the next start. Returns a line for the user if that has changed. */
export function rememberScreenReader(isOn: boolean): string | undefined {
  const file = markFile();
  if (existsSync(file) === isOn) return undefined;
  try {
    if (isOn) {
      ensurePrivateDirectory(stateDirectory());
      writeFileSync(file, "", { mode: 0o600 });
    } else rmSync(file, { force: true });
  } catch {
    return isOn ? "Screen-reader mode could not be saved. Start with: agent --screen-reader" : undefined;
  }
  return `Screen-reader mode is ${isOn ? "on" : "off"} from the next start on, as screenReader in the config says.`;
}

function markFile(): string {
  return join(stateDirectory(), "screen-reader");
}
