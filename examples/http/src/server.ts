import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { ApprovalDecision, ChatProvider } from "@agent/core";
import { readJson } from "./readJson.js";
import { UserSession } from "./userSession.js";

export interface AppOptions {
  /** Where conversations and files are kept. */
  readonly directory: string;
  /** Who belongs to a token. In a product: your own log-in. */
  readonly users: ReadonlyMap<string, string>;
  /** The model for one user. */
  readonly createProvider: (user: string) => ChatProvider;
}

/** A request that cannot be served, with what the client is told. */
class HttpError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/**
 * An agent for every user behind HTTP:
 *
 *     POST /messages          { "text": … }        answers with events as SSE
 *     GET  /events            Last-Event-ID: 12    the events after that one: after a reload, a lost connection
 *     POST /approvals/<id>    { "decision": "allow" | "always" | { "deny": reason } }
 *     POST /stop
 *     GET  /conversation      the messages so far
 */
export function createApp({ directory, users, createProvider }: AppOptions): Server {
  const sessions = new Map<string, Promise<UserSession>>();
  const sessionOf = (user: string): Promise<UserSession> => {
    const open = sessions.get(user) ?? UserSession.open(directory, user, createProvider(user));
    sessions.set(user, open);
    // A session that could not be opened is tried again with the next request.
    open.catch(() => sessions.delete(user));
    return open;
  };
  const server = createServer((request, response) => {
    const user = users.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "");
    const handled =
      user === undefined
        ? Promise.reject(new HttpError(401, "Send a known token: authorization: Bearer …"))
        : sessionOf(user).then((session) => handle(session, request, response));
    handled.catch((error: unknown) => {
      const status = error instanceof HttpError ? error.status : 500;
      if (status === 500) console.error(error);
      if (response.headersSent) response.destroy();
      else
        sendJson(response, status, { error: error instanceof HttpError ? error.message : "internal error" });
    });
  });
  server.on("close", () => {
    for (const session of sessions.values()) void session.then((open) => open.close()).catch(console.error);
  });
  return server;
}

async function handle(
  session: UserSession,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? "/").replace(/\?.*/, "");
  switch (`${request.method} ${path}`) {
    case "POST /messages": {
      const { text } = await readBody(request);
      if (typeof text !== "string" || text === "") throw new HttpError(400, 'Send { "text": "…" }.');
      if (session.isBusy) throw new HttpError(409, "A message is being answered: wait, or POST /stop.");
      session.start(text);
      return sendEvents(session, 0, response);
    }
    case "GET /events":
      return sendEvents(session, Number(request.headers["last-event-id"] ?? 0) || 0, response);
    case "POST /stop":
      session.stop();
      return sendJson(response, 200, {});
    case "GET /conversation":
      return sendJson(response, 200, { messages: session.messages, busy: session.isBusy });
  }
  const id = /^POST \/approvals\/([^/]+)$/.exec(`${request.method} ${path}`)?.[1];
  if (id === undefined) throw new HttpError(404, `There is no ${request.method} ${path}.`);
  const { decision } = await readBody(request);
  if (!isDecision(decision))
    throw new HttpError(400, 'Send { "decision": "allow" }, "always" or { "deny": reason }.');
  if (!session.decide(decodeURIComponent(id), decision))
    throw new HttpError(404, "This question is not open.");
  sendJson(response, 200, {});
}

async function readBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = await readJson(request);
  if (body === undefined) throw new HttpError(400, "Send a JSON object of at most 1 MiB.");
  return body;
}

/** Server-sent events: a browser's EventSource reads them, and sends the last id when it connects again. */
function sendEvents(session: UserSession, afterId: number, response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
  const unfollow = session.events.follow(afterId, {
    event: (id, event) =>
      response.write(`id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`),
    end: () => response.end(),
  });
  response.on("close", unfollow);
}

function sendJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}

function isDecision(value: unknown): value is ApprovalDecision {
  if (value === "allow" || value === "always") return true;
  return typeof value === "object" && value !== null && "deny" in value && typeof value.deny === "string";
}
