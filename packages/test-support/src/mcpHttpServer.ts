import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

const TOOLS = ["echo", "write", "cut", "huge", "twice", "wrong_id", "drips", "page", "hangs", "fails"];
const HUGE_BYTES = 65 * 1024 * 1024;
const SECONDS = 3600;
const PAGE = 5000;
const DRIP_MS = 20;

type Fields = Readonly<Record<string, string>>;

/** How the server behaves; can be changed while it runs. */
export interface McpHttpBehaviour {
  /** It wants a login. */
  oauth?: boolean;
  /** Seconds that the token of a login is good for; those of refreshes are good for an hour. */
  firstExpiresIn?: number;
  /** The resource that its metadata names, in place of its own. */
  resource?: string;
  /** Who issues its tokens, in place of itself. */
  issuer?: string;
  /** Where a person agrees, in place of its own page. */
  authorizationEndpoint?: string;
  /** The issuer that the answer to a login names, in place of itself; `null` for none. */
  answeringIssuer?: string | null;
  /** The client that it knows without a registration: one registered by hand, or the address of a metadata document. */
  client?: { readonly id: string; readonly secret?: string };
  /** The person refuses. */
  refuse?: boolean;
  /** No token is good enough. */
  refuseAll?: boolean;
  refuseRefresh?: boolean;
  /** What a call of `write` wants besides. */
  wantedScope?: string;
  /** Every request is sent elsewhere. */
  redirectTo?: string;
  beforeRefreshAnswer?: () => Promise<void>;
  /** What it lists as tools, in place of its own. */
  tools?: readonly unknown[];
  /** How many tools it lists, in pages. */
  many?: number;
  /** It takes every request and answers none. */
  silent?: boolean;
}

/** What clients did. */
interface Seen {
  readonly requests: {
    readonly method: unknown;
    readonly params: unknown;
    readonly headers: IncomingMessage["headers"];
  }[];
  registrations: number;
  readonly authorizations: Fields[];
  readonly tokenRequests: Fields[];
  refreshes: number;
  /** Refresh tokens that were used twice. */
  reused: number;
}

interface McpRequest {
  readonly id: unknown;
  readonly method: string;
  readonly params: { readonly name: string; readonly arguments: unknown; readonly cursor?: string };
}

interface Grant {
  readonly scope: string;
}

