import type { AgentEvent } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { callTitle } from "./callTitle.js";
import { contextText, noticeText, retryText } from "./notices.js";
import { PLAIN_STYLE } from "./style.js";
import { judge, type ToolVerdict, verdictText } from "./toolResult.js";
import { cutToWidth } from "./width.js";

const LONGEST_TITLE = 200;
const LONGEST_REASON = 500;
const MOST_REASON_LINES = 3;
// For the other outcomes the verdict says enough.
const HAS_REASON: ReadonlySet<string> = new Set(["error", "denied"]);

/**
 * Prints the work of tools in plain lines, for a pipe or a log: one when a call starts, and one when it ends, after the
 * reason if it failed. A call that never started has only the second. No escape code reaches `write`, whatever a tool
 * or a model prints. The answer is not printed.
 */
export function plainActivity(write: (text: string) => void): (event: AgentEvent) => void {
  const titles = new Map<string, string>();
  return (event) => {
    if (event.type === "tool_requested" || event.type === "tool_start") {
      titles.set(event.id, cutToWidth(callTitle(event.args), LONGEST_TITLE));
    }
    if (event.type === "tool_start") {
      write(`${line("●", event.name, titles.get(event.id) ?? "")}  executing…\n`);
    }
    if (event.type === "tool_end") {
      const title = titles.get(event.id) ?? "";
      titles.delete(event.id);
      const verdict = judge(event);
      const reason = HAS_REASON.has(event.outcome) ? reasonLines(verdict) : [];
      const end = `${line("└", event.name, title)}  ${verdictText(event, verdict, PLAIN_STYLE)}`;
      write(`${[...reason, end].join("\n")}\n`);
    }
    if (event.type === "retry") write(`${retryText(event, false)}\n`);
    if (event.type === "context") write(`${contextText(event)}\n`);
    if (event.type === "notice") write(`${noticeText(event)}\n`);
  };
}

/** The part of a failed call's output that says why: the end for a command, else the start. */
function reasonLines({ output, kind }: ToolVerdict): string[] {
  const lines = kind === "command" ? output.slice(-MOST_REASON_LINES) : output.slice(0, MOST_REASON_LINES);
  return lines.map((text) => `│ ${cutToWidth(text, LONGEST_REASON)}`);
}

function line(mark: string, name: string, title: string): string {
  return title === "" ? `${mark} ${escapeToLine(name)}` : `${mark} ${escapeToLine(name)}  ${title}`;
}
