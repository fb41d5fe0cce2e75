import { OpenAIProvider } from "@agent/provider-openai";
import { ask } from "./ask.js";

const [question = "What is in this directory?"] = process.argv.slice(2);
const provider = new OpenAIProvider({ model: process.env.OPENAI_MODEL ?? "gpt-5-mini" });
await ask(question, process.cwd(), provider, (text) => void process.stdout.write(text));
