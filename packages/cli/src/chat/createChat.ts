import { escapeInvisible } from "@agent/core/toolkit";
import { ChatSession } from "./controller.js";
import { PlainChat } from "./plainChat.js";
import { TerminalChat } from "./terminalChat.js";
import type { Chat, ReadyChat } from "./types.js";
import type { ChatView } from "./view.js";

const WELCOME = "/help lists the commands.";

/** A front of the chat: where it is shown and where the person's input comes from. */
interface ChatFront {
  readonly view: ChatView;
  open(session: ChatSession): void;
  close(): void;
}

/**
 * The chat on this process's terminal. With `NO_COLOR`, `TERM=dumb` or without a terminal it speaks in plain
 * lines and writes no escape code. Tools outside `settings.confirm` are allowed without a question.
 * `historyFile` is where input is remembered across sessions; `undefined` remembers nothing.
 */
export function createChat(historyFile: string | undefined): Chat {
  const always = new Set<string>();
  let ready: ReadyChat | undefined;
  let view: ChatView | undefined;
  const asks = (name: string): boolean => ready?.settings.confirm.has(name) === true && !always.has(name);
  return {
    approve: async (request) => {
      if (!view || !ready) return { deny: "nobody can be asked: the chat has not started." };
      if (!asks(request.name) && request.needs.length === 0) return "allow";
      // The event that the call has started is on its way: it is shown before the question.
      await new Promise(setImmediate);
      if (request.signal.aborted) return { deny: "aborted before it was asked." };
      const decision = await view.ask(request);
      if (decision === "always") always.add(request.name);
      return decision;
    },
    run: async (load) => {
      const plain = isPlain();
      // Plain lines cannot be put above a prompt that is there already.
      if (plain) ready = await load();
      const front: ChatFront = plain
        ? new PlainChat(historyFile, asks, process.stdin, process.stdout)
        : new TerminalChat(historyFile, asks, process.stdin, process.stdout);
      view = front.view;
      const session = new ChatSession(front.view);
      const start = (loaded: ReadyChat): void => {
        ready = loaded;
        const { banner } = loaded.settings;
        front.view.print([...banner.flatMap((line) => escapeInvisible(line).split("\n")), WELCOME]);
        session.start(loaded.agent, loaded.settings);
      };
      try {
        if (ready) start(ready);
        front.open(session);
        const loading = ready ? undefined : load().then(start);
        // Whichever comes first: the person leaves, or it cannot start.
        return await Promise.race([
          session.finished,
          loading?.then(() => session.finished) ?? session.finished,
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
