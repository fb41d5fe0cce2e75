import { errorMessage, isRecord } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkText, invalidArgument } from "../toolkit/hostOptions/checks.js";
import { Conversation, type ConversationChange, type ConversationOptions } from "./conversation.js";
import { sessionOf } from "./session.js";

/** Stores conversations, for example in a database table. Changes are JSON values. */
export interface ConversationStore {
  /** All changes of a conversation, in order; none if it is new. */
  load(id: string): Promise<readonly ConversationChange[]>;
  /**
   * Appends changes. Resolves once they are stored. `position` is the number of changes stored before: reject if it
   * differs, because another process is writing to the same conversation.
   */
  append(id: string, changes: readonly ConversationChange[], position: number): Promise<void>;
}

/** A conversation whose changes are stored as they happen. */
export interface StoredConversation {
  readonly conversation: Conversation;
  /** Resolves once all changes so far are stored. Rejects if storing fails; the next change retries. */
  flush(): Promise<void>;
  /** Stores the remaining changes and stops. */
  close(): Promise<void>;
}

/**
 * Opens a conversation of a store, or creates it. Changes are stored in order, in the background. A tool that can
 * change something runs only once all earlier changes are stored, and is refused if storing fails.
 *
 * @example
 * ```ts
 * import { Agent, memoryStore, openConversation } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const store = memoryStore();
 * const { conversation, close } = await openConversation(store, "user-1");
 * await new Agent(scriptedProvider(["Hello."]), { conversation }).chat("Hi.");
 * await close();
 * console.log((await openConversation(store, "user-1")).conversation.sessionContext.length); // 2
 * ```
 */
export async function openConversation(
  store: ConversationStore,
  id: string,
  options: Omit<ConversationOptions, "session"> = {},
): Promise<StoredConversation> {
  if (typeof store?.load !== "function" || typeof store.append !== "function") {
    throw invalidArgument("store", "a ConversationStore with load() and append()", store);
  }
  checkText("id", id);
  const stored = await store.load(id);
  const conversation = Conversation.from(stored, options);
  let position = stored.length;
  const unstored: ConversationChange[] = [];
  let sending: Promise<void> | undefined;
  let hasFailed = false;
  const noteStored = (count: number): void => {
    position += count;
    unstored.splice(0, count);
  };
  const send = async (): Promise<void> => {
    // The append may have been stored although its response was lost: it must not be stored twice.
    if (hasFailed) {
      const arrived = (await store.load(id)).slice(position);
      if (arrived.every((change, index) => textOf(change) === textOf(unstored[index]))) {
        noteStored(arrived.length);
      }
    }
    hasFailed = true;
    // Changes that arrive in the meantime are sent together, in the next batch.
    while (unstored.length > 0) {
      const batch = unstored.slice();
      await store.append(id, batch, position);
      noteStored(batch.length);
    }
    hasFailed = false;
  };
  const start = (): Promise<void> => {
    sending ??= send().finally(() => {
      sending = undefined;
      // A change may have come after the last batch.
      if (unstored.length > 0 && !hasFailed) start().catch(() => undefined);
    });
    return sending;
  };
  const flush = async (): Promise<void> => {
    await sending?.catch(() => undefined);
    if (unstored.length > 0) await start();
  };
  const release = conversation.onChange(
    (change) => {
      unstored.push(change);
      // A failure is reported by the next `flush`, which tries again.
      start().catch(() => undefined);
    },
    {
      path: id,
      flush: () =>
        flush().catch((error: unknown) => {
          throw new AgentError(
            "session_invalid",
            `The conversation cannot be stored: ${errorMessage(error)}`,
            {
              cause: error,
            },
          );
        }),
      save: flush,
      whole: async () => {
        await flush();
        return sessionOf(await store.load(id), true);
      },
    },
  );
  if (stored.length === 0 && conversation.systemPrompt !== "") {
    unstored.push({ type: "system", systemPrompt: conversation.systemPrompt });
  }
  return {
    conversation,
    flush,
    close: async () => {
      release();
      await flush();
    },
  };
}

/** JSON with sorted keys: a database may have changed their order. */
function textOf(change: unknown): string | undefined {
  return JSON.stringify(change, (_key, value: unknown) =>
    isRecord(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value,
  );
}

/** A store in memory, for tests and single processes. */
export function memoryStore(): ConversationStore {
  const texts = new Map<string, string[]>();
  return {
    load: async (id) => (texts.get(id) ?? []).map((text) => JSON.parse(text) as ConversationChange),
    append: async (id, changes, position) => {
      const known = texts.get(id) ?? [];
      if (known.length !== position) throw new Error("another process is writing to this conversation.");
      texts.set(id, [...known, ...changes.map((change) => JSON.stringify(change))]);
    },
  };
}
