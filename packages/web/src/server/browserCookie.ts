import { check, checkOptions } from "@agent/core/toolkit";
import type { Identity } from "./handlers.js";

export interface BrowserCookieOptions {
  /** The cookie's name. Default `chat`. */
  readonly name?: string;
}

const LIFETIME_SECONDS = 31_536_000;

/**
 * For `identify`: gives every browser its own conversation by a cookie that no script can read. It is no login: anyone who
 * has the browser has the conversation.
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
export function browserCookie(options: BrowserCookieOptions = {}): (request: Request) => Identity {
  checkOptions("browserCookie", options, { name: check.text });
  const { name = "chat" } = options;
  return (request) => {
    const cookies = (request.headers.get("cookie") ?? "").split(/; */).map((one) => one.split("=", 2));
    const id = cookies.find(([key, value]) => key === name && /^[\da-f-]{36}$/.test(value ?? ""))?.[1];
    if (id !== undefined) return id;
    const fresh = crypto.randomUUID();
    const secure = new URL(request.url).protocol === "https:" ? "; Secure" : "";
    const cookie = `${name}=${fresh}; Path=/; Max-Age=${LIFETIME_SECONDS}; HttpOnly; SameSite=Lax${secure}`;
    return { id: fresh, headers: { "set-cookie": cookie } };
  };
}
