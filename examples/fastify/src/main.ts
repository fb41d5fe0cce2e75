import { OpenAIProvider } from "@agent/provider-openai";
import { createApp } from "./app.js";

// TOKENS=secret:ann,other:bob
const users = new Map(
  (process.env.TOKENS ?? "").split(",").map((pair) => pair.split(":") as [string, string]),
);
const app = createApp(new OpenAIProvider({ model: process.env.MODEL ?? "gpt-5-mini" }), (token) =>
  users.get(token),
);
console.log(await app.listen({ port: Number(process.env.PORT ?? 3000), host: "127.0.0.1" }));
process.once("SIGTERM", () => void app.close());
