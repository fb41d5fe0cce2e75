import type { AccessNeed, ApprovalRequest, ToolKind } from "@agent/core";
import type { UserDecision } from "@agent/core/host";
import { parseRule } from "@agent/core/host";
import { countOf, escapeToLine, misreadings, spellOut } from "@agent/internal";
import { type DiffLines, diffLines } from "../display/fileDiff.js";
import { shownPath } from "../text/safeText.js";
import type { Style } from "../text/style.js";
import { wrapLine } from "../text/width.js";
import { MODE_NAMES } from "./mode.js";

export const NO_REASON = "the user said no.";
// A longer value fills more than a screen, which scrolls its start away: print its length.
const LONG_TEXT = 1500;
const LONG_LINES = 15;
// The maximum length shown: users do not read more, and terminals print it slowly.
const LONGEST_SHOWN = 20_000;
const MOST_DIFF_LINES = 200;
const LONGEST_TITLE = 80;
/** The verb for a call's title, by its kind. */
const VERBS: Readonly<Partial<Record<ToolKind, string>>> = {
  read: "Read",
  edit: "Change",
  delete: "Delete",
  move: "Move",
  search: "Search for",
  fetch: "Fetch",
};
const CONTINUED = "│   ";

type AskedCall = Pick<ApprovalRequest, "name" | "args" | "description" | "preview" | "label" | "directory">;

/**
 * The whole call as it will run, its changes, and the access it needs. Invisible characters, and those that reorder
 * text, are escaped; characters that look like others are named. A long value is shown with its length, its start and
 * its end.
 */
export function approvalLines(request: AskedCall, style: Style): string[] {
  return [
    ...callLines(request, style),
    ...changeLines(request, style).lines.map((line) => `│ ${line}`),
    ...needLines(request, style),
  ];
}

/** The same as terminal rows. Wrapped rows are indented to the right of the bar, or of a diff's sign. */
export function approvalRows(request: AskedCall, style: Style, width: number): string[] {
  const wrap = (line: string): string[] => {
    const [first = "", ...rest] = wrapLine(line, width - CONTINUED.length);
    return [first, ...rest.map((row) => CONTINUED + row)];
  };
  const { lines, indent } = changeLines(request, style);
  return [
    ...callLines(request, style).flatMap(wrap),
    ...lines.flatMap((line) => wrapLine(line, width - 2, indent).map((row) => `│ ${row}`)),
    ...needLines(request, style).flatMap(wrap),
  ];
}

/** The question, depending on what the call does: `Apply this edit to lib/request.js?`, `Run this command?`. */
export function questionText({ name, description, preview }: AskedCall): string {
  const [change, ...others] = preview?.changes ?? [];
  if (change && others.length > 0) return `Apply these changes to ${others.length + 1} files?`;
  if (change) {
    const path = shownPath(spellOut(change.path));
    switch (change.change) {
      case "created":
        return `Create ${path}?`;
      case "edited":
        return `Apply this edit to ${path}?`;
      case "deleted":
        return `Delete ${path}?`;
      case "moved":
        return `Move ${shownPath(spellOut(change.oldPath ?? ""))} to ${path}?`;
    }
  }
  if (description.kind === "execute") return "Run this command?";
  const title = shortened(escapeToLine(spellOut(description.title)));
  const verb = VERBS[description.kind];
  return verb === undefined || title === "" ? `Run ${escapeToLine(spellOut(name))}?` : `${verb} ${title}?`;
}

function shortened(title: string): string {
  return title.length > LONGEST_TITLE ? `${title.slice(0, LONGEST_TITLE).toWellFormed()}…` : title;
}

