import {
  type Agent,
  Conversation,
  type ConversationStore,
  isAgentError,
  openConversation,
  type PackEntry,
} from "@agent/core";
import {
  check,
  checkOptions,
  errorMessage,
  invalidArgument,
  isRecord,
  type OptionChecks,
} from "@agent/core/toolkit";
import { describeValue, quote } from "@agent/internal";
import type { ChatAction, ChatEvent } from "../events.js";
import { ActionError, readAction } from "./actions.js";
import { type ChatQuestions, LiveChat, type OpenedChat } from "./liveChat.js";
import { RunChat } from "./runChat.js";

export interface ChatHandlersOptions<Context = unknown> extends OriginOptions {
  /**
   * Returns the id of the conversation of a request, from its cookie, header or URL. Authenticate the client here:
   * `undefined` refuses the request with 403. `actions` limits what the client may do, such as deciding about calls;
   * `context` says who sends a message.
   */
  readonly identify: (
    request: Request,
  ) => Identity<NoInfer<Context>> | undefined | Promise<Identity<NoInfer<Context>> | undefined>;
  /**
   * Creates the agent of a conversation that is not open in this process, or a `runChat`. Pass `approve` to the agent
   * if users decide about calls, and `host: { ask }` if tools such as `ask_user` may ask them.
   */
  readonly open: OpenChat<Context>;
  /** Stores conversations. Pass the `conversation` that `open` gets to the agent. Default: `open` stores them. */
  readonly store?: ConversationStore;
  /**
   * Called with each error of a request, a message or a closing conversation, for your log. `id` is that of the conversation,
   * once it is known. Default: errors other than an `AgentError`, which are not described to pages, are process warnings.
   */
  readonly onError?: (error: unknown, id?: string) => void;
  /**
   * For development: when the module that creates the handlers is reloaded (hot reload), the previous ones with this
   * name are closed, and their pages connect to the new ones. Default: they stay open.
   */
  readonly name?: string;
  /** How long an idle conversation without connected pages stays open. Default ten minutes. */
  readonly idleMs?: number;
  /** How many of them stay open: beyond it, the one that has been idle for longest is closed. Default 1000. */
  readonly maxIdle?: number;
  /** The maximum size of a request body. Default 8 MiB: a message may contain images. */
  readonly maxBodyBytes?: number;
}

/** The id of a conversation, or the id with more about the client that sent the request. */
export type Identity<Context = never> =
  | string
  | {
      readonly id: string;
      /** Added to the answer, for a cookie that it sets. */
      readonly headers?: Readonly<Record<string, string>>;
      /** The actions that this client may take. Default: all. `[]` only watches. Others are refused with 403. */
      readonly actions?: readonly ChatAction["type"][] | undefined;
      /** The `context` of the messages that this request starts. Default: that of `open`. */
      readonly context?: Context;
    };

type OpenChat<Context> = (
  id: string,
  chat: ChatQuestions & {
    /** The conversation of the `store`; a new one without a store. */
    readonly conversation: Conversation;
  },
) => Opened<Context> | Promise<Opened<Context>>;

/** An agent, an agent with its context and cleanup, or a durable run (`runChat`). */
type Opened<Context = unknown> = AgentAlone<Context> | OpenedChat<Context> | RunChat;

/** The compiler shows this text for an agent that declares a context. */
type AgentAlone<Context> = Agent<readonly PackEntry[], Context> &
  (unknown extends Context ? unknown : "This agent declares a context: return { agent, context }.");

/** The handlers, on the standard `Request` and `Response`: `GET` streams events, `POST` takes actions. */
export interface ChatHandlers {
  GET(request: Request): Promise<Response>;
  POST(request: Request): Promise<Response>;
  /** Answers a CORS preflight request of a page in `origins`. */
  OPTIONS(request: Request): Promise<Response>;
  /**
   * Copies a conversation of the `store` into a new one: the messages before the one with the id `before`, or all of
   * them. Call it from your own route, since `identify` decides who may see the new one.
   */
  branch(id: string, newId: string, options?: { readonly before?: string }): Promise<void>;
  /**
   * Stops running work, ends all streams and disposes of the agents; later requests are answered with 503. With an id it
   * closes this conversation only, for example before you delete it; a later request opens it again.
   */
  close(id?: string): Promise<void>;
}

