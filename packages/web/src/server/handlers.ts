import {
  type Agent,
  type Approve,
  Conversation,
  type ConversationStore,
  isAgentError,
  openConversation,
} from "@agent/core";
import { check, checkOptions, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import { ActionError, readAction } from "./actions.js";
import { eventStream } from "./eventStream.js";
import {
  checkHosts,
  checkOrigins,
  corsHeaders,
  foreignRequest,
  type OriginOptions,
} from "./foreignRequest.js";
import { LiveChat, type OpenedChat } from "./liveChat.js";
import { Quota } from "./quota.js";

export interface ChatHandlersOptions extends OriginOptions {
  /**
   * Returns the id of the conversation that a request is about, from its cookie, header or URL. Authenticate the client
   * here: `undefined` refuses the request with 403. `headers` are added to the answer, for a cookie that it sets.
   */
  readonly identify: (request: Request) => Identity | undefined | Promise<Identity | undefined>;
  /** Makes the agent of a conversation that is not open in this process. Pass `approve` to the agent if people decide. */
  readonly open: OpenChat;
  /** Where conversations are kept. Pass the `conversation` that `open` gets to the agent. Default: `open` keeps them. */
  readonly store?: ConversationStore;
  /** How long a conversation that no one watches and that does nothing stays open. Default ten minutes. */
  readonly idleMs?: number;
  /** How large the body of a request may be. Default 8 MiB: a message may hold images. */
  readonly maxBodyBytes?: number;
}

/** The id of a conversation, or the id with headers for the answer. */
export type Identity = string | { readonly id: string; readonly headers: Readonly<Record<string, string>> };

type OpenChat = (
  id: string,
  chat: {
    readonly approve: Approve;
    /** The conversation of the `store`; a new one without a store. */
    readonly conversation: Conversation;
  },
) => Agent | OpenedChat | Promise<Agent | OpenedChat>;

/** The handlers, on the web's own `Request` and `Response`: `GET` streams events, `POST` takes actions. */
export interface ChatHandlers {
  GET(request: Request): Promise<Response>;
  POST(request: Request): Promise<Response>;
  /** Answers the question of a browser (CORS preflight) before a page of `origins` sends a request. */
  OPTIONS(request: Request): Promise<Response>;
  /**
   * Copies a conversation of the `store` into a new one: the messages before the one with the id `before`, or all of them.
   * Your own route calls it, since `identify` decides who may see the new one.
   */
  branch(id: string, newId: string, options?: { readonly before?: string }): Promise<void>;
  /** Stops what runs, ends all streams and disposes of the agents. */
  close(): Promise<void>;
}

const DEFAULT_IDLE_MS = 600_000;
const DEFAULT_BODY_BYTES = 8 * 1024 * 1024;
// Limits per conversation, for memory: a slow page may have 1 MiB of unread events, a slow upload its body so far.
const MOST_PAGES = 100;
const MOST_BODIES = 8;

const OPTIONS: OptionChecks<ChatHandlersOptions> = {
  identify: check.function,
  open: check.function,
  store: check.object,
  idleMs: check.positive,
  maxBodyBytes: check.positive,
  allowedHosts: checkHosts,
  origins: checkOrigins,
};

/**
 * Serves conversations over HTTP: one URL, `GET` for the events and `POST` for messages, decisions and stop. Requests to
 * a foreign `Host`, and those that a page of another site sends, are refused with 403.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 * import { createChatHandlers } from "@agent/web/server";
 *
 * export const { GET, POST } = createChatHandlers({
 *   identify: (request) => request.headers.get("x-session") ?? undefined,
 *   open: (_id, { approve }) => new Agent(scriptedProvider(["Hello."]), { approve }),
 * });
 * ```
 */
export function createChatHandlers(options: ChatHandlersOptions): ChatHandlers {
  check.object("options", options);
  checkOptions("createChatHandlers", options, OPTIONS);
  check.function("identify", options.identify);
  check.function("open", options.open);
  const { identify, open, idleMs = DEFAULT_IDLE_MS, maxBodyBytes = DEFAULT_BODY_BYTES } = options;
  const chats = new Map<string, Promise<LiveChat>>();
  const pages = new Quota(MOST_PAGES, "pages");
  const bodies = new Quota(MOST_BODIES, "requests");

  const openStored = async (id: string, { approve }: { readonly approve: Approve }): Promise<OpenedChat> => {
    const { store } = options;
    if (!store) return toOpened(await open(id, { approve, conversation: new Conversation() }));
    const { conversation, close } = await openConversation(store, id);
    const opened = toOpened(await open(id, { approve, conversation }));
    return {
      ...opened,
      close: async () => {
        await opened.close?.();
        await close();
      },
    };
  };
  const find = (id: string): Promise<LiveChat> => {
    const opened = chats.get(id);
    if (opened) return opened;
    const opening = LiveChat.open((chat) => openStored(id, chat), {
      idleMs,
      onIdle: () => {
        if (chats.get(id) === opening) chats.delete(id);
      },
    });
    chats.set(id, opening);
    // If the conversation could not be opened, the next request tries again.
    opening.catch(() => chats.delete(id));
    return opening;
  };
  const serve = async (
    request: Request,
    answer: (id: string) => Response | Promise<Response>,
  ): Promise<Response> => {
    const response = await respond(request, answer);
    for (const [name, value] of Object.entries(corsHeaders(request, options))) {
      response.headers.append(name, value);
    }
    return response;
  };
  const respond = async (
    request: Request,
    answer: (id: string) => Response | Promise<Response>,
  ): Promise<Response> => {
    try {
      const refusal = foreignRequest(request, options);
      if (refusal !== undefined) return problem(403, refusal);
      const identity = await identify(request);
      const { id, headers = {} } =
        typeof identity === "object" && identity !== null ? identity : { id: identity as unknown };
      // A missing header or cookie often gives null or "": as an id, strangers would share one conversation.
      if (typeof id !== "string" || id === "") {
        return problem(403, "This conversation is not yours, or you are not logged in.");
      }
      const response = await answer(id);
      for (const [name, value] of Object.entries(headers)) response.headers.append(name, value);
      return response;
    } catch (error) {
      if (error instanceof ActionError) return problem(error.status, error.message);
      if (isAgentError(error, "invalid_argument")) return problem(400, error.message);
      // The message of an unexpected error may contain secrets of the server.
      return problem(500, isAgentError(error) ? error.message : "The conversation could not be opened.");
    }
  };

  const follow = (request: Request): Promise<Response> =>
    serve(request, async (id) => {
      const leave = pages.take(id);
      try {
        return eventStream(await find(id), request.signal, leave);
      } catch (error) {
        leave();
        throw error;
      }
    });
  const act = (request: Request): Promise<Response> =>
    serve(request, async (id) => {
      // Read the body before the conversation is opened: an invalid request must not start an agent.
      const leave = bodies.take(id);
      const action = await readAction(request, maxBodyBytes).finally(leave);
      (await find(id)).act(action);
      return Response.json({ ok: true }, { status: 202 });
    });

  const preflight = async (request: Request): Promise<Response> => {
    const refusal = foreignRequest(request, options);
    if (refusal !== undefined) return problem(403, refusal);
    return new Response(null, { status: 204, headers: corsHeaders(request, options) });
  };

  return {
    GET: follow,
    POST: act,
    OPTIONS: preflight,
    async branch(id, newId, { before } = {}) {
      check.text("id", id);
      check.text("newId", newId);
      if (!options.store) throw invalidArgument("store", "a store, which branch() copies to", undefined);
      if ((await options.store.load(newId)).length > 0) {
        throw invalidArgument("newId", "the id of a conversation that does not exist yet", newId);
      }
      const { conversation } = await find(id);
      await options.store.append(newId, conversation.branch(before).changes(), 0);
    },
    async close() {
      const open = [...chats.values()];
      chats.clear();
      await Promise.allSettled(open.map(async (chat) => (await chat).close()));
    },
  };
}

function toOpened(opened: Agent | OpenedChat): OpenedChat {
  return "agent" in opened ? opened : { agent: opened };
}

function problem(status: number, error: string): Response {
  return Response.json({ error }, { status });
}
