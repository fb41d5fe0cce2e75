// One contestant of bench/core in its own process.
import { setTimeout as sleep } from "node:timers/promises";
import { holdConversations } from "./conversations.mjs";
import { makeContestant } from "./coreContestants.mjs";

const FILLER = "x".repeat(4096);
const TOOLS = {
  small: async ({ path, limit }) => `${path}: ${limit} lines`,
  large: async ({ path }) => `${path}\n${FILLER}`,
  slow: async () => {
    await sleep(100);
    return "done";
  },
};

// openai's runTools adds a listener to one signal in every turn, and Node warns about it each time.
process.removeAllListeners("warning");

const [baseURL, name, tool] = process.argv.slice(2);
holdConversations(makeContestant(name, baseURL, TOOLS[tool]));
