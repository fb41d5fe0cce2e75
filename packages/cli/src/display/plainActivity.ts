import type { AgentEvent } from "@agent/core";
import { escapeToLine } from "@agent/core/toolkit";

export function plainActivity(write: (text: string) => void): (event: AgentEvent) => void {
  return (event) => {
    if (event.type === "tool_start") write(`* ${event.name} ${escapeToLine(JSON.stringify(event.args))}\n`);
    if (event.type === "tool_end") write(`* ${event.name}: ${event.outcome}\n`);
  };
}
