import { escapeInvisible } from "@agent/core/toolkit";
import { PlainChat } from "./plainChat.js";
import { ChatSession } from "./session.js";
import { TerminalChat } from "./terminalChat.js";
import type { Chat, ChatSettings } from "./types.js";
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
 */
export function createChat(settings: ChatSettings): Chat {
  const always = new Set<string>();
  const asks = (name: string): boolean => settings.confirm.has(name) && !always.has(name);
  let view: ChatView | undefined;
  return {
    approve: async (request) => {
      if (!asks(request.name)) return "allow";
      if (!view) return { deny: "nobody can be asked: the chat has not started." };
      // The event that the call has started is on its way: it is shown before the question.
      await new Promise(setImmediate);
      if (request.signal.aborted) return { deny: "aborted before it was asked." };
      const decision = await view.ask(request);
      if (decision === "always") always.add(request.name);
      return decision;
    },
    run: async (agent) => {
      const front: ChatFront = isPlain()
        ? new PlainChat(settings, asks, process.stdin, process.stdout)
        : new TerminalChat(settings, asks, process.stdin, process.stdout);
      view = front.view;
      const session = new ChatSession(agent, settings, front.view);
      front.view.print([...settings.banner.flatMap((line) => escapeInvisible(line).split("\n")), WELCOME]);
      try {
        front.open(session);
        return await session.finished;
      } finally {
        view = undefined;
        front.close();
      }
    },
  };
}

function isPlain(): boolean {
  const { NO_COLOR, TERM } = process.env;
  if (!process.stdin.isTTY || !process.stdout.isTTY) return true;
  return (NO_COLOR ?? "") !== "" || TERM === undefined || TERM === "dumb";
}
