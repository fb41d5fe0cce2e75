import { Agent, type AgentInputItem, OpenAIProvider, Runner, RunState, tool } from "@openai/agents";
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
  const modelProvider = new OpenAIProvider({ baseURL, apiKey: "key", useResponses: false });
  const runner = new Runner({ modelProvider, tracingDisabled: true });
  const parameters = z.object({ order: z.string() });
  const agent = new Agent({
    name: "desk",
    model: "model",
    tools: [
      tool({
        name: "find_order",
        description: "What was ordered.",
        parameters,
        execute: ({ order }) => shop.findOrder(order),
      }),
      tool({
        name: "refund",
        description: "Pay an order back.",
        parameters,
        needsApproval: true,
        execute: ({ order }) => shop.refund(order),
      }),
    ],
  });
  type State = RunState<unknown, typeof agent>;

  /** Resolves to whether a refund waits for a decision. */
  async function converse(id: string, input: AgentInputItem[] | State) {
    const result = await runner.run(agent, input, { stream: true, maxTurns: 100 });
    for await (const event of result) {
      if (event.type !== "raw_model_stream_event") continue;
      if (event.data.type === "output_text_delta") print(event.data.delta);
    }
    await result.completed;
    const waits = result.interruptions.length > 0;
    store.set(`${id} state`, waits ? result.state.toString() : "");
    store.set(id, JSON.stringify(result.history));
    return waits;
  }

  return {
    ask: (id: string, question: string) => {
      const history: AgentInputItem[] = JSON.parse(store.get(id) ?? "[]");
      return converse(id, [...history, { role: "user", content: question }]);
    },
    decide: async (id: string, decision: "allow" | "deny") => {
      const state = await RunState.fromString<unknown, typeof agent>(agent, store.get(`${id} state`) ?? "");
      for (const one of state.getInterruptions()) {
        if (decision === "allow") state.approve(one);
        else state.reject(one);
      }
      return converse(id, state);
    },
  };
}