/** The call and its arguments, without those that the diff makes redundant. */
function callLines({ name, args, preview, label: agent, directory }: AskedCall, style: Style): string[] {
  const who = agent === undefined ? "" : `${style.bold(escapeToLine(spellOut(agent)))} asks: `;
  const lines = [`${style.yellow("?")} ${who}${style.bold(escapeToLine(spellOut(name)))}`];
  if (directory !== undefined) {
    lines.push(`│ ${style.dim("in its work tree:")} ${shownPath(spellOut(directory))}`);
  }
  const entries = Object.entries(args).filter(
    ([key]) => preview?.changes.length === 0 || !preview?.shows?.includes(key),
  );
  if (entries.length === 0) lines.push("│ (no arguments)");
  for (const [key, value] of entries) {
    const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
    const [first = "", ...rest] = shownText(text).split("\n");
    const label = escapeToLine(spellOut(key));
    lines.push(`│ ${style.dim(`${label}:`)} ${first}`, ...rest.map((line) => `│   ${line}`));
    lines.push(...remarks(label, text).map((remark) => `│ ${style.yellow(remark)}`));
  }
  return lines;
}

function needLines({ description }: AskedCall, style: Style): string[] {
  const { needs, caution } = description;
  const warnings = [...needs.map(describeNeed), ...(caution === undefined ? [] : [escapeToLine(caution)])];
  return warnings.map((warning) => `│ ${style.yellow(`! ${warning}`)}`);
}

/** The access a call needs, with the whole path: `it writes /home/me/.bashrc (outside the project)`. */
export function describeNeed({ kind, path, reason }: AccessNeed): string {
  return `it ${kind}s ${escapeToLine(spellOut(path))} (${escapeToLine(reason)})`;
}

export function approvalPrompt(call: AskedCall): string {
  const name = escapeToLine(call.name);
  return `${questionText(call)} y = yes, n = no, n and a reason, a = always run ${name} in this chat`;
}

/** Parses an answer. An unclear one is `undefined`: approval is never guessed. */
export function readDecision(answer: string, name: string): UserDecision | undefined {
  const text = answer.trim();
  if (/^(y|yes)$/i.test(text)) return "allow";
  if (/^(a|always)$/i.test(text)) return { always: name, scope: "session" };
  // Without punctuation after it, "no" is the first word of the reason: `no force push please`.
  const no = /^(?:no?$|n[\s,:]+|no\s*[,:]|(?=no\s))(.*)$/is.exec(text);
  return no ? { deny: denial(no[1] ?? "") } : undefined;
}

/** The user's decision as shown in the conversation: `always in this project: run_bash(npm test *)`. */
export function decisionText(decision: UserDecision): string {
  if (decision === "allow") return "yes";
  if ("deny" in decision) {
    if (decision.deny === NO_REASON) return "no";
    return /^no\b/i.test(decision.deny) ? decision.deny : `no: ${decision.deny}`;
  }
  if ("mode" in decision) return `mode: ${MODE_NAMES[decision.mode]}`;
  const { always, scope } = decision;
  return `always in this ${scope}: ${parseRule(always).exact ? "exactly this call" : always}`;
}

/** The message to the model after a denial. */
export function denial(reason: string): string {
  return reason.trim() || NO_REASON;
}

function changeLines({ preview }: AskedCall, style: Style): DiffLines {
  const { lines, indent } = diffLines(preview?.changes ?? [], style, spellOut);
  const left = lines.length - MOST_DIFF_LINES;
  if (left <= 0) return { lines, indent };
  const notice = style.yellow(`! ${countOf(left, "more line")} of the change are not shown here`);
  return { lines: [...lines.slice(0, MOST_DIFF_LINES), notice], indent };
}

/** The whole text, or its start and its end. */
function shownText(text: string): string {
  if (text.length <= LONGEST_SHOWN) return spellOut(text);
  const half = LONGEST_SHOWN / 2;
  const left = text.length - LONGEST_SHOWN;
  const [start, end] = [text.slice(0, half), text.slice(-half)].map((part) => spellOut(part.toWellFormed()));
  return `${start}\n[… ${left} characters are not shown here …]\n${end}`;
}

function remarks(label: string, text: string): string[] {
  const lines = text.split("\n").length;
  const found: string[] = [];
  if (text.length > LONG_TEXT || lines > LONG_LINES) {
    const hidden = text.length > LONGEST_SHOWN ? ", not all of it shown" : "";
    found.push(`! ${label} is long: ${text.length} characters on ${countOf(lines, "line")}${hidden}`);
  }
  return [...found, ...misreadings(label, text).map((remark) => `! ${remark}`)];
}
