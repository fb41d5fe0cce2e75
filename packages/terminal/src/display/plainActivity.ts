import type { AgentEvent, ChildEvent, ToolEndEvent } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { PLAIN_STYLE } from "../text/style.js";
import { cutToWidth } from "../text/width.js";
import { ChildCalls } from "./innerCalls.js";
import { contextText, noticeText, retryText } from "./notices.js";
import { resultBody, verdictText } from "./resultBody.js";

const LONGEST_TITLE = 200;
const LONGEST_REASON = 500;
const MOST_REASON_LINES = 3;
// For the other outcomes the status is enough.
const HAS_REASON: ReadonlySet<string> = new Set(["error", "denied"]);

/**
 * Prints tool calls as plain lines, for a pipe or a log: one when a call starts, and one when it ends, preceded by the
 * reason if it failed. A call that never started has only the second. Calls of scripts are indented. No escape code
 * reaches `write`, whatever a tool or a model prints. The answer is not printed.
 */
export function plainActivity(write: (text: string) => void): (event: AgentEvent) => void {
  const titles = new Map<string, string>();
  const children = new ChildCalls();
  return (event) => {
    const known =
      event.type === "tool_requested" ? event.title : "about" in event ? event.about?.title : undefined;
    if (known !== undefined && "id" in event) {
      titles.set(event.id, cutToWidth(escapeToLine(known), LONGEST_TITLE));
    }
    const indent = "parent" in event && event.parent !== undefined ? "  " : "";
    if (event.type === "tool_start") {
      write(`${indent}${line("●", event.name, titles.get(event.id) ?? "")}  executing…\n`);
    }
    if (event.type === "tool_end") {
      const title = titles.get(event.id) ?? "";
      titles.delete(event.id);
      const end = `${line("└", event.name, title)}  ${verdictText(event, event.durationMs, PLAIN_STYLE)}`;
      write([...reasonLines(event), end].map((text) => `${indent}${text}\n`).join(""));
    }
    if (event.type === "child") for (const text of childLines(event, children)) write(`${text}\n`);
    if (event.type === "retry") write(`${retryText(event, false)}\n`);
    if (event.type === "context") write(`${contextText(event)}\n`);
    if (event.type === "notice") write(`${noticeText(event)}\n`);
  };
}

/** The end of a call of a child agent: `  └ worker: edit_file  a.ts  ✓ +3 −1 · 0.1s`, below why it failed. */
export function childLines(event: ChildEvent, calls: ChildCalls): string[] {
  const ended = calls.ended(event);
  if (!ended) return [];
  const { agent = `agent ${event.child + 1}`, event: end } = ended;
  const title = cutToWidth(escapeToLine(ended.title), LONGEST_TITLE);
  const verdict = verdictText(end, end.durationMs, PLAIN_STYLE);
  return [...reasonLines(end), `${line("└", `${agent}: ${end.name}`, title)}  ${verdict}`].map(
    (text) => `  ${text}`,
  );
}

/** The part of a failed call's output that explains the failure: the end for a command, else the start. Else nothing. */
function reasonLines(event: ToolEndEvent): string[] {
  if (!HAS_REASON.has(event.outcome)) return [];
  const { lines, fromEnd } = resultBody(event, PLAIN_STYLE, LONGEST_REASON);
  const shown = fromEnd ? lines.slice(-MOST_REASON_LINES) : lines.slice(0, MOST_REASON_LINES);
  return shown.map((text) => `│ ${cutToWidth(text, LONGEST_REASON)}`);
}

function line(mark: string, name: string, title: string): string {
  return title === "" ? `${mark} ${escapeToLine(name)}` : `${mark} ${escapeToLine(name)}  ${title}`;
}
