import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { join } from "node:path";

const COOKIE = /(?:^|; )chat=([0-9a-f-]{36})\.([\w-]{43})(?:;|$)/;

/**
 * Tracks which browsers may use the server. Anyone who can open the page can approve commands, so a browser gets its
 * cookie for a token that was printed in the terminal, once. Cookies are signed: a forged one is not accepted.
 */
export class Login {
  readonly #key: Buffer;
  readonly #print: (token: string) => void;
  #token = "";

  /** `directory` stores the key, so that cookies are valid after a restart. `print` receives each new token. */
  constructor(directory: string, print: (token: string) => void) {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const file = join(directory, "cookie.key");
    if (!existsSync(file)) writeFileSync(file, randomBytes(32), { mode: 0o600, flag: "wx" });
    this.#key = readFileSync(file);
    this.#print = print;
    this.#renew();
  }

  /** The conversation of a cookie that this server issued. */
  conversationOf(cookies: string | null | undefined): string | undefined {
    const [, id = "", signature = ""] = COOKIE.exec(cookies ?? "") ?? [];
    return id !== "" && isSame(signature, this.#sign(id)) ? id : undefined;
  }

  /** The `Set-Cookie` header for a request with the token in its URL. The token is then used up. */
  cookieFor(request: IncomingMessage): string | undefined {
    const token = new URLSearchParams((request.url ?? "").split("?")[1]).get("token") ?? "";
    if (!isSame(token, this.#token)) return undefined;
    this.#renew();
    const id = randomUUID();
    return `chat=${id}.${this.#sign(id)}; HttpOnly; SameSite=Strict; Path=/`;
  }

  #renew(): void {
    this.#token = randomBytes(24).toString("base64url");
    this.#print(this.#token);
  }

  #sign(id: string): string {
    return createHmac("sha256", this.#key).update(id).digest("base64url");
  }
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
