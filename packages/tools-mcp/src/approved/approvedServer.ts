import { errorMessage, orAborted, quote } from "@agent/core/toolkit";
import type { ServerOptions } from "../config/options.js";
import type { ConnectedServer } from "../connection/serverConnection.js";
import type { ServerUse } from "../connection/serverUse.js";
import type { Connections } from "../connections.js";
import type { LockedServer } from "../lock/lock.js";

/** What all servers of a registration share. */
export interface ServerSurroundings {
  /** Loads the code that communicates with servers. */
  readonly loadConnections: () => Promise<Connections>;
  /** Called after each comparison with the tools that differ from the approved ones. */
  readonly onDiffering: (server: ApprovedServer, tools: readonly string[]) => void;
}

/**
 * A server whose tools a user approved. The code that communicates with servers is loaded with the first use, because
 * most conversations use few of the configured servers, or none.
 */
export class ApprovedServer implements ConnectedServer {
  readonly name: string;
  readonly options: ServerOptions;
  /** The approved state; may change while the server runs. */
  approved: LockedServer;
  readonly #surroundings: ServerSurroundings;
  #use: ServerUse | undefined;
  #isDisposed = false;

  constructor(
    name: string,
    options: ServerOptions,
    approved: LockedServer,
    surroundings: ServerSurroundings,
  ) {
    this.name = name;
    this.options = options;
    this.approved = approved;
    this.#surroundings = surroundings;
  }

  /** The tools that differ from the approved ones, as far as known: only a running server can be asked. */
  get differing(): readonly string[] {
    return this.#use?.differing ?? [];
  }

  /** Compares the server with the current approval, if it runs. */
  reconsider(): void {
    this.#use?.reconsider();
  }

  onDiffering(tools: readonly string[]): void {
    this.#surroundings.onDiffering(this, tools);
  }

  /** The operations of the server. Rejects on abort, and with a message for a model if its code cannot be loaded. */
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

  /** Stops the server and everything it started. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#use?.dispose();
  }
}
