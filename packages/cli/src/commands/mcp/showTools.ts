import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type * as Manage from "@agent/tools-mcp/manage";
import type { LockedServer, ToolDifferences } from "@agent/tools-mcp/manage";
import { note } from "../../process/output.js";

const SHOWN_BEFORE_DIFFERENCE = 60;
const MAX_DESCRIPTION_BYTES = 1000;
const MAX_DIFFERENCE_BYTES = 4000;
const MOST_SET_ASIDE = 20;

/** Prints a server's tools, or how they differ from the approved ones. */
export function showTools(
  server: string,
  { added, removed, changed }: ToolDifferences,
  { differingParts }: Pick<typeof Manage, "differingParts">,
): void {
  for (const { tool, description } of added)
    note(`+ ${server} ${escapeToLine(tool)}: ${shown(description, MAX_DESCRIPTION_BYTES)}`);
  for (const { tool } of removed) note(`- ${server} ${escapeToLine(tool)}`);
  for (const { before, after } of changed) {
    note(`~ ${server} ${escapeToLine(after.tool)}`);
    for (const one of differingParts(before, after)) {
      const from = Math.max(0, firstDifference(one.before, one.after) - SHOWN_BEFORE_DIFFERENCE);
      note(`    ${one.part} was: ${shownFrom(one.before, from)}`);
      note(`    ${one.part} is now: ${shownFrom(one.after, from)}`);
    }
  }
}

/** Prints the tools of a server that cannot be used, and why. */
export function showSetAside(server: string, { setAside }: Pick<LockedServer, "setAside">): void {
  for (const { tool, reason } of setAside.slice(0, MOST_SET_ASIDE))
    note(`! ${server} ${escapeToLine(tool)} cannot be used: ${shown(reason, MAX_DESCRIPTION_BYTES)}`);
  const left = setAside.length - MOST_SET_ASIDE;
  if (left > 0) note(`! ${left} more cannot be used: agent mcp check ${server}`);
}

/** Prints a server's instructions for the model, or how they differ from the approved ones. */
export function showInstructions(
  server: string,
  before: string | undefined,
  after: string | undefined,
): void {
  if (before === after) return;
  if (before !== undefined) note(`- ${server} tells the model: ${shown(before, MAX_DIFFERENCE_BYTES)}`);
  if (after !== undefined) note(`+ ${server} tells the model: ${shown(after, MAX_DIFFERENCE_BYTES)}`);
}

function shownFrom(text: string, from: number): string {
  return `${from > 0 ? "…" : ""}${shown(text.slice(from), MAX_DIFFERENCE_BYTES)}`;
}

/** A text on one line. Omissions are marked: a user must know that there is more to approve. */
function shown(text: string, maxBytes: number): string {
  const start = truncateUtf8(text, maxBytes);
  const left = text.length - start.length;
  return `${escapeToLine(start)}${left > 0 ? `… (${left} more characters: --json has them)` : ""}`;
}

function firstDifference(before: string, after: string): number {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  return at;
}
