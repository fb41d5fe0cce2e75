import type { ModeChoice, SessionMode } from "@agent/acp";
import type { Mode } from "../permissions/mode.js";
import type { Permissions } from "../permissions/permissions.js";

const MODES: readonly (SessionMode & { readonly mode: Mode })[] = [
  {
    id: "read-only",
    name: "Read only",
    description: "Only tools that read; nothing can be changed",
    mode: "plan",
  },
  { id: "ask", name: "Ask", description: "Asks before anything is changed, run or fetched", mode: "ask" },
  { id: "auto", name: "Auto", description: "Asks only what the configuration says", mode: "auto" },
];
const EDITS: (typeof MODES)[number] = {
  id: "edits",
  name: "Accept edits",
  description: "Edits files in the project; asks before anything else",
  mode: "edits",
};

/** The command's modes as an editor knows them. "Accept edits" is there for those whose configuration starts in it. */
export function editorModes(permissions: Permissions): ModeChoice {
  const modes = permissions.mode === "edits" ? [...MODES, EDITS] : MODES;
  return {
    get current() {
      return modes.find(({ mode }) => mode === permissions.mode)?.id ?? "ask";
    },
    available: modes.map(({ mode: _, ...shown }) => shown),
    choose: (id) => {
      const chosen = modes.find((mode) => mode.id === id);
      if (chosen) permissions.mode = chosen.mode;
    },
  };
}