const NAMED = Symbol.for("@agent/web handlers");
const DEFAULT_IDLE_MS = 600_000;
const DEFAULT_MAX_IDLE = 1000;
const DEFAULT_BODY_BYTES = 8 * 1024 * 1024;
// Limits per conversation, for memory: a slow page may have 1 MiB of unread events, a slow upload its body so far.
const MOST_PAGES = 100;
const MOST_BODIES = 8;

const OPTIONS: OptionChecks<ChatHandlersOptions> = {
  identify: check.function,
  open: check.function,
  store: check.object,
  onError: check.function,
  name: check.text,
  idleMs: check.positive,
  maxIdle: check.positive,
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
export function createChatHandlers<Context = unknown>(options: ChatHandlersOptions<Context>): ChatHandlers {
  check.object("options", options);
  checkOptions("createChatHandlers", options, OPTIONS);
  check.function("identify", options.identify);
  check.function("open", options.open);
  const { identify, open, onError = warn } = options;
  const report = (error: unknown, id?: string): void => {
    try {
      onError(error, id);
    } catch (failure) {
      warn(failure);
    }
  };
  const { idleMs = DEFAULT_IDLE_MS, maxIdle = DEFAULT_MAX_IDLE, maxBodyBytes = DEFAULT_BODY_BYTES } = options;
  const chats = new Map<string, Promise<LiveChat | RunChat>>();
  /** Conversations that are being closed. */
  const closing = new Map<string, Promise<void>>();
  /** Conversations that no one watches and that do nothing, the longest idle first. */
  const idle = new Set<string>();
  let isClosed = false;
  const replaced = options.name === undefined ? undefined : named().get(options.name)?.close();
  const pages = new Quota(MOST_PAGES, "pages");
  const bodies = new Quota(MOST_BODIES, "requests");

  const openStored = async (id: string, questions: ChatQuestions): Promise<OpenedChat | RunChat> => {
    const { store } = options;
    if (!store) return toOpened(await open(id, { ...questions, conversation: new Conversation() }));
    const { conversation, close } = await openConversation(store, id);
    const opened = toOpened(await open(id, { ...questions, conversation }));
    if (opened instanceof RunChat) {
      await close();
      return opened;
    }
    if (opened.agent.conversation !== conversation) {
      await Promise.allSettled([opened.agent.dispose(), close()]);
      throw new Error(
        "open() returned an agent with another conversation, so nothing would be stored. Pass it the `conversation` that open() gets.",
      );
    }
    return {
      ...opened,
      close: async () => {
        await opened.close?.();
        await close();
      },
    };
  };
  const closeChat = async (id: string): Promise<void> => {
    const chat = chats.get(id);
    if (!chat) return await closing.get(id);
    chats.delete(id);
    idle.delete(id);
    const close = async (): Promise<void> => {
      // A conversation that could not be opened was reported with its request.
      const opened = await chat.catch(() => undefined);
      await opened?.close().catch((error: unknown) => report(error, id));
    };
    const ended = close().then(() => {
      if (closing.get(id) === ended) closing.delete(id);
    });
    closing.set(id, ended);
    await ended;
  };
  const find = (id: string): Promise<LiveChat | RunChat> => {
    const opened = chats.get(id);
    if (opened) return opened;
    if (isClosed) throw new ActionError(503, "The server is closing. Try again in a moment.");
    // Two open conversations would write to the same one of the store.
    const closed = closing.get(id);
    const openAfter = async (questions: ChatQuestions): Promise<OpenedChat | RunChat> => {
      await replaced;
      await closed;
      return await openStored(id, questions);
    };
    const opening = LiveChat.open(openAfter, {
      idleMs,
      onIdleChange(isIdle) {
        if (chats.get(id) !== opening) return;
        idle.delete(id);
        if (!isIdle) return;
        idle.add(id);
        const [longest] = idle;
        if (idle.size > maxIdle && longest !== undefined) void closeChat(longest);
      },
      onExpired() {
        if (chats.get(id) === opening) void closeChat(id);
      },
      onError: (error) => report(error, id),
    });
    chats.set(id, opening);
    // If the conversation could not be opened, the next request tries again.
    opening.catch(() => {
      if (chats.get(id) === opening) chats.delete(id);
    });
    return opening;
  };
  const serve = async (request: Request, answer: Answer): Promise<Response> => {
    const response = await respond(request, answer);
    for (const [name, value] of Object.entries(corsHeaders(request, options))) {
      response.headers.append(name, value);
    }
    return response;
  };
  const respond = async (request: Request, answer: Answer): Promise<Response> => {
    let known: string | undefined;
    try {
      const refusal = foreignRequest(request, options);
      if (refusal !== undefined) return problem(403, refusal);
      const identity = await identify(request);
      const who = (isRecord(identity) ? identity : { id: identity }) as Partial<Who>;
      const { id, headers = {} } = who;
      // A missing header or cookie often gives null or "": as an id, strangers would share one conversation.
      if (typeof id !== "string" || id === "") {
        return problem(403, "This conversation is not yours, or you are not logged in.");
      }
      known = id;
      const response = await answer(id, who);
      for (const [name, value] of Object.entries(headers)) response.headers.append(name, value);
      return response;
    } catch (error) {
      if (error instanceof ActionError) return problem(error.status, error.message);
      if (isAgentError(error, "invalid_argument")) return problem(400, error.message);
      report(error, known);
      // The message of an unexpected error may contain secrets of the server.
      return problem(500, isAgentError(error) ? error.message : "The conversation could not be opened.");
    }
  };

  const follow = (request: Request): Promise<Response> =>
    serve(request, async (id, { actions }) => {
      const leave = pages.take(id);
      try {
        return eventStream(await find(id), actions, request.signal, leave);
      } catch (error) {
        leave();
        throw error;
      }
    });
  const act = (request: Request): Promise<Response> =>
    serve(request, async (id, { actions, context }) => {
      // Read the body before the conversation is opened: an invalid request must not start an agent.
      const leave = bodies.take(id);
      const action = await readAction(request, maxBodyBytes).finally(leave);
      if (actions !== undefined && !(Array.isArray(actions) && actions.includes(action.type))) {
        throw new ActionError(403, `You may not ${action.type} in this conversation.`);
      }
      const chat = await find(id);
      await chat.act(action, context);
      return Response.json({ ok: true, chat: chat.name }, { status: 202 });
    });

  const preflight = async (request: Request): Promise<Response> => {
    const refusal = foreignRequest(request, options);
    if (refusal !== undefined) return problem(403, refusal);
    return new Response(null, { status: 204, headers: corsHeaders(request, options) });
  };

  const handlers: ChatHandlers = {
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
      const chat = await find(id);
      if (chat instanceof RunChat) throw invalidArgument("id", "the id of a conversation of the store", id);
      const { conversation } = chat;
      await options.store.append(newId, conversation.branch(before).changes(), 0);
    },
    async close(id) {
      if (id !== undefined) return await closeChat(id);
      isClosed = true;
      await Promise.all([...chats.keys(), ...closing.keys()].map(closeChat));
    },
  };
  if (options.name !== undefined) named().set(options.name, handlers);
  return handlers;
}

