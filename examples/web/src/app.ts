import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { join } from "node:path";
import { Agent, type ChatProvider, fileStore } from "@agent/core";
import * as bash from "@agent/tools-bash";
import * as fs from "@agent/tools-fs";
import { toNodeListener } from "@agent/web/node";
import { createChatHandlers } from "@agent/web/server";
import { Login } from "./login.js";

export interface AppOptions {
  readonly provider: ChatProvider;
  /** The folder the agent works in. */
  readonly workspace: string;
  /** Where conversations are stored. */
  readonly sessions: string;
  /** Where the built page is. */
  readonly page: string;
  /** Receives a token that opens the page in one browser, and another one after each use. */
  readonly printToken: (token: string) => void;
}

const READS = new Set(["read_file", "list_dir"]);

/**
 * A server with the page at `/` and the agent at `/chat`. A conversation belongs to the browser that has its cookie,
 * which only this server issues.
 */
export function createApp({ provider, workspace, sessions, page, printToken }: AppOptions): Server {
  const login = new Login(sessions, printToken);
  const handlers = createChatHandlers({
    identify: (request) => login.conversationOf(request.headers.get("cookie")),
    store: fileStore(sessions),
    open: (_id, { approve, conversation }) =>
      new Agent(provider, {
        conversation,
        systemPrompt: `You work on the files in ${workspace}. Be brief.`,
        tools: [[fs, { root: workspace }], bash],
        enable: ["run_bash"],
        disable: ["save_session_context"],
        approve: (request) => (READS.has(request.name) ? "allow" : approve(request)),
      }),
  });
  const chat = toNodeListener(handlers);
  const server = createServer((request, response) => {
    // Not with `new URL`, which throws for a path such as "//".
    const [pathname = "/"] = (request.url ?? "/").split("?", 1);
    if (pathname === "/chat") void chat(request, response);
    else sendPage(page, pathname, login, request, response);
  });
  server.on("close", () => void handlers.close());
  return server;
}

function sendPage(
  page: string,
  pathname: string,
  login: Login,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  if (pathname === "/page.js") {
    response.writeHead(200, { "content-type": "text/javascript" }).end(readFileSync(join(page, "page.js")));
    return;
  }
  if (pathname !== "/") {
    response.writeHead(404).end("Not found");
    return;
  }
  const isKnown = login.conversationOf(request.headers.cookie) !== undefined;
  const cookie = isKnown ? undefined : login.cookieFor(request);
  if (!isKnown && cookie === undefined) {
    response.writeHead(401).end("Open the address that the server printed last. Each works once.");
    return;
  }
  response.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "referrer-policy": "no-referrer",
    // Another site must not show this page in a frame, where a click can be redirected to "Allow".
    "content-security-policy": "frame-ancestors 'none'",
    ...(cookie !== undefined && { "set-cookie": cookie }),
  });
  response.end(readFileSync(join(page, "index.html")));
}
