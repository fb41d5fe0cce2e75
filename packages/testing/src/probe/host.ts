import { join } from "node:path";
import type { PackHost } from "@agent/core";

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
