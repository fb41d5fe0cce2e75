import type { ApprovalDecision, ApprovalRequest } from "@agent/core";
import { escapeInvisible, escapeToLine } from "@agent/core/toolkit";
import type { Style } from "../display/style.js";

const NO_REASON = "the user said no.";

/** The whole call as it will run. Characters that cannot be seen, or reorder what is seen, are spelled out. */
export function approvalLines({ name, args }: ApprovalRequest, style: Style): string[] {
  const lines = [`${style.yellow("?")} ${style.bold(escapeToLine(name))} wants to run with`];
  const entries = Object.entries(args);
  if (entries.length === 0) return [...lines, "│ (no arguments)"];
  for (const [key, value] of entries) {
    const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
    const [first = "", ...rest] = escapeInvisible(text).split("\n");
    lines.push(`│ ${style.dim(`${escapeToLine(key)}:`)} ${first}`, ...rest.map((line) => `│   ${line}`));
  }
  return lines;
}

export function approvalPrompt(name: string): string {
  return `Run it? y = yes, n = no, n and a reason, a = always run ${escapeToLine(name)} in this chat`;
}

/** Reads an answer. Anything but a clear one is `undefined`: what runs is never guessed. */
export function readDecision(answer: string): ApprovalDecision | undefined {
  const text = answer.trim();
  if (/^(y|yes)$/i.test(text)) return "allow";
  if (/^(a|always)$/i.test(text)) return "always";
  const no = /^(?:n|no)(?:[\s,:]+(.*))?$/is.exec(text);
  return no ? { deny: no[1]?.trim() || NO_REASON } : undefined;
}
