import type { ApprovalRequest } from "@agent/core";
import type { SessionModeState } from "@agentclientprotocol/sdk";

export type ModeId = "read-only" | "ask" | "auto";

const MODES: readonly { readonly id: ModeId; readonly name: string; readonly description: string }[] = [
  { id: "read-only", name: "Read only", description: "Tools that could change something are refused" },
  { id: "ask", name: "Ask", description: "Asks before every call that could change something" },
  { id: "auto", name: "Auto", description: "Asks only for what goes beyond the project" },
];

export const DEFAULT_MODE: ModeId = "ask";

export function modeState(current: ModeId): SessionModeState {
  return { currentModeId: current, availableModes: MODES.map((mode) => ({ ...mode })) };
}

export function findMode(id: string): ModeId | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

/** What a mode says about a call, before anybody is asked. */
export function decideByMode(
  mode: ModeId,
  { capabilities, needs }: ApprovalRequest,
): "allow" | "ask" | "refuse" {
  const reads = capabilities.length > 0 && capabilities.every((one) => one === "read");
  if (reads && needs.length === 0) return "allow";
  if (mode === "read-only") return reads ? "ask" : "refuse";
  return mode === "auto" && needs.length === 0 ? "allow" : "ask";
}
