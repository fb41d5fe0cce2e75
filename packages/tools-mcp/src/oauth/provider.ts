import { createRedactor, quote } from "@agent/core/toolkit";
import type { AuthProvider } from "@modelcontextprotocol/client";
import type { HttpServerOptions, OAuthOptions } from "../config/options.js";
import { loadSdk } from "../loading.js";
import { issuerFetch } from "./issuerFetch.js";
import { ownClient } from "./ownClient.js";
import type { Login, LoginStore } from "./store.js";

/** A token is refreshed this long before it expires, so that no request is made with one that expires on its way. */
const REFRESH_BEFORE_MS = 60_000;

/** The time limit of an issuer to refresh a token: other processes wait meanwhile, not much longer than this. */
const LONGEST_REFRESH_MS = 20_000;

// The scope is printed in a command to paste into a shell: only harmless characters are allowed.
const PLAIN_SCOPE = /^[\w:./ -]{1,300}$/;

/** A server requires the user to log in. `agent mcp login` does it. */
export class LoginNeededError extends Error {
  override readonly name = "LoginNeededError";

  /** `scope` are permissions the previous login did not have. */
  constructor(
    readonly server: string,
    why: string,
    scope?: string,
  ) {
    const more = scope !== undefined && PLAIN_SCOPE.test(scope) ? ` --scope "${scope}"` : "";
    super(
      `it wants a login: ${why}. Run in a terminal: agent mcp login ${server}${more} (running chats will use it).`,
    );
  }
}

type LoginServer = Pick<HttpServerOptions, "url" | "oauth" | "timeoutMs">;

/**
 * Adds the token of the stored login to every request, refreshed in time and by one process at a time. Never asks the
 * user: without a working login it fails and names the command to run.
 */
export class LoginProvider implements AuthProvider {
  readonly #name: string;
  readonly #url: string;
  readonly #oauth: OAuthOptions;
  readonly #refreshMs: number;
  readonly #store: LoginStore;
  readonly #secrets: string[];
  #used: string | undefined;

  /** Tokens are added to `secrets`, which are redacted. */
  constructor(
    name: string,
    { url, oauth = {}, timeoutMs = LONGEST_REFRESH_MS }: LoginServer,
    store: LoginStore,
    secrets: string[],
  ) {
    this.#name = name;
    this.#url = url;
    this.#oauth = oauth;
    this.#refreshMs = Math.min(timeoutMs, LONGEST_REFRESH_MS);
    this.#store = store;
    this.#secrets = secrets;
  }

  async token(): Promise<string | undefined> {
    let login = this.#store.read(this.#url);
    if (login?.tokens?.refresh_token && isEnding(login))
      login = await this.#refresh(login.tokens.access_token);
    this.#used = login?.tokens?.access_token;
    this.#hide(this.#used);
    return this.#used;
  }

  /** Handles a refused token. Another process may have a newer one; otherwise it is refreshed. */
  async onUnauthorized(): Promise<void> {
    const login = this.#store.read(this.#url);
    if (login?.tokens === undefined) throw new LoginNeededError(this.#name, "no one has logged in yet");
    if (login.tokens.access_token !== this.#used) return;
    if (!login.tokens.refresh_token) throw new LoginNeededError(this.#name, "the last one has expired");
    await this.#refresh(login.tokens.access_token);
  }

  /** Replaces `oldToken`, unless another process did so while this one waited for the lock. */
  async #refresh(oldToken: string): Promise<Login> {
    return await this.#store.exclusively(async () => {
      const login = this.#store.read(this.#url);
      if (login?.tokens && login.tokens.access_token !== oldToken) return login;
      const refreshed = login && (await this.#requestTokens(login));
      if (refreshed === undefined) throw new LoginNeededError(this.#name, "the last one cannot be renewed");
      await this.#store.write(this.#url, refreshed);
      return refreshed;
    });
  }

  async #requestTokens({ ...login }: Login): Promise<Login | undefined> {
    const { refreshAuthorization, OAuthError } = await loadSdk();
    const { tokens, discovery, issuer, resource } = login;
    const client = ownClient(this.#oauth, this.#secrets) ?? login.client;
    if (!tokens?.refresh_token || !client || !discovery) return undefined;
    this.#hide(tokens.refresh_token);
    const limit = AbortSignal.timeout(this.#refreshMs);
    try {
      const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
        ...(discovery.authorizationServerMetadata && { metadata: discovery.authorizationServerMetadata }),
        clientInformation: client,
        refreshToken: tokens.refresh_token,
        ...(resource !== undefined && { resource: new URL(resource) }),
        fetchFn: (input, init) => issuerFetch(this.#url)(input, { ...init, signal: limit }),
      });
      const { expiresAt: _, ...rest } = login;
      return { ...rest, tokens: { ...fresh, issuer }, ...expiry(fresh.expires_in) };
    } catch (error) {
      // Keep the stored login: the issuer's failure may be temporary.
      if (error instanceof OAuthError) {
        // An issuer may echo what it was sent.
        const said = createRedactor(() => this.#secrets)(error.message);
        throw new LoginNeededError(this.#name, `the issuer refused it (${quote(said)})`);
      }
      if (limit.aborted)
        throw new Error(`the issuer of its logins did not answer within ${this.#refreshMs} ms`);
      throw error;
    }
  }

  #hide(secret: string | undefined): void {
    if (secret !== undefined && !this.#secrets.includes(secret)) this.#secrets.push(secret);
  }
}

/** When a token that was just issued expires. */
export function expiry(seconds: number | undefined): { expiresAt?: number } {
  return seconds === undefined ? {} : { expiresAt: Date.now() + seconds * 1000 };
}

function isEnding({ expiresAt }: Login): boolean {
  return expiresAt !== undefined && expiresAt - Date.now() < REFRESH_BEFORE_MS;
}
