import type { AgentEvent, ChildEvent } from "@agent/core";
import { escapeToLine } from "@agent/internal";
import { formatDuration } from "../text/amounts.js";

interface ShownChild {
  readonly startedAt: number;
  label: string;
  /** Its current work, or that it is done. */
  current: string;
  tokens: number;
  endedAt: number | undefined;
}

/** The child agents of one call, one row each: its name, its current call, the time and the tokens. */
export class ChildRows {
  readonly #children = new Map<number, ShownChild>();

  event({ child, label, event }: ChildEvent, now: number): void {
    const shown = this.#children.get(child) ?? {
      startedAt: now,
      label: label ?? `agent ${child + 1}`,
      current: "thinking",
      tokens: 0,
      endedAt: undefined,
    };
    this.#children.set(child, shown);
    follow(shown, event, now);
  }

  /** At most `maxRows` rows: the running children, then the finished ones. */
  rows(maxRows: number, now: number): string[] {
    const children = [...this.#children.values()].sort(
      (a, b) => Number(a.endedAt !== undefined) - Number(b.endedAt !== undefined),
    );
    const shown = children.length > maxRows ? children.slice(0, Math.max(0, maxRows - 1)) : children;
    const more = children.length - shown.length;
    return [
      ...shown.map((child) => rowOf(child, now)),
      ...(more > 0 && maxRows > 0 ? [`… and ${more} more agents`] : []),
    ];
  }
}

function follow(shown: ShownChild, event: AgentEvent, now: number): void {
  switch (event.type) {
    case "tool_requested":
    case "tool_start": {
      const title = event.type === "tool_requested" ? event.title : event.about?.title;
      shown.current = `${event.name} ${title ?? ""}`.trim();
      break;
    }
    case "tool_end":
    case "text":
      shown.current = "thinking";
      break;
    case "usage":
      shown.tokens = event.total.inputTokens + event.total.outputTokens;
      break;
    case "child":
      if (event.event.type === "tool_requested") {
        shown.current = `${event.label ?? "agent"}: ${event.event.name} ${event.event.title ?? ""}`.trim();
      }
      break;
    case "done":
      shown.current = "done";
      shown.endedAt = now;
      break;
    default:
      break;
  }
}

function rowOf({ label, current, startedAt, endedAt, tokens }: ShownChild, now: number): string {
  const amount = tokens < 1000 ? String(tokens) : `${(tokens / 1000).toFixed(1)}k`;
  const spent = tokens === 0 ? "" : ` · ${amount} tokens`;
  const text = `${label}  ${current} · ${formatDuration((endedAt ?? now) - startedAt)}${spent}`;
  return escapeToLine(text);
}
