import type { PackHost } from "@agent/core";
import type { McpOptions } from "./config/options.js";
import { type ConnectionHost, createConnectionHost } from "./connection/connectionHost.js";
import { type ConnectedServer, ServerConnection } from "./connection/serverConnection.js";
import { ServerUse } from "./connection/serverUse.js";
import { SpillDirectory } from "./results/spill.js";

/** The connections of one registration, and their shared state. */
export class Connections {
  readonly #host: ConnectionHost;
  readonly #spill = new SpillDirectory();

  constructor(options: McpOptions, directory: string, ask: PackHost["ask"], agentDirectory?: string) {
    this.#host = createConnectionHost(options, directory, ask, agentDirectory);
  }

  /** Prepares the connection to a server, which starts with its first request. */
  connect(server: ConnectedServer): ServerUse {
    return new ServerUse(new ServerConnection(server, this.#host), this.#spill);
  }

  /** Removes the files of results. The connections are closed individually. */
  dispose(): void {
    this.#spill.dispose();
  }
}