/**
 * An MCP server on HTTP of the older era that can also misbehave, and an authorization server for it that checks
 * everything a client has to do. Written by hand: no library of the protocol is on both sides of a test.
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
  readonly #clients = new Map<string, readonly string[]>();
  readonly #codes = new Map<string, Fields>();
  readonly #accessTokens = new Map<string, Grant>();
  readonly #refreshTokens = new Map<string, Grant & { isUsed: boolean }>();
  /** Calls that are answered once they are cancelled. */
  readonly #hanging: ServerResponse[] = [];
  readonly #server = createServer((request, response) => {
    this.#route(request, response).catch(() => response.destroy());
  });

  private constructor(behaviour: McpHttpBehaviour) {
    this.behaviour = behaviour;
  }

  /** `port` is for one that comes back where another was. */
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
    const { pathname, searchParams } = new URL(request.url ?? "/", this.origin);
    switch (pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return this.#sendResource(response);
      case "/.well-known/oauth-authorization-server":
        return this.#sendIssuer(response);
      case "/register":
        return this.#register(JSON.parse(await text(request)), response);
      case "/authorize":
        return this.#authorize(Object.fromEntries(searchParams), response);
      case "/token":
        return await this.#token(Object.fromEntries(new URLSearchParams(await text(request))), response);
      case "/mcp":
      case "/real":
        return await this.#receive(request, response, pathname === "/mcp");
      default:
        response.writeHead(404).end();
    }
  }

  #sendResource(response: ServerResponse): void {
    json(response, 200, {
      resource: this.behaviour.resource ?? this.url,
      authorization_servers: [this.behaviour.issuer ?? this.origin],
      scopes_supported: ["read"],
    });
  }

  #sendIssuer(response: ServerResponse): void {
    json(response, 200, {
      issuer: this.origin,
      authorization_endpoint: this.behaviour.authorizationEndpoint ?? `${this.origin}/authorize`,
      token_endpoint: `${this.origin}/token`,
      registration_endpoint: `${this.origin}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
      client_id_metadata_document_supported: this.behaviour.client !== undefined,
      authorization_response_iss_parameter_supported: true,
    });
  }

  #register(client: { readonly redirect_uris: readonly string[] }, response: ServerResponse): void {
    this.seen.registrations++;
    const id = randomUUID();
    this.#clients.set(id, client.redirect_uris);
    json(response, 201, { ...client, client_id: id });
  }

  #authorize(given: Fields, response: ServerResponse): void {
    this.seen.authorizations.push(given);
    const { client_id = "", redirect_uri = "", state, code_challenge_method } = given;
    const isKnown =
      client_id === this.behaviour.client?.id || this.#clients.get(client_id)?.includes(redirect_uri);
    if (!isKnown || !state || code_challenge_method !== "S256") {
      json(response, 400, {});
      return;
    }
    const code = randomUUID();
    this.#codes.set(code, given);
    const answer = new URL(redirect_uri);
    const result: Fields = this.behaviour.refuse ? { error: "access_denied" } : { code };
    const { answeringIssuer: iss = this.origin } = this.behaviour;
    for (const [name, value] of Object.entries({ ...result, state, ...(iss !== null && { iss }) })) {
      answer.searchParams.set(name, value);
    }
    response.writeHead(302, { location: answer.href }).end();
  }

  async #token(given: Fields, response: ServerResponse): Promise<void> {
    this.seen.tokenRequests.push(given);
    if (given.client_secret !== this.behaviour.client?.secret) {
      return json(response, 401, { error: "invalid_client" });
    }
    if (given.grant_type === "refresh_token") return await this.#refresh(given.refresh_token ?? "", response);
    const asked = this.#codes.get(given.code ?? "");
    this.#codes.delete(given.code ?? "");
    const challenge = createHash("sha256")
      .update(given.code_verifier ?? "")
      .digest("base64url");
    const fits =
      asked?.code_challenge === challenge &&
      asked.resource === given.resource &&
      asked.client_id === given.client_id;
    if (!asked || !fits) return json(response, 400, { error: "invalid_grant" });
    this.#issue({ scope: asked.scope ?? "" }, this.behaviour.firstExpiresIn ?? SECONDS, response);
  }

  async #refresh(token: string, response: ServerResponse): Promise<void> {
    this.seen.refreshes++;
    const known = this.#refreshTokens.get(token);
    if (known?.isUsed) this.seen.reused++;
    if (!known || known.isUsed || this.behaviour.refuseRefresh) {
      return json(response, 400, { error: "invalid_grant" });
    }
    known.isUsed = true;
    await this.behaviour.beforeRefreshAnswer?.();
    this.#issue(known, SECONDS, response);
  }

  #issue({ scope }: Grant, seconds: number, response: ServerResponse): void {
    const [access, refresh] = [randomUUID(), randomUUID()];
    this.#accessTokens.set(access, { scope });
    this.#refreshTokens.set(refresh, { scope, isUsed: false });
    const rest = { token_type: "Bearer", expires_in: seconds, scope };
    json(response, 200, { access_token: access, refresh_token: refresh, ...rest });
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

  /** Whether the token is good for the request; refuses it otherwise. */
  #mayCall(request: IncomingMessage, response: ServerResponse, tool: unknown): boolean {
    const grant = this.#accessTokens.get((request.headers.authorization ?? "").replace("Bearer ", ""));
    const metadata = `resource_metadata="${this.origin}/.well-known/oauth-protected-resource/mcp"`;
    if (!grant || this.behaviour.refuseAll) {
      json(response, 401, {}, { "www-authenticate": `Bearer ${metadata}, scope="read"` });
      return false;
    }
    if (tool !== "write" || grant.scope.split(" ").includes("files:write")) return true;
    const scope = this.behaviour.wantedScope ?? "files:write";
    const challenge = `Bearer error="insufficient_scope", scope="${scope}", ${metadata}`;
    json(response, 403, {}, { "www-authenticate": challenge });
    return false;
  }

  #answer(body: McpRequest, response: ServerResponse, headers: IncomingMessage["headers"]): void {
    const { id, method, params } = body;
    const reply = (result: unknown): void => json(response, 200, { jsonrpc: "2.0", id, result });
    if (method === "initialize") {
      const serverInfo = { name: "fixture", version: "1.0.0" };
      reply({ protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo });
    } else if (method === "tools/list") {
      reply(this.#listTools(Number(params.cursor ?? 0)));
    } else if (method === "tools/call") {
      this.#call(body, response, headers);
    } else {
      json(response, 200, { jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });
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
        json(response, 200, answer("for somebody else", 987654));
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
        json(response, 200, {
          jsonrpc: "2.0",
          id,
          error: { code: -32603, message: `it went wrong for ${headers.authorization}` },
        });
        return;
      default:
        json(
          response,
          200,
          answer(params.name === "huge" ? "x".repeat(HUGE_BYTES) : JSON.stringify(params.arguments)),
        );
    }
  }
}

function json(response: ServerResponse, status: number, body: unknown, headers: Fields = {}): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}
