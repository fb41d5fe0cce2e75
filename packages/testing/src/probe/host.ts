import { join } from "node:path";
import { Conversation, type PackHost } from "@agent/core";

/** The host that the kit passes to a pack: an empty conversation in the temporary workspace. */
export function createHost(options: unknown): PackHost {
  return {
    context: {
      systemPrompt: "",
      sessionContext: [],
      sessionContextFilePath: join(process.cwd(), "agent-session.json"),
    },
    options,
  };
}

/** A host that provides everything a pack may use. */
export function createWholeHost(options: unknown): PackHost {
  const model = { provider: "test", id: "test-model", contextTokens: 100_000 };
  return {
    ...createHost(options),
    // With its own conversation, `registerPack` gives the pack a state.
    context: new Conversation(),
    model,
    resolveModel: async (name) => ({ ...model, id: name }),
    wake: () => undefined,
    ask: async () => ({ answer: "dismissed" }),
    permit: async () => "unanswered",
  };
}
