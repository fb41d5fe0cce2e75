import type { HttpServerOptions } from "../config/options.js";
import type { ConnectionHost } from "../connection/connectionHost.js";
import { InteractiveLogin } from "../oauth/login.js";
import { LoginNeededError } from "../oauth/provider.js";
import { type InspectedServer, inspectServer } from "./inspect.js";

export interface LoginRequest {
  /** Shows or opens the URL where the user approves. */
  readonly openBrowser: (url: URL) => void | Promise<void>;
  /** More permissions than the server asks for. */
  readonly scope?: string;
  readonly signal: AbortSignal;
}

/** Logs a user in to a server, and verifies it by asking the server for its tools. */
export async function loginServer(
  name: string,
  server: HttpServerOptions,
  host: ConnectionHost,
  { openBrowser, scope, signal }: LoginRequest,
): Promise<InspectedServer> {
  const auth = new InteractiveLogin({
    url: server.url,
    oauth: server.oauth ?? {},
    store: host.logins,
    secrets: host.secrets,
    scope,
    openBrowser,
    signal,
  });
  try {
    return await inspectServer(name, server, host, { auth, signal });
  } catch (error) {
    throw error instanceof LoginNeededError ? new Error("the server still refuses the new login") : error;
  }
}
