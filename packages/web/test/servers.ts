import { createServer, type Server } from "node:http";
import { serve } from "@hono/node-server";
import bodyParser from "@koa/bodyparser";
import express from "express";
import fastify from "fastify";
import { Hono } from "hono";
import Koa from "koa";
import type { ChatHandlers } from "../src/server/handlers.js";
import { toNodeListener } from "../src/server/node.js";

/** Starts a server on a free port of the loopback interface, with the handlers at /chat. */
export type StartServer = (handlers: ChatHandlers) => Promise<{ url: string; stop: () => Promise<void> }>;

export const SERVERS: readonly (readonly [string, StartServer])[] = [
  [
    "node:http",
    async (handlers) => await listening(createServer(toNodeListener(handlers)).listen(0, "127.0.0.1")),
  ],
  [
    "Express, behind its JSON parser",
    async (handlers) => {
      const app = express();
      app.use(express.json());
      app.all("/chat", toNodeListener(handlers));
      return await listening(app.listen(0, "127.0.0.1"));
    },
  ],
  [
    "Fastify, which always reads the body",
    async (handlers) => {
      const app = fastify();
      app.all("/chat", toNodeListener(handlers));
      await app.listen({ port: 0, host: "127.0.0.1" });
      return await listening(app.server);
    },
  ],
  [
    "Koa, behind its body parser",
    async (handlers) => {
      const app = new Koa();
      app.use(bodyParser());
      app.use(toNodeListener(handlers));
      return await listening(app.listen(0, "127.0.0.1"));
    },
  ],
  [
    "Hono",
    async (handlers) => {
      const app = new Hono();
      app.get("/chat", (context) => handlers.GET(context.req.raw));
      app.post("/chat", (context) => handlers.POST(context.req.raw));
      return await listening(serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }) as Server);
    },
  ],
];

async function listening(server: Server): Promise<{ url: string; stop: () => Promise<void> }> {
  if (!server.listening) await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  if (typeof address !== "object" || !address) throw new Error("The server has no port.");
  return {
    url: `http://127.0.0.1:${address.port}/chat`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
