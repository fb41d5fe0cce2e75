import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { OpenAIProvider } from "@agent/provider-openai";
import { createApp } from "./app.js";

const port = Number(process.env.PORT ?? 3000);
const app = createApp({
  provider: new OpenAIProvider({ model: process.env.MODEL ?? "gpt-5-mini" }),
  workspace: process.cwd(),
  sessions: join(process.cwd(), ".sessions"),
  page: fileURLToPath(new URL("page", import.meta.url)),
  printToken: (token) => console.log(`For one browser: http://localhost:${port}/?token=${token}`),
});
// Listen on loopback only: anyone who can open the page can approve commands.
app.listen(port, "127.0.0.1");
