import type { PackHost } from "@agent/core";
import {
  type Destination,
  formatDestination,
  type HostPattern,
  isAddress,
  isPublicAddress,
  matchesPattern,
} from "@agent/core/sandbox";
import { escapeToLine } from "@agent/core/toolkit";
import type { Outside } from "./dial.js";

/** Asks the user about a host that no pattern matches. */
export type Permit = NonNullable<PackHost["permit"]>;

export interface AccessOptions {
  readonly patterns: readonly HostPattern[];
  readonly permit?: Permit | undefined;
  /** The command, for the question. */
  readonly command: string;
  readonly outside: Outside;
}

/** A refused connection. The message explains why, and how it can be allowed. */
export class Refusal extends Error {}

/** A command that asks about more hosts than this does not act for the user. */
const MOST_QUESTIONS = 20;
const MOST_REFUSALS = 20;
const SHOWN_CHARACTERS = 300;

/** Decides where one command may connect. An answer of the user is valid until the command exits. */
export class HostAccess {
  readonly #options: AccessOptions;
  readonly #answers = new Map<string, Promise<string | undefined>>();
  readonly #refusals = new Map<string, string>();
  readonly #closed = new AbortController();
  #openQuestions = 0;
  #openSince = 0;
  #waitedMs = 0;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** The refused connections, by destination, each with its reason. */
  get refusals(): ReadonlyMap<string, string> {
    return this.#refusals;
  }

  /** How long the command has waited for the user so far. */
  get waitedMs(): number {
    return this.#waitedMs + (this.#openQuestions > 0 ? performance.now() - this.#openSince : 0);
  }

  /** Withdraws all questions. */
  close(): void {
    this.#closed.abort();
  }

  /** Resolves to the addresses to connect to, all checked. Rejects with a `Refusal`. */
  async addressesOf(destination: Destination): Promise<readonly string[]> {
    const { host } = destination;
    const name = formatDestination(destination);
    const matching = this.#options.patterns.filter((pattern) => matchesPattern(destination, pattern));
    if (isAddress(host)) {
      // A private address is allowed only by a pattern for exactly this address, never by an answer of the user.
      if (matching.length === 0) {
        if (!isPublicAddress(host)) throw this.refuse(destination, notPublic(name, host));
        await this.#ask(destination);
      }
      return [host];
    }
    // Ask before resolving: the DNS query itself already sends the name outside.
    if (matching.length === 0) await this.#ask(destination);
    const addresses = await this.#resolve(destination);
    const inner = addresses.find((address) => !isPublicAddress(address));
    if (inner !== undefined) {
      throw this.refuse(destination, `it resolves to ${escapeToLine(inner)}. ${notPublic(name, inner)}`);
    }
    return addresses;
  }

  /** Records a refusal for the result of the command. */
  refuse(destination: Destination, reason: string): Refusal {
    const { host, port } = destination;
    const name = `${host.includes(":") ? `[${host}]` : host}:${port}`;
    if (this.#refusals.size < MOST_REFUSALS) this.#refusals.set(name, reason);
    return new Refusal(`${name} is refused: ${reason}`);
  }

  async #resolve(destination: Destination): Promise<readonly string[]> {
    try {
      const addresses = await this.#options.outside.resolve(destination.host);
      if (addresses.length > 0) return addresses;
    } catch {
      // Reported below.
    }
    throw this.refuse(destination, "the name cannot be resolved.");
  }

  /** Resolves if the user allows it. Connections to the same destination share one question. */
  async #ask(destination: Destination): Promise<void> {
    const name = formatDestination(destination);
    let answer = this.#answers.get(name);
    if (answer === undefined) {
      answer = this.#question(destination, name);
      this.#answers.set(name, answer);
    }
    const reason = await answer;
    if (reason !== undefined) throw this.refuse(destination, reason);
  }

  /** The reason for a refusal; `undefined` if the user allows the connection. */
  async #question({ host, port }: Destination, name: string): Promise<string | undefined> {
    const { permit, command } = this.#options;
    const hint = `Add "${name}" to sandbox.network.hosts in the options of @agent/tools-bash to allow it.`;
    if (this.#answers.size >= MOST_QUESTIONS) return `the command asked for too many hosts. ${hint}`;
    if (this.#openQuestions++ === 0) this.#openSince = performance.now();
    try {
      const answer = await permit?.({
        source: "A command in the sandbox",
        permission: `net.connect(${name})`,
        message: `It wants to connect to ${host}, port ${port}.\nCommand: ${escapeToLine(command.slice(0, SHOWN_CHARACTERS))}`,
        signal: this.#closed.signal,
      });
      if (answer === "allowed") return undefined;
      if (answer === "refused") return "the user did not allow it. Do not try it again unless the user asks.";
    } catch {
      // A question that fails is not an approval.
    } finally {
      if (--this.#openQuestions === 0) this.#waitedMs += performance.now() - this.#openSince;
    }
    return `it is not in sandbox.network.hosts, and no one answered. ${hint}`;
  }
}

function notPublic(name: string, address: string): string {
  const hint =
    name === address
      ? `"${name}"`
      : `the address itself, such as "${formatDestination({ host: address, port: 443 })}",`;
  return `A private or reserved address is reached only if sandbox.network.hosts names ${hint} literally.`;
}
