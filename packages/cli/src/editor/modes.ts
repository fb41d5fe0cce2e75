import type { ModeChoice, SessionMode } from "@agent/acp";
import { MODES, type Mode } from "@agent/core/host";
import { MODE_HELP } from "@agent/terminal/host";
import type { Permissions } from "../permissions/permissions.js";

const NAMES: Readonly<Record<Mode, Pick<SessionMode, "id" | "name">>> = {
  plan: { id: "read-only", name: "Read only" },
  ask: { id: "ask", name: "Ask" },
  edits: { id: "edits", name: "Accept edits" },
  auto: { id: "auto", name: "Auto" },
};

/** The command's modes as an editor knows them. "Accept edits" is there for those whose configuration starts in it. */
export function editorModes(permissions: Permissions): ModeChoice {
  const offered: readonly Mode[] =
    permissions.mode === "edits" ? MODES : MODES.filter((mode) => mode !== "edits");
  return {
    get current() {
      return NAMES[offered.includes(permissions.mode) ? permissions.mode : "ask"].id;
    },
    available: offered.map((mode) => ({ ...NAMES[mode], description: capitalized(MODE_HELP[mode]) })),
    choose: (id) => {
      const chosen = offered.find((mode) => NAMES[mode].id === id);
      if (chosen) permissions.mode = chosen;
    },
  };
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}
