import { type ChildAgentAnswer, type ChildAgentRequest, type ToolCall, ToolRegistry } from "@agent/core";
import type { Collection } from "./collect.js";

const MAX_NESTED = 1000;

/** What an agent offers to a call: child agents that answer at once, and calls of the other tools of the pack. */
export class NestedCalls {
  readonly #collection: Collection;
  #count = 0;

  constructor(collection: Collection) {
    this.#collection = collection;
  }

  get problem(): string | undefined {
    return this.#count > MAX_NESTED
      ? `made more than ${MAX_NESTED} calls of other tools and agents`
      : undefined;
  }

  offerTo(call: ToolCall): ToolCall {
    const { signal } = call;
    return {
      ...call,
      signal,
      startAgent: async (request) => {
        this.#begin(signal);
        return childAnswer(request);
      },
      callTool: async (name, args) => {
        this.#begin(signal);
        const registry = new ToolRegistry();
        const tool = this.#collection.find(name)?.tool;
        if (tool) {
          registry.register({
            name,
            getSchema: () => tool.getSchema(),
            execute: (own, inner) => tool.execute(own, inner && this.offerTo(inner)),
          });
        }
        return await registry.run(name, { ...args }, { signal });
      },
    };
  }

  #begin(signal: AbortSignal): void {
    signal.throwIfAborted();
    this.#count++;
    if (this.#count > MAX_NESTED) throw new Error(`There were more than ${MAX_NESTED} nested calls.`);
  }
}

function childAnswer({ message, history = [] }: ChildAgentRequest): ChildAgentAnswer {
  const text = "The task is done.";
  return {
    text,
    finishReason: "stop",
    turns: 1,
    usage: { inputTokens: 0, outputTokens: 0 },
    messages: [...history, { role: "user", content: message }, { role: "assistant", content: text }],
  };
}