type Who = Extract<Identity<unknown>, object>;
type Answer = (id: string, who: Partial<Who>) => Response | Promise<Response>;

/** Handlers by name. On the global object: a reloaded module has lost its variables. */
function named(): Map<string, ChatHandlers> {
  const holder = globalThis as { [NAMED]?: Map<string, ChatHandlers> };
  holder[NAMED] ??= new Map();
  return holder[NAMED];
}

/** The default of `onError`. */
function warn(error: unknown): void {
  // Pages show these errors.
  if (isAgentError(error) && error.code !== "session_invalid") return;
  const detail = error instanceof Error ? error.stack : undefined;
  globalThis.process?.emitWarning?.(errorMessage(error), {
    type: "ChatHandlerWarning",
    ...(detail !== undefined && { detail }),
  });
}

function toOpened(opened: Opened): OpenedChat | RunChat {
  if (opened instanceof RunChat) return opened;
  const chat = isRecord(opened) && "agent" in opened ? opened : { agent: opened };
  if (typeof (chat.agent as Partial<Agent> | undefined)?.streamChat === "function") return chat;
  throw new Error(`open() must return an agent, { agent } or a runChat, got ${describeValue(opened)}.`);
}

function problem(status: number, error: string): Response {
  return Response.json({ error }, { status });
}

