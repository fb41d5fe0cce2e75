import { Agent, type ChatProvider, contextType, defineTool } from "@agent/core";
import { toNodeListener } from "@agent/web/node";
import { createChatHandlers } from "@agent/web/server";
import fastify, { type FastifyInstance } from "fastify";

const context = contextType<{ readonly user: string }>();

const orderStatus = defineTool({
  name: "order_status",
  description: "Says where an order of the user is.",
  context,
  input: { type: "object", properties: { order: { type: "string" } }, required: ["order"] },
  capabilities: ["read"],
  execute: ({ order }, call) => `Order ${order} of ${call.context.user} is on its way.`,
});

/** A server with the agent at `/chat`. `userOf` returns the user of a bearer token: each has one conversation. */
export function createApp(
  provider: ChatProvider,
  userOf: (token: string) => string | undefined,
): FastifyInstance {
  const handlers = createChatHandlers({
    identify: (request) => {
      const [, token = ""] = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "") ?? [];
      return userOf(token);
    },
    open: (user) => ({
      agent: new Agent(provider, { tools: [orderStatus], context, disable: ["save_session_context"] }),
      context: { user },
    }),
    // On your own server, name its hosts: allowedHosts: ["desk.example.com"].
  });
  const app = fastify();
  app.all("/chat", toNodeListener(handlers));
  app.addHook("preClose", () => handlers.close());
  return app;
}
