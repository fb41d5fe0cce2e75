import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { AuthorizationServer, type LoginBehaviour, type SeenLogins } from "./authorizationServer.js";
import { sendJson } from "./sendJson.js";

const TOOLS = ["echo", "write", "cut", "huge", "twice", "wrong_id", "drips", "page", "hangs", "fails"];
const HUGE_BYTES = 65 * 1024 * 1024;
const PAGE = 5000;
const DRIP_MS = 20;

/** The behaviour of the server; can be changed while it runs. */
export interface McpHttpBehaviour extends LoginBehaviour {
  /** It requires a login. */
  oauth?: boolean;
  /** The resource that its metadata names, if not the server itself. */
  resource?: string;
  /** Who issues its tokens, in place of itself. */
  issuer?: string;
  /** No token is accepted. */
  refuseAll?: boolean;
  /** The additional scope that a call of `write` requires. */
  wantedScope?: string;
  /** Every request is redirected. */
  redirectTo?: string;
  /** What it lists as tools, if not its own ones. */
  tools?: readonly unknown[];
  /** How many tools it lists, in pages. */
  many?: number;
  /** It accepts every request and answers none. */
  silent?: boolean;
}

/** What clients did. */
interface Seen extends SeenLogins {
  readonly requests: {
    readonly method: unknown;
    readonly params: unknown;
    readonly headers: IncomingMessage["headers"];
  }[];
}

interface McpRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: { readonly name: string; readonly arguments: unknown; readonly cursor?: string };
}

/**
 * An MCP server on HTTP of the older era that can also misbehave, with an authorization server for it. Written by hand:
 * no library of the protocol is on both sides of a test.
 */
export class McpHttpServer {
  readonly behaviour: McpHttpBehaviour;
  readonly seen: Seen = {
    requests: [],
    registrations: 0,
    authorizations: [],
    tokenRequests: [],
    refreshes: 0,
    reused: 0,
  };
  readonly #authorization: AuthorizationServer;
  /** Calls that are answered once they are cancelled. */
  readonly #hanging: ServerResponse[] = [];
  readonly #server = createServer((request, response) => {
    this.#route(request, response).catch(() => response.destroy());
  });

  private constructor(behaviour: McpHttpBehaviour) {
    this.behaviour = behaviour;
    this.#authorization = new AuthorizationServer(behaviour, this.seen, () => this.origin);
  }

  /** `port` is for one that replaces an earlier server. */
  static async start(behaviour: McpHttpBehaviour = {}, port = 0): Promise<McpHttpServer> {
    const server = new McpHttpServer(behaviour);
    await new Promise<void>((resolve) => server.#server.listen(port, "127.0.0.1", resolve));
    return server;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return this.#sendResource(response);
      case "/mcp":
      case "/real":
        return await this.#receive(request, response, url.pathname === "/mcp");
      default:
        if (!(await this.#authorization.answer(url, request, response))) response.writeHead(404).end();
    }
  }

  #sendResource(response: ServerResponse): void {
    sendJson(response, 200, {
      resource: this.behaviour.resource ?? this.url,
      authorization_servers: [this.behaviour.issuer ?? this.origin],
      scopes_supported: ["read"],
    });
  }

  async #receive(request: IncomingMessage, response: ServerResponse, isFront: boolean): Promise<void> {
    const body = request.method === "POST" ? JSON.parse(await text(request)) : {};
    this.seen.requests.push({ method: body.method, params: body.params, headers: request.headers });
    const { redirectTo, oauth, silent } = this.behaviour;
    if (silent) return;
    if (isFront && redirectTo !== undefined) {
      response.writeHead(307, { location: redirectTo }).end();
      return;
    }
    if (oauth && !this.#mayCall(request, response, body.params?.name)) return;
    if (request.method !== "POST") response.writeHead(405).end();
    else if (body.id !== undefined) this.#answer(body, response, request.headers);
    else {
      response.writeHead(202).end();
      // Answers after their cancellation, as slow servers do.
      if (body.method === "notifications/cancelled")
        for (const hanging of this.#hanging.splice(0)) hanging.end();
    }
  }

  /** Whether the token is valid for the request; refuses it otherwise. */
  #mayCall(request: IncomingMessage, response: ServerResponse, tool: unknown): boolean {
    const scope = this.#authorization.scopeOf((request.headers.authorization ?? "").replace("Bearer ", ""));
    const metadata = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
    if (scope === undefined || this.behaviour.refuseAll) {
      sendJson(response, 401, {}, { "www-authenticate": `Bearer ${metadata}, scope="read"` });
      return false;
    }
    if (tool !== "write" || scope.split(" ").includes("files:write")) return true;
    const wanted = this.behaviour.wantedScope ?? "files:write";
    const challenge = `Bearer error="insufficient_scope", scope="${wanted}", ${metadata}`;
    sendJson(response, 403, {}, { "www-authenticate": challenge });
    return false;
  }

  #answer(body: McpRequest, response: ServerResponse, headers: IncomingMessage["headers"]): void {
    const { id, method, params } = body;
    const reply = (result: unknown): void => sendJson(response, 200, { jsonrpc: "2.0", id, result });
    if (method === "initialize") {
      const serverInfo = { name: "fixture", version: "1.0.0" };
      reply({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo });
    } else if (method === "tools/list") {
      reply(this.#listTools(Number(params.cursor ?? 0)));
    } else if (method === "tools/call") {
      this.#call(body, response, headers);
    } else {
      sendJson(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
    }
  }

  #listTools(from: number): unknown {
    const { many, tools } = this.behaviour;
    const tool = (name: string) => ({ name, inputSchema: { type: "object" } });
    if (many === undefined) return { tools: tools ?? TOOLS.map(tool) };
    const page = Array.from({ length: PAGE }, (_, n) => tool(`tool_${from + n}`));
    return { tools: page, ...(from + PAGE < many && { nextCursor: String(from + PAGE) }) };
  }

  #call({ id, params }: McpRequest, response: ServerResponse, headers: IncomingMessage["headers"]): void {
    const answer = (text: string, toId = id) => ({
      jsonrpc: "2.0",
      id: toId,
      result: { content: [{ type: "text", text }] },
    });
    const stream = (): ServerResponse => response.writeHead(200, { "content-type": "text/event-stream" });
    switch (params.name) {
      case "cut":
        stream().write('event: message\ndata: {"jsonrpc":"2.0","id"');
        setImmediate(() => response.destroy());
        return;
      case "twice":
        stream();
        for (const text of ["first", "second"])
          response.write(`event: message\ndata: ${JSON.stringify(answer(text))}\n\n`);
        response.end();
        return;
      case "wrong_id":
        sendJson(response, 200, answer("for someone else", 987654));
        return;
      case "drips": {
        response.writeHead(200, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), DRIP_MS);
        response.on("close", () => clearInterval(timer));
        return;
      }
      case "page":
        response.writeHead(200, { "content-type": "text/html" }).end("<h1>Sign in to the network</h1>");
        return;
      case "hangs":
        stream().flushHeaders();
        this.#hanging.push(response);
        return;
      case "fails":
        sendJson(response, 200, {
          jsonrpc: "2.0",
          id,
          error: { code: -32603, message: `it went wrong for ${headers.authorization}` },
        });
        return;
      default:
        sendJson(
          response,
          200,
          answer(params.name === "huge" ? "x".repeat(HUGE_BYTES) : JSON.stringify(params.arguments)),
        );
    }
  }
}