/**
 * Limits what is open at the same time for one conversation, so that one client cannot use up the memory of the server.
 */
class Quota {
  readonly #most: number;
  readonly #what: string;
  readonly #open = new Map<string, number>();

  constructor(most: number, what: string) {
    this.#most = most;
    this.#what = what;
  }

  /** Takes a slot until the returned function is called. Throws an `ActionError` if all are taken. */
  take(id: string): () => void {
    const open = this.#open.get(id) ?? 0;
    if (open >= this.#most) {
      throw new ActionError(429, `This conversation has ${this.#most} ${this.#what} open. Close one first.`);
    }
    this.#open.set(id, open + 1);
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      const left = (this.#open.get(id) ?? 1) - 1;
      if (left > 0) this.#open.set(id, left);
      else this.#open.delete(id);
    };
  }
}

/** Proxies close a silent connection; a comment at this interval keeps it open. */
const HEARTBEAT_MS = 15_000;
/** A page with more unread bytes than this is disconnected: it reconnects and gets the state instead of the events. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** The chat as server-sent events: its state, then each event. `onEnd` is called when the reader has disconnected. */
function eventStream(
  chat: LiveChat | RunChat,
  actions: Who["actions"],
  signal: AbortSignal,
  onEnd: () => void,
): Response {
  const encoder = new TextEncoder();
  let release = (): void => undefined;
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const send = (text: string): void => {
          if ((controller.desiredSize ?? 0) <= 0) leave();
          else controller.enqueue(encoder.encode(text));
        };
        const leave = (): void => {
          release();
          controller.close();
        };
        const show = (event: ChatEvent): void => send(toData(forClient(event, actions)));
        const unfollow = chat.follow({ event: show, end: leave });
        const heartbeat = setInterval(() => send(": still here\n\n"), HEARTBEAT_MS);
        release = () => {
          release = () => undefined;
          clearInterval(heartbeat);
          unfollow();
          onEnd();
          signal.removeEventListener("abort", leave);
        };
        // The reader may have disconnected while the conversation was opened.
        if (signal.aborted) return leave();
        signal.addEventListener("abort", leave, { once: true });
        show({ type: "snapshot", state: chat.state, chat: chat.name });
      },
      cancel: () => release(),
    },
    { highWaterMark: MAX_WAITING_BYTES, size: (chunk) => chunk?.byteLength ?? 0 },
  );
  return new Response(body, {
    headers: {
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      // nginx and other proxies buffer responses without this header.
      "x-accel-buffering": "no",
    },
  });
}

/** Adds what this client may do to the state, so that its page offers nothing else. */
function forClient(event: ChatEvent, actions: Who["actions"]): ChatEvent {
  if (event.type !== "snapshot" || actions === undefined) return event;
  return { ...event, state: { ...event.state, actions } };
}

