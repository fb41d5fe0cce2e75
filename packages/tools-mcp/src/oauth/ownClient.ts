import type { OAuthOptions } from "../config/options.js";

/**
 * The client from the options, with its secret from the environment; `undefined` if there is none. The secret is read
 * each time, stored nowhere, and added to `secrets`, which are redacted. Throws if its variable is not set.
 */
export function ownClient(
  { clientId, clientSecretVariable }: OAuthOptions,
  secrets: string[],
): { client_id: string; client_secret?: string } | undefined {
  if (clientId === undefined) return undefined;
  if (clientSecretVariable === undefined) return { client_id: clientId };
  const secret = process.env[clientSecretVariable];
  if (secret === undefined) {
    throw new Error(`The environment variable ${clientSecretVariable} with the client secret is not set.`);
  }
  if (!secrets.includes(secret)) secrets.push(secret);
  return { client_id: clientId, client_secret: secret };
}
