import { join } from "node:path";
import type { PackHost } from "@agent/core";

/** What a pack is given when the kit registers it: an empty conversation in the temporary workspace. */
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