function toData(event: ChatEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** Who may send requests, apart from `identify`. */
interface OriginOptions {
  /**
   * The host names of your server: `"app.example.com"`, `"*.example.com"`, or `"*"` for any. Default: only `localhost`
   * and IP addresses, so that a page of another site cannot reach a server on loopback by DNS rebinding.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Origins of other sites whose pages may send requests, such as `"https://app.example.com"`: they get CORS headers.
   * Also your own origin if a proxy changes the `Host` header. Default: none.
   */
  readonly origins?: readonly string[];
}

const IP_ADDRESS = /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[\da-f:.]+\])$/;
const HOST = /^(?:\*|(?:\*\.)?[^\s/:*]+|\[[\da-f:.]+\])$/i;

/** Checks the option `allowedHosts`. Throws `invalid_argument` for an entry that no request can match. */
function checkHosts(name: string, value: unknown): void {
  checkList(name, "host names without scheme and port, such as app.example.com", value, (host) =>
    HOST.test(host),
  );
}

/** Checks the option `origins`. Throws `invalid_argument` for an entry that no request can match. */
function checkOrigins(name: string, value: unknown): void {
  checkList(
    name,
    "origins such as https://app.example.com",
    value,
    (origin) => URL.canParse(origin) && new URL(origin).origin === origin,
  );
}

/** Why a request is refused: it names a foreign host, or a page of another site sent it. */
function foreignRequest(request: Request, { allowedHosts, origins = [] }: OriginOptions): string | undefined {
  const host = (request.headers.get("host") ?? new URL(request.url).host).toLowerCase();
  const name = host.replace(/:\d*$/, "");
  if (allowedHosts ? !allowedHosts.some((allowed) => matches(allowed.toLowerCase(), name)) : !isLocal(name)) {
    return `This server is not known as ${quote(name)}. Add the name to allowedHosts of createChatHandlers.`;
  }
  const origin = request.headers.get("origin");
  if (origin !== null && origins.includes(origin)) return undefined;
  // Browsers that send this header decide better than we can. "same-site" is another port or subdomain.
  const site = request.headers.get("sec-fetch-site");
  const isOwn =
    site === null ? origin === null || hostOf(origin) === host : /^(?:same-origin|none)$/.test(site);
  return isOwn ? undefined : "A page of another site sent this request. If it is yours, add it to origins.";
}

const TOKENS = /^[\w-]+(?: *, *[\w-]+)*$/;

/** The CORS headers that let a page of another origin read the answer; none for other pages. */
function corsHeaders(request: Request, { origins = [] }: OriginOptions): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origins.length === 0) return {};
  // A cache must not return the answer for one origin to another.
  if (origin === null || !origins.includes(origin)) return { vary: "Origin" };
  const wanted = request.headers.get("access-control-request-headers") ?? "";
  return {
    vary: "Origin",
    "access-control-allow-origin": origin,
    "access-control-allow-credentials": "true",
    ...(request.method === "OPTIONS" && {
      "access-control-allow-methods": "GET, POST",
      "access-control-max-age": "600",
      ...(TOKENS.test(wanted) && { "access-control-allow-headers": wanted }),
    }),
  };
}

/** No other site can use an IP address or `localhost` as its host name. */
function isLocal(name: string): boolean {
  return name === "localhost" || name.endsWith(".localhost") || IP_ADDRESS.test(name);
}

function matches(allowed: string, name: string): boolean {
  if (allowed === "*") return true;
  return allowed.startsWith("*.") ? name.endsWith(allowed.slice(1)) : name === allowed;
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

function checkList(name: string, items: string, value: unknown, isValid: (entry: string) => boolean): void {
  if (!Array.isArray(value)) throw invalidArgument(name, `an array of ${items}`, value);
  const wrong = value.findIndex((entry) => typeof entry !== "string" || !isValid(entry));
  if (wrong !== -1) throw invalidArgument(`${name}[${wrong}]`, `one of ${items}`, value[wrong]);
}
