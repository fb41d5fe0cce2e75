import { escapeInvisible } from "@agent/core/toolkit";
import { note, ownStandardOutput } from "../process/output.js";
import { ChatController } from "./controller.js";
import { PlainChat } from "./plainChat.js";
import { TerminalChat } from "./terminalChat.js";
import type { Chat, ReadyChat } from "./types.js";
import type { ChatView } from "./view.js";

const WELCOME = "/help lists the commands.";

/** A front of the chat: where it is shown and where the person's input comes from. */
interface ChatFront {
  readonly view: ChatView;
  open(controller: ChatController): void;
  close(): void;
}

/**
 * The chat on this process's terminal. With `NO_COLOR`, `TERM=dumb` or without a terminal it speaks in plain
 * lines and writes no escape code. `historyFile` is where input is remembered across sessions; `undefined` remembers
 * nothing.
 */
export function createChat(historyFile: string | undefined): Chat {
  let ready: ReadyChat | undefined;
  let view: ChatView | undefined;
  return {
    approve: async (request) =>
      view ? await view.ask(request) : { deny: "nobody can be asked: the chat has not started." },
    notice: (message) => {
      if (view) view.print(escapeInvisible(message).split("\n"));
      else note(`agent: ${message}`);
    },
    run: async (load) => {
      const plain = isPlain();
      // Plain lines cannot be put above a prompt that is there already.
      if (plain) ready = await load();
      const front: ChatFront = plain
        ? new PlainChat(historyFile, process.stdin, ownStandardOutput())
        : new TerminalChat(historyFile, process.stdin, process.stdout);
      view = front.view;
      const controller = new ChatController(front.view);
      const start = (loaded: ReadyChat): void => {
        ready = loaded;
        const { banner } = loaded.settings;
        front.view.print([...banner.flatMap((line) => escapeInvisible(line).split("\n")), WELCOME]);
        controller.start(loaded.agent, loaded.settings);
      };
      try {
        if (ready) start(ready);
        front.open(controller);
        const loading = ready ? undefined : load().then(start);
        // Whichever comes first: the person leaves, or it cannot start.
        return await Promise.race([
          controller.finished,
          loading?.then(() => controller.finished) ?? controller.finished,
        ]);
      } finally {
        view = undefined;
        front.close();
        await ready?.end();
      }
    },
  };
}

function isPlain(): boolean {
  const { NO_COLOR, TERM } = process.env;
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true;
  return (NO_COLOR ?? "") !== "" || TERM === undefined || TERM === "dumb";
}
