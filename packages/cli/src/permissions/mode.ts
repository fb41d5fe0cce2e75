import type { ToolCapability, ToolInfo } from "@agent/core";

/** How much the agent may do without asking, from the least to the most. */
export const MODES = ["plan", "ask", "edits", "auto"] as const;
export type Mode = (typeof MODES)[number];

export const MODE_NAMES: Readonly<Record<Mode, string>> = {
  plan: "plan",
  ask: "ask",
  edits: "accept edits",
  auto: "auto",
};

export const MODE_HELP: Readonly<Record<Mode, string>> = {
  plan: "only tools that read; nothing can be changed",
  ask: "asks before anything is changed, run or fetched",
  edits: "edits files in the project; asks before anything else",
  auto: "asks only what the configuration says",
};

/** Sent to the model in plan mode: the missing tools alone do not tell it why they are missing. */
export const PLAN_NOTE =
  "You are in plan mode: only tools that read are available. Find out what is needed, then answer with a plan. The person leaves plan mode when it is to be carried out.";

export function nextMode(mode: Mode): Mode {
  return MODES[(MODES.indexOf(mode) + 1) % MODES.length] ?? "ask";
}

export function onlyReads(capabilities: readonly ToolCapability[]): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read");
}

export function onlyEdits(capabilities: readonly ToolCapability[]): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read" || one === "write");
}

/**
 * The mode that matches the configuration: "accept edits" if every tool that does more than edit asks first, "auto" if
 * the person configured such a tool to run without a question.
 */
export function modeOf(tools: readonly ToolInfo[], confirm: ReadonlySet<string>): Mode {
  const runs = tools.some(
    ({ name, enabled, capabilities }) => enabled && !onlyEdits(capabilities) && !confirm.has(name),
  );
  return runs ? "auto" : "edits";
}
