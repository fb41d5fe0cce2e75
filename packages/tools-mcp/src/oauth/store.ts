import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import {
  delay,
  errorMessage,
  isRecord,
  lockHolder,
  quotePath,
  tryAcquireLock,
  writeFileAtomic,
} from "@agent/core/toolkit";
import type {
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client";
import { nodeFs } from "../nodeModules.js";

const LOCK_POLL_MS = 25;
const LOCK_WAIT_MS = 30_000;

/** The stored login for one server at one token issuer. */
export interface Login {
  readonly issuer: string;
  readonly client?: StoredOAuthClientInformation;
  readonly tokens?: StoredOAuthTokens;
  /** When the access token expires, in milliseconds since the epoch. Absent if the issuer did not report it. */
  readonly expiresAt?: number;
  readonly discovery?: OAuthDiscoveryState;
  readonly resource?: string;
}

interface ServerLogins {
  /** The issuer that was used last. */
  readonly current?: string;
  readonly issuers: Readonly<Record<string, Login>>;
}

interface LoginFile {
  readonly version: 1;
  readonly servers: Readonly<Record<string, ServerLogins>>;
}

/** `loginFile` of the options, or the default in the user's configuration directory. */
export function loginPath(loginFile: string | undefined, directory: string): string {
  if (loginFile !== undefined) return resolve(directory, loginFile);
  const config = process.env.XDG_CONFIG_HOME || join(homedir(), ".config");
  return join(config, "agent", "mcp-logins.json");
}

/**
 * Logins in one file that only the user can read, keyed by server and issuer. It is read for every request, so that
 * a login made in one terminal reaches the chats in all others. Writers take turns across processes.
 */
export class LoginStore {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** The login in use for a server. Throws if the file cannot be read, or if others could read it. */
  read(server: string, issuer?: string): Login | undefined {
    const logins = this.#load().servers[server];
    const key = issuer ?? logins?.current;
    return key === undefined ? undefined : logins?.issuers[key];
  }

  /**
   * Replaces the login of a server at its issuer, which becomes the current one. Nothing of the previous one is kept:
   * its expiry would be mistaken for that of the new token. Call it inside `exclusively`.
   */
  async write(server: string, login: Login): Promise<void> {
    const file = this.#load();
    const logins = file.servers[server] ?? { issuers: {} };
    await this.#save({
      ...file,
      servers: {
        ...file.servers,
        [server]: { current: login.issuer, issuers: { ...logins.issuers, [login.issuer]: login } },
      },
    });
  }

  /** Forgets all logins of a server. Resolves to whether there were any. */
  async forget(server: string): Promise<boolean> {
    return await this.exclusively(async () => {
      const file = this.#load();
      if (file.servers[server] === undefined) return false;
      const { [server]: _, ...servers } = file.servers;
      await this.#save({ ...file, servers });
      return true;
    });
  }

  /** Runs `work` while no other process changes logins: two must not use one refresh token. */
  async exclusively<T>(work: () => Promise<T>): Promise<T> {
    nodeFs.mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 });
    const lock = `${this.path}.lock`;
    const deadline = performance.now() + LOCK_WAIT_MS;
    let held = tryAcquireLock(lock);
    while (held === undefined) {
      if (performance.now() > deadline) {
        throw new Error(`The logins are being changed by another process (${lockHolder(lock)}). Try again.`);
      }
      await delay(LOCK_POLL_MS);
      held = tryAcquireLock(lock);
    }
    try {
      return await work();
    } finally {
      held.release();
    }
  }

  #load(): LoginFile {
    this.#assertPrivate();
    try {
      const file: unknown = JSON.parse(nodeFs.readFileSync(this.path, "utf8"));
      if (isRecord(file) && file.version === 1 && isRecord(file.servers)) return file as unknown as LoginFile;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === "ENOENT") return { version: 1, servers: {} };
      throw new Error(`The logins in ${quotePath(this.path)} cannot be read: ${errorMessage(error)}`);
    }
    throw new Error(`The logins in ${quotePath(this.path)} are damaged. Delete the file and log in again.`);
  }

  /** An existing file, or one from a backup, may have any mode: writing it keeps that. */
  #assertPrivate(): void {
    const info = nodeFs.statSync(this.path, { throwIfNoEntry: false });
    if (info === undefined || process.platform === "win32" || (info.mode & 0o077) === 0) return;
    throw new Error(
      `The logins in ${quotePath(this.path)} could be read or changed by others. Run: chmod 600 ${quotePath(this.path)}`,
    );
  }

  async #save(file: LoginFile): Promise<void> {
    await writeFileAtomic(this.path, `${JSON.stringify(file, undefined, 2)}\n`, { mode: 0o600 });
  }
}
