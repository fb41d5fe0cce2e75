import { Agent, defineTool } from "@agent/core";
import { OpenAIProvider } from "@agent/provider-openai";
import { runChat, type SlashCommand } from "@agent/terminal";

const orders = new Map([
  ["1001", "paid"],
  ["1002", "shipped"],
]);

const cancelOrder = defineTool({
  name: "cancel_order",
  description: "Cancel an order.",
  // The user is asked about a tool that can change something.
  capabilities: ["write"],
  input: { type: "object", properties: { id: { type: "string" } }, required: ["id"] },
  execute: ({ id }: { id: string }) => {
    orders.set(id, "cancelled");
    return `Order ${id} is cancelled.`;
  },
});

const listOrders: SlashCommand = {
  usage: "/orders",
  help: "list the orders",
  run: () => Array.from(orders, ([id, state]) => `  ${id}  ${state}`),
};

const model = process.env.OPENAI_MODEL ?? "gpt-5-mini";
const agent = new Agent(new OpenAIProvider({ model }), { tools: [cancelOrder] });
process.exitCode = await runChat(agent, {
  banner: ["The shop's assistant. /orders lists the orders."],
  model: () => model,
  commands: { "/orders": listOrders },
});
await agent.dispose();
