import { EXIT } from "../exitCodes.js";
import type { Chat, ChatSettings } from "./types.js";

export function createChat(settings: ChatSettings): Chat {
  return {
    approve: () => ({ deny: "there is no chat yet." }),
    async run() {
      process.stderr.write(`${settings.banner.join("\n")}\n`);
      return EXIT.done;
    },
  };
}
