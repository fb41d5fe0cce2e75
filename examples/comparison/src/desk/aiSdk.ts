import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type ModelMessage, stepCountIs, streamText, tool } from "ai";
import { z } from "zod";

interface Shop {
  findOrder(order: string): Promise<string>;
  refund(order: string): Promise<string>;
}

export function createDesk(
  baseURL: string,
  store: Map<string, string>,
  shop: Shop,
  print: (text: string) => void,
) {
  const provider = createOpenAICompatible({ name: "example", baseURL, apiKey: "key" });
  const inputSchema = z.object({ order: z.string() });
  const tools = {
    find_order: tool({
      description: "What was ordered.",
      inputSchema,
      execute: ({ order }) => shop.findOrder(order),
    }),
    refund: tool({
      description: "Pay an order back.",
      inputSchema,
      needsApproval: true,
      execute: ({ order }) => shop.refund(order),
    }),
  };
  const load = (id: string): ModelMessage[] => JSON.parse(store.get(id) ?? "[]");

  /** Resolves to whether a refund waits for a decision. */
  async function converse(id: string, added: ModelMessage) {
    const messages = [...load(id), added];
    const result = streamText({
      ...{ model: provider("model"), messages, tools },
      stopWhen: stepCountIs(100),
      onError: () => undefined,
    });
    for await (const part of result.fullStream) {
      if (part.type === "text-delta") print(part.text);
      if (part.type === "error") throw part.error;
    }
    const response = await result.response;
    store.set(id, JSON.stringify([...messages, ...response.messages]));
    return (await result.content).some((part) => part.type === "tool-approval-request");
  }

  return {
    ask: (id: string, question: string) => converse(id, { role: "user", content: question }),
    decide: (id: string, decision: "allow" | "deny") => {
      const last = load(id).at(-1);
      const parts = last?.role === "assistant" && typeof last.content !== "string" ? last.content : [];
      const content = parts
        .filter((part) => part.type === "tool-approval-request")
        .map(({ approvalId }) => ({
          ...{ type: "tool-approval-response" as const, approvalId },
          approved: decision === "allow",
        }));
      return converse(id, { role: "tool", content });
    },
  };
}
