import { OpenAIProvider } from "@agent/provider-openai";
import { createApp } from "./server.js";

const { PORT = "8080", DATA = "data", TOKEN, OPENAI_MODEL = "gpt-5-mini" } = process.env;
if (TOKEN === undefined) throw new Error("Set TOKEN to what clients send as authorization: Bearer …");
const app = createApp({
  directory: DATA,
  users: new Map([[TOKEN, "me"]]),
  createProvider: () => new OpenAIProvider({ model: OPENAI_MODEL }),
});
app.listen(Number(PORT), "127.0.0.1", () => console.log(`http://127.0.0.1:${PORT}`));
