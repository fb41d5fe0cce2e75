import { check, checkOptions } from "@agent/core/toolkit";
import type { Identity } from "./handlers.js";

export interface BrowserCookieOptions {
  /** The cookie's name. Default `chat`. */
  readonly name?: string;
  /**
   * A secret shared by all your servers, at least 16 characters long. With it cookies are signed, and a foreign cookie
   * starts a new conversation. Without it any well-formed id is accepted.
   */
  readonly secret?: string;
}

const SHORTEST_SECRET = 16;

const LIFETIME_SECONDS = 31_536_000;

/**
 * For `identify`: gives every browser its own conversation with an `HttpOnly` cookie. It is not a login: anyone with
 * access to the browser has the conversation.
 *
 * @example
 * ```ts
 * import { Agent } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 * import { browserCookie, createChatHandlers } from "@agent/web/server";
 *
 * export const { GET, POST } = createChatHandlers({
 *   identify: browserCookie(),
 *   open: (_id, { approve }) => new Agent(scriptedProvider(["Hello."]), { approve }),
 * });
 * ```
 */
export function browserCookie(
  options: BrowserCookieOptions = {},
): (request: Request) => Identity | Promise<Identity> {
  checkOptions("browserCookie", options, { name: check.text, secret: checkSecret });
  const { name = "chat", secret } = options;
  let key: ReturnType<typeof importKey> | undefined;
  const sign = async (id: string): Promise<string> => {
    key ??= importKey(secret ?? "");
    const signature = await crypto.subtle.sign("HMAC", await key, new TextEncoder().encode(`${name}=${id}`));
    return toHex(signature);
  };
  const isIssued = async (id: string, signature: string): Promise<boolean> =>
    secret === undefined ? signature === "" : isEqual(signature, await sign(id));
  return async (request) => {
    const cookies = (request.headers.get("cookie") ?? "").split(/; */).map((one) => one.split("=", 2));
    for (const [key, value = ""] of cookies) {
      const [, id, signature = ""] = /^([\da-f-]{36})(?:\.([\da-f]{64}))?$/.exec(value) ?? [];
      if (key === name && id !== undefined && (await isIssued(id, signature))) return id;
    }
    const id = crypto.randomUUID();
    const value = secret === undefined ? id : `${id}.${await sign(id)}`;
    const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
    const cookie = `${name}=${value}; Path=/; Max-Age=${LIFETIME_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
    return { id, headers: { "set-cookie": cookie } };
  };
}

function checkSecret(name: string, value: unknown): void {
  check.text(name, value);
  if (String(value).length >= SHORTEST_SECRET) return;
  throw new Error(`${name} must have at least ${SHORTEST_SECRET} characters, got ${String(value).length}.`);
}

function importKey(secret: string) {
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  return crypto.subtle.importKey("raw", new TextEncoder().encode(secret), algorithm, false, ["sign"]);
}

export function toHex(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Compares two texts in constant time. */
function isEqual(one: string, other: string): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++)
    difference |= one.charCodeAt(at) ^ other.charCodeAt(at % other.length);
  return difference === 0;
}
