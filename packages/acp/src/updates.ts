import type { AgentEvent, ToolCapability } from "@agent/core";
import { truncateUtf8Start } from "@agent/internal";
import type { SessionUpdate, ToolCallContent } from "@agentclientprotocol/sdk";
import { describeCall, resultContent, textContent } from "./toolCalls.js";

const MAX_LIVE_BYTES = 16 * 1024;
const LIVE_EVERY_MS = 100;

interface ShownCall {
  readonly id: string;
  readonly diffs: readonly ToolCallContent[];
  output: string;
  shownAt: number;
}

/** Turns what an agent does into what an editor shows. One for a session: ids of calls never repeat in it. */
export class UpdateWriter {
  readonly #cwd: string;
  readonly #capabilities: (name: string) => readonly ToolCapability[];
  readonly #contextTokens: number | undefined;
  readonly #calls = new Map<string, ShownCall>();
  #count = 0;

  constructor(
    cwd: string,
    capabilities: (name: string) => readonly ToolCapability[],
    contextTokens: number | undefined,
  ) {
    this.#cwd = cwd;
    this.#capabilities = capabilities;
    this.#contextTokens = contextTokens;
  }

  /** The id under which the editor knows a call that was requested last. */
  idOf(callId: string): string {
    return this.#calls.get(callId)?.id ?? callId;
  }

  updatesFor(event: AgentEvent): SessionUpdate[] {
    switch (event.type) {
      case "text":
        return [chunk("agent_message_chunk", event.text)];
      case "reasoning":
        return [chunk("agent_thought_chunk", event.text)];
      case "tool_requested":
        return [this.#requested(event.id, event.name, event.args)];
      case "tool_start":
        return [
          { sessionUpdate: "tool_call_update", toolCallId: this.idOf(event.id), status: "in_progress" },
        ];
      case "tool_output":
        return this.#output(event.id, event.chunk);
      case "tool_end":
        return [this.#ended(event)];
      case "usage":
        return this.#usage(event.usage);
      default:
        return [];
    }
  }

  #requested(callId: string, name: string, args: Readonly<Record<string, unknown>>): SessionUpdate {
    const view = describeCall(name, args, this.#capabilities(name), this.#cwd);
    // Models and servers use the same ids again, within one message too.
    const id = `${++this.#count}-${callId}`;
    const diffs = view.content.filter(({ type }) => type === "diff");
    this.#calls.set(callId, { id, diffs, output: "", shownAt: 0 });
    return { sessionUpdate: "tool_call", toolCallId: id, name, status: "pending", rawInput: args, ...view };
  }

  /** The end of the output so far, a few times a second. */
  #output(callId: string, text: string): SessionUpdate[] {
    const call = this.#calls.get(callId);
    if (!call) return [];
    call.output = truncateUtf8Start(call.output + text, MAX_LIVE_BYTES);
    if (performance.now() - call.shownAt < LIVE_EVERY_MS) return [];
    call.shownAt = performance.now();
    const content = [...call.diffs, textContent(call.output)];
    return [{ sessionUpdate: "tool_call_update", toolCallId: call.id, content }];
  }

  #ended({ id, outcome, text, parts }: Extract<AgentEvent, { type: "tool_end" }>): SessionUpdate {
    const { diffs = [] } = this.#calls.get(id) ?? {};
    const isDone = outcome === "ok";
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: this.idOf(id),
      status: isDone ? "completed" : "failed",
      // The difference is what a person wants to see of an edit; a failed one made none.
      content: isDone && diffs.length > 0 ? [...diffs] : resultContent(text, parts),
      rawOutput: { outcome, text },
    };
  }

  #usage(usage: Extract<AgentEvent, { type: "usage" }>["usage"]): SessionUpdate[] {
    if (this.#contextTokens === undefined) return [];
    return [
      {
        sessionUpdate: "usage_update",
        used: usage.inputTokens + usage.outputTokens,
        size: this.#contextTokens,
      },
    ];
  }
}

export function chunk(
  kind: "agent_message_chunk" | "agent_thought_chunk" | "user_message_chunk",
  text: string,
): SessionUpdate {
  return { sessionUpdate: kind, content: { type: "text", text } };
}
