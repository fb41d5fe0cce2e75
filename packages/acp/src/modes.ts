import type { ApprovalRequest } from "@agent/core";
import type { ModeChoice, SessionMode } from "./host.js";

type ModeId = "read-only" | "ask" | "auto";

/** The modes of a session whose host has none of its own. */
const MODES: readonly (SessionMode & { readonly id: ModeId })[] = [
  { id: "read-only", name: "Read only", description: "Tools that could change something are refused" },
  { id: "ask", name: "Ask", description: "Asks before every call that could change something" },
  { id: "auto", name: "Auto", description: "Asks only for what goes beyond the project" },
];

/** Decides about calls by the mode alone, for an agent without approval rules. */
export class BuiltInModes implements ModeChoice {
  readonly available = MODES;
  current: ModeId = "ask";

  choose(id: string): void {
    this.current = MODES.find((mode) => mode.id === id)?.id ?? this.current;
  }

  /** The decision of the mode about a call; `ask` means that the user decides. */
  decide({ capabilities, description: { needs, caution } }: ApprovalRequest): "allow" | "ask" | "refuse" {
    const reads = capabilities.length > 0 && capabilities.every((one) => one === "read");
    if (reads && needs.length === 0) return "allow";
    if (this.current === "read-only") return reads ? "ask" : "refuse";
    return this.current === "auto" && needs.length === 0 && caution === undefined ? "allow" : "ask";
  }
}
