import {
  Agent,
  type AgentEvent,
  type ApprovalDecision,
  type Approve,
  type ConversationStore,
  defineTool,
  isAgentError,
  openConversation,
} from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import { z } from "zod";

interface Shop {
  findOrder(order: string): Promise<string>;
  refund(order: string): Promise<string>;
}

export function createDesk(
  baseURL: string,
  store: ConversationStore,
  shop: Shop,
  print: (text: string) => void,
) {
  const provider = new OpenAIProvider({ baseURL, apiKey: "key", model: "model" });
  const input = z.object({ order: z.string() });
  const tools = [
    defineTool({
      ...{ name: "find_order", description: "What was ordered.", input },
      capabilities: ["read"],
      execute: ({ order }) => shop.findOrder(order),
    }),
    defineTool({
      ...{ name: "refund", description: "Pay an order back.", input },
      execute: ({ order }) => shop.refund(order),
    }),
  ];
  const approve: Approve = ({ name }) => (name === "refund" ? "suspend" : "allow");

  /** Resolves to whether a refund waits for a decision. */
  async function converse(id: string, stream: (agent: Agent) => AsyncIterable<AgentEvent>) {
    const { conversation, close } = await openConversation(store, id);
    const agent = new Agent(provider, { conversation, tools, approve });
    try {
      for await (const event of stream(agent)) if (event.type === "text") print(event.text);
    } catch (error) {
      if (!isAgentError(error, "suspended")) throw error;
    } finally {
      await close();
    }
    return conversation.pending !== undefined;
  }

  return {
    ask: (id: string, question: string) => converse(id, (agent) => agent.streamChat(question)),
    decide: (id: string, decision: ApprovalDecision) =>
      converse(id, (agent) => {
        const { pending } = agent.conversation;
        if (!pending) return agent.streamChat("Please continue."); // it was decided, and failed later
        return agent.streamResume(Object.fromEntries(pending.calls.map((call) => [call.id, decision])));
      }),
  };
}
