import type { AgentEvent } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { callTitle } from "./callTitle.js";
import { contextText, retryText } from "./notices.js";
import { PLAIN_STYLE } from "./style.js";
import { verdictText } from "./toolBlock.js";
import { judge } from "./toolResult.js";
import { cutToWidth } from "./width.js";

const LONGEST_TITLE = 200;

/**
 * Tells what the tools do in plain lines, for a pipe or a log: one when a call starts, one when it ends; a call that
 * never started has only the second. No escape code reaches `write`, whatever a tool or a model prints. The answer's
 * text is not its business.
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
      write(`${line("└", event.name, title)}  ${verdictText(event, judge(event), PLAIN_STYLE)}\n`);
    }
    if (event.type === "retry") write(`${retryText(event, false)}\n`);
    if (event.type === "context") write(`${contextText(event)}\n`);
  };
}

function line(mark: string, name: string, title: string): string {
  return title === "" ? `${mark} ${escapeToLine(name)}` : `${mark} ${escapeToLine(name)}  ${title}`;
}
