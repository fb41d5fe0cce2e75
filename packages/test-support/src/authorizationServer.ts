import { createHash, randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { sendJson } from "./sendJson.js";

const SECONDS = 3600;

type Fields = Readonly<Record<string, string>>;

/** The behaviour of logins; can be changed while the server runs. */
export interface LoginBehaviour {
  /** The lifetime of a login's token in seconds, instead of an hour. */
  firstExpiresIn?: number;
  /** The lifetime of refreshed tokens in seconds, instead of an hour; `null`: not reported. */
  refreshExpiresIn?: number | null;
  /** The URL where a user approves, instead of its own page. */
  authorizationEndpoint?: string;
  /** The issuer in the answer to a login, instead of itself; `null` for none. */
  answeringIssuer?: string | null;
  /** The client that it knows without a registration: one registered by hand, or the URL of a metadata document. */
  client?: { readonly id: string; readonly secret?: string };
  /** The user refuses. */
  refuse?: boolean;
  refuseRefresh?: boolean;
  /** Its errors echo the whole token request. */
  repeatsRequests?: boolean;
  /** The redirect target of token requests. */
  tokenRedirect?: string;
  beforeRefreshAnswer?: () => Promise<void>;
}

/** What clients did to log in. */
export interface SeenLogins {
  registrations: number;
  readonly authorizations: Fields[];
  readonly tokenRequests: Fields[];
  refreshes: number;
  /** Refresh tokens that were used twice. */
  reused: number;
}

interface Grant {
  readonly scope: string;
}

/** An authorization server that checks everything a client has to do. */
export class AuthorizationServer {
  readonly #behaviour: LoginBehaviour;
  readonly #seen: SeenLogins;
  readonly #origin: () => string;
  readonly #clients = new Map<string, readonly string[]>();
  readonly #codes = new Map<string, Fields>();
  readonly #accessTokens = new Map<string, Grant>();
  readonly #refreshTokens = new Map<string, Grant & { isUsed: boolean }>();

  constructor(behaviour: LoginBehaviour, seen: SeenLogins, origin: () => string) {
    this.#behaviour = behaviour;
    this.#seen = seen;
    this.#origin = origin;
  }

  /** The scope that an access token was issued for; `undefined` for one that was not. */
  scopeOf(token: string): string | undefined {
    return this.#accessTokens.get(token)?.scope;
  }

  /** Resolves to whether the request was for this server. */
  async answer(url: URL, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    switch (url.pathname) {
      case "/.well-known/oauth-authorization-server":
        this.#sendIssuer(response);
        return true;
      case "/register":
        this.#register(JSON.parse(await text(request)), response);
        return true;
      case "/authorize":
        this.#authorize(Object.fromEntries(url.searchParams), response);
        return true;
      case "/token":
        await this.#token(Object.fromEntries(new URLSearchParams(await text(request))), response);
        return true;
      default:
        return false;
    }
  }

  #sendIssuer(response: ServerResponse): void {
    sendJson(response, 200, {
      issuer: this.#origin(),
      authorization_endpoint: this.#behaviour.authorizationEndpoint ?? `${this.#origin()}/authorize`,
      token_endpoint: `${this.#origin()}/token`,
      registration_endpoint: `${this.#origin()}/register`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["none", "client_secret_post"],
      client_id_metadata_document_supported: this.#behaviour.client !== undefined,
      authorization_response_iss_parameter_supported: true,
    });
  }

  #register(client: { readonly redirect_uris: readonly string[] }, response: ServerResponse): void {
    this.#seen.registrations++;
    const id = randomUUID();
    this.#clients.set(id, client.redirect_uris);
    sendJson(response, 201, { ...client, client_id: id });
  }

  #authorize(given: Fields, response: ServerResponse): void {
    this.#seen.authorizations.push(given);
    const { client_id = "", redirect_uri = "", state, code_challenge_method } = given;
    const isKnown =
      client_id === this.#behaviour.client?.id || this.#clients.get(client_id)?.includes(redirect_uri);
    if (!isKnown || !state || code_challenge_method !== "S256") {
      sendJson(response, 400, {});
      return;
    }
    const code = randomUUID();
    this.#codes.set(code, given);
    const answer = new URL(redirect_uri);
    const result: Fields = this.#behaviour.refuse ? { error: "access_denied" } : { code };
    const { answeringIssuer: iss = this.#origin() } = this.#behaviour;
    for (const [name, value] of Object.entries({ ...result, state, ...(iss !== null && { iss }) })) {
      answer.searchParams.set(name, value);
    }
    response.writeHead(302, { location: answer.href }).end();
  }

  async #token(given: Fields, response: ServerResponse): Promise<void> {
    this.#seen.tokenRequests.push(given);
    if (this.#behaviour.tokenRedirect !== undefined) {
      response.writeHead(307, { location: this.#behaviour.tokenRedirect }).end();
      return;
    }
    if (given.client_secret !== this.#behaviour.client?.secret) {
      return sendJson(response, 401, this.#problem("invalid_client", given));
    }
    if (given.grant_type === "refresh_token") return await this.#refresh(given, response);
    const asked = this.#codes.get(given.code ?? "");
    this.#codes.delete(given.code ?? "");
    const challenge = createHash("sha256")
      .update(given.code_verifier ?? "")
      .digest("base64url");
    const fits =
      asked?.code_challenge === challenge &&
      asked.resource === given.resource &&
      asked.client_id === given.client_id;
    if (!asked || !fits) return sendJson(response, 400, this.#problem("invalid_grant", given));
    this.#issue({ scope: asked.scope ?? "" }, this.#behaviour.firstExpiresIn ?? SECONDS, response);
  }

  async #refresh(given: Fields, response: ServerResponse): Promise<void> {
    this.#seen.refreshes++;
    const known = this.#refreshTokens.get(given.refresh_token ?? "");
    if (known?.isUsed) this.#seen.reused++;
    if (!known || known.isUsed || this.#behaviour.refuseRefresh) {
      return sendJson(response, 400, this.#problem("invalid_grant", given));
    }
    known.isUsed = true;
    await this.#behaviour.beforeRefreshAnswer?.();
    const { refreshExpiresIn = SECONDS } = this.#behaviour;
    this.#issue(known, refreshExpiresIn, response);
  }

  #problem(error: string, given: Fields): object {
    return { error, ...(this.#behaviour.repeatsRequests && { error_description: JSON.stringify(given) }) };
  }

  #issue({ scope }: Grant, seconds: number | null, response: ServerResponse): void {
    const [access, refresh] = [randomUUID(), randomUUID()];
    this.#accessTokens.set(access, { scope });
    this.#refreshTokens.set(refresh, { scope, isUsed: false });
    const rest = { token_type: "Bearer", scope, ...(seconds !== null && { expires_in: seconds }) };
    sendJson(response, 200, { access_token: access, refresh_token: refresh, ...rest });
  }
}
