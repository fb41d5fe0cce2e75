import { errorMessage, orAborted, quote } from "@agent/core/toolkit";
import type { ServerOptions } from "../config/options.js";
import type { ConnectedServer } from "../connection/serverConnection.js";
import type { ServerUse } from "../connection/serverUse.js";
import type { Connections } from "../connections.js";
import type { LockedServer } from "../lock/lock.js";

/** What all servers of a registration share. */
export interface ServerSurroundings {
  /** Loads what talks to servers. */
  readonly loadConnections: () => Promise<Connections>;
  /** Called with the tools that are no longer as agreed, each time that was looked at. */
  readonly onDiffering: (server: AgreedServer, tools: readonly string[]) => void;
}

/**
 * A server whose tools a user approved. What talks to servers is loaded with the first use of one, because most
 * conversations use few of those that are configured, or none.
 */
export class AgreedServer implements ConnectedServer {
  readonly name: string;
  readonly options: ServerOptions;
  /** What a user has approved; may change while the server runs. */
  agreed: LockedServer;
  readonly #surroundings: ServerSurroundings;
  #use: ServerUse | undefined;
  #isDisposed = false;

  constructor(name: string, options: ServerOptions, agreed: LockedServer, surroundings: ServerSurroundings) {
    this.name = name;
    this.options = options;
    this.agreed = agreed;
    this.#surroundings = surroundings;
  }

  /** The tools that are not as they were approved, as far as that is known: only a server that runs can be asked. */
  get differing(): readonly string[] {
    return this.#use?.differing ?? [];
  }

  /** Compares the server with what is approved now, if it runs. */
  reconsider(): void {
    this.#use?.reconsider();
  }

  onDiffering(tools: readonly string[]): void {
    this.#surroundings.onDiffering(this, tools);
  }

  /** What can be done with the server. Rejects on abort, and with words for a model if its parts cannot be loaded. */
  async use(signal: AbortSignal | undefined): Promise<ServerUse> {
    if (this.#use) return this.#use;
    try {
      const connections = await orAborted(this.#surroundings.loadConnections(), signal);
      if (this.#isDisposed) throw new Error("the agent is ending");
      this.#use ??= connections.connect(this);
      return this.#use;
    } catch (error) {
      throw new Error(`MCP server ${quote(this.name)}: ${errorMessage(error)}`);
    }
  }

  /** Ends the server and everything it started. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#use?.dispose();
  }
}
