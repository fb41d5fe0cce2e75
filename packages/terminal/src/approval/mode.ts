import type { Mode } from "@agent/core/host";

export const MODE_NAMES: Readonly<Record<Mode, string>> = {
  plan: "plan",
  ask: "ask",
  edits: "accept edits",
  auto: "auto",
};

export const MODE_HELP: Readonly<Record<Mode, string>> = {
  plan: "only tools that read are available; nothing can be changed",
  ask: "asks before anything is changed, run or fetched",
  edits: "edits files in the project; asks before anything else",
  auto: "asks only if the configuration requires it",
};

/** Sent to the model in plan mode: otherwise it would not know why tools are missing. */
export const PLAN_NOTE =
  "You are in plan mode: only tools that read are available. Find out what is needed, then present a plan: with present_plan if you have that tool, else as your answer. The user leaves plan mode when it is to be carried out.";
