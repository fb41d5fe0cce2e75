import { randomBytes, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { onAbort } from "@agent/core/toolkit";
import {
  type AuthProvider,
  auth,
  computeScopeUnion,
  extractWWWAuthenticateParams,
  type OAuthClientProvider,
  type OAuthDiscoveryState,
  type StoredOAuthClientInformation,
  type StoredOAuthTokens,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client";
import type { OAuthOptions } from "../config/options.js";
import { assertLoginAddress, issuerFetch } from "./issuerFetch.js";
import { ownClient } from "./ownClient.js";
import { expiry } from "./provider.js";
import type { LoginStore } from "./store.js";

const CALLBACK_PATH = "/callback";
const PAGE =
  "<!doctype html><meta charset=utf-8><title>agent</title><p>You can close this window and go back to the terminal.";

export interface LoginOptions {
  readonly url: string;
  readonly oauth: OAuthOptions;
  readonly store: LoginStore;
  /** Values that are redacted; those of the login are added. */
  readonly secrets: string[];
  /** Additional scopes that a server requested. */
  readonly scope?: string | undefined;
  /** Shows or opens the URL where the user approves. */
  readonly openBrowser: (url: URL) => void | Promise<void>;
  readonly signal: AbortSignal;
}

/** Logs a user in when a server requests it: the whole authorization code flow with PKCE, once. */
export class InteractiveLogin implements AuthProvider {
  readonly #options: LoginOptions;
  #isDone = false;
  #token: string | undefined;

  constructor(options: LoginOptions) {
    this.#options = options;
  }

  /** No token before the login, so that the server reports which login it needs. */
  async token(): Promise<string | undefined> {
    return this.#token;
  }

  async onUnauthorized({
    response,
    serverUrl,
  }: Parameters<NonNullable<AuthProvider["onUnauthorized"]>>[0]): Promise<void> {
    if (this.#isDone) throw new Error("the server still refuses the new login");
    this.#isDone = true;
    const { store, url } = this.#options;
    const { resourceMetadataUrl, scope: wanted } = extractWWWAuthenticateParams(response);
    const callback = await Callback.listen(this.#options);
    try {
      const flow = new LoginFlow(this.#options, callback);
      const granted = store.read(url)?.tokens?.scope;
      const scope = computeScopeUnion(
        wanted,
        this.#options.scope ?? this.#options.oauth.scope,
        this.#options.scope && granted,
      );
      const request = {
        serverUrl,
        // Do not use the connection's `fetch`: it adds headers, which are secrets meant for the server alone.
        fetchFn: issuerFetch(url),
        forceReauthorization: true,
        ...(scope !== undefined && { scope }),
        ...(resourceMetadataUrl && { resourceMetadataUrl }),
      };
      if ((await auth(flow, request)) !== "AUTHORIZED") {
        const answer = await callback.answer;
        checkIssuer(answer, flow.discoveryState());
        const [code, iss] = [answer.get("code"), answer.get("iss")];
        if (code === null) throw new Error(`the login was refused: ${refusal(answer)}`);
        await auth(flow, { ...request, authorizationCode: code, ...(iss !== null && { iss }) });
      }
    } finally {
      callback.close();
    }
    this.#token = store.read(url)?.tokens?.access_token;
    if (this.#token !== undefined) this.#options.secrets.push(this.#token);
  }
}

/** The SDK's callbacks during a flow, bound to the store. */
class LoginFlow implements OAuthClientProvider {
  readonly #options: LoginOptions;
  readonly #callback: Callback;
  readonly clientMetadataUrl?: string;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;
  #client: StoredOAuthClientInformation | undefined;
  #resource: string | undefined;

  constructor(options: LoginOptions, callback: Callback) {
    this.#options = options;
    this.#callback = callback;
    if (options.oauth.clientMetadataUrl !== undefined)
      this.clientMetadataUrl = options.oauth.clientMetadataUrl;
  }

  get redirectUrl(): string {
    return this.#callback.url;
  }

  get clientMetadata() {
    const { oauth } = this.#options;
    return {
      client_name: "agent",
      redirect_uris: [this.#callback.url],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: oauth.clientSecretVariable === undefined ? "none" : "client_secret_post",
      ...(oauth.scope !== undefined && { scope: oauth.scope }),
    };
  }

  state(): string {
    return this.#callback.state;
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return ownClient(this.#options.oauth, this.#options.secrets) ?? this.#client;
  }

  saveClientInformation(client: StoredOAuthClientInformation): void {
    this.#client = client;
  }

  tokens(): undefined {
    return undefined;
  }

  async saveTokens(tokens: StoredOAuthTokens, context?: { issuer?: string }): Promise<void> {
    const { store, url, oauth } = this.#options;
    const issuer = tokens.issuer ?? context?.issuer ?? "";
    // A client from the options is not stored: its secret must be in no file.
    const client = oauth.clientId === undefined ? this.#client : undefined;
    // Take the lock only now, not while the user logs in: chats that refresh the old login must not wait for that.
    await store.exclusively(() =>
      store.write(url, {
        issuer,
        tokens,
        ...expiry(tokens.expires_in),
        ...(client && { client }),
        ...(this.#discovery && { discovery: this.#discovery }),
        ...(this.#resource !== undefined && { resource: this.#resource }),
      }),
    );
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    // Check the address first: the program that opens addresses may also act on schemes other than http and https.
    assertLoginAddress(url, this.#options.url);
    await this.#options.openBrowser(url);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveResourceUrl(resource: string): void {
    this.#resource = resource;
  }
}

/** The redirect URL on this machine, for one answer. */
class Callback {
  readonly state = randomBytes(24).toString("base64url");
  /** The parameters of the answer with the matching state. Rejects on abort. */
  readonly answer: Promise<URLSearchParams>;
  readonly #server = createServer((request, response) => {
    // Anyone on this machine can send a request: an invalid URL must not end the login.
    const target = `http://localhost${request.url ?? "/"}`;
    const url = URL.canParse(target) ? new URL(target) : undefined;
    if (url?.pathname !== CALLBACK_PATH || !isSame(url.searchParams.get("state") ?? "", this.state)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, { "content-type": "text/html", connection: "close" }).end(PAGE);
    this.#resolve(url.searchParams);
  });
  #resolve: (answer: URLSearchParams) => void = () => undefined;
  #release = (): void => undefined;

  private constructor(signal: AbortSignal) {
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#release = onAbort(signal, () => reject(new Error("the login was given up")));
    });
    this.answer.catch(() => undefined);
  }

  static async listen({ oauth, signal }: LoginOptions): Promise<Callback> {
    const callback = new Callback(signal);
    await new Promise<void>((resolve, reject) => {
      callback.#server.once("error", reject).listen(oauth.callbackPort ?? 0, "127.0.0.1", resolve);
    });
    return callback;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}${CALLBACK_PATH}`;
  }

  close(): void {
    this.#release();
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/**
 * Throws for an answer of another issuer than the one that was asked (RFC 9207). The message does not quote the answer:
 * an attacker may have written it.
 */
function checkIssuer(answer: URLSearchParams, discovered: OAuthDiscoveryState | undefined): void {
  const metadata = discovered?.authorizationServerMetadata;
  try {
    validateAuthorizationResponseIssuer({
      iss: answer.get("iss") ?? undefined,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    });
  } catch {
    throw new Error("the login is refused: its answer does not come from the issuer that was asked");
  }
}

function isSame(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

function refusal(answer: URLSearchParams): string {
  return /^[\w.-]{1,60}$/.exec(answer.get("error") ?? "")?.[0] ?? "no reason was given";
}
