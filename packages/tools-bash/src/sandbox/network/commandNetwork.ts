import type { ChildProcess, SendHandle } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer, Server } from "node:net";
import { quoteForShell } from "@agent/core/toolkit";
import { SYSTEM_SHELL } from "../../helpers/spawn.js";
import { type Outside, SYSTEM_NETWORK } from "./dial.js";
import { type AccessOptions, HostAccess } from "./hostAccess.js";
import { HostProxy } from "./proxy.js";

interface CommandNetworkOptions extends Omit<AccessOptions, "outside"> {
  /** Default: the network of this process. */
  readonly outside?: Outside | undefined;
  /** The environment of the command. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A port in the command's network namespace, where nothing else listens. Not one that the kernel assigns to clients.
 */
const PORT = 61_080;
const LOCAL = "localhost,127.0.0.1,::1";

/** The variables by which curl, git, npm, pip and most other programs find a proxy. */
function proxyVariables(port: number): Readonly<Record<string, string>> {
  const proxy = `http://127.0.0.1:${port}`;
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    ALL_PROXY: proxy,
    NO_PROXY: LOCAL,
    http_proxy: proxy,
    https_proxy: proxy,
    all_proxy: proxy,
    no_proxy: LOCAL,
    // Makes Node 24 and later use the variables above.
    NODE_USE_ENV_PROXY: "1",
  };
}

/** Names that a shell can export. */
const SHELL_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Names that some shells do not allow to be set to any text. */
const RESERVED_NAMES = new Set([
  "BASHOPTS",
  "BASH_VERSINFO",
  "EUID",
  "LINENO",
  "OPTIND",
  "PPID",
  "SHELLOPTS",
  "UID",
]);

// Standard input is a channel to the agent. The listener is sent to the agent through it, and the rest of the script
// comes back.
const LISTEN = `
const server = require("net").createServer();
let script;
server.on("error", (error) => { console.error(error.message); process.exit(1) });
process.on("message", (message) => { script = message });
process.on("disconnect", () => script === undefined ? process.exit(1) : process.stdout.write(script, () => process.exit(0)));
server.listen(${PORT}, "127.0.0.1", () => process.send("listening", server));
`;
const START = `script=$(NODE_CHANNEL_FD=0 NODE_CHANNEL_SERIALIZATION_MODE=json ELECTRON_RUN_AS_NODE=1 "$0" -e '${LISTEN}') || { echo 'agent: the proxy for sandbox.network.hosts could not be started. The command was not run.' >&2; exit 126; }
exec </dev/null
eval "$script"`;

/**
 * The network of one command in a namespace without any route: a proxy of this process listens on the namespace's own
 * loopback interface. Before the command starts, a short program in the namespace opens the listening socket, passes it
 * to this process and exits. So there is no socket path that another command could open, and no process that must stay.
 *
 * That program runs without any variable of the command, and the channel is closed before the command starts: a hostile
 * message on it could block the agent.
 */
export class CommandNetwork {
  readonly #access: HostAccess;
  readonly #proxy: HostProxy;
  readonly #env: Readonly<Record<string, string>>;
  #isClosed = false;

  constructor({ env, outside = SYSTEM_NETWORK, ...access }: CommandNetworkOptions) {
    this.#access = new HostAccess({ ...access, outside });
    this.#proxy = new HostProxy(this.#access, outside);
    this.#env = env;
  }

  /**
   * Opens the proxy on a port of this machine, for a system without network namespaces. Resolves to the port and the
   * environment of the command, whose sandbox must allow no other connection.
   */
  async listen(): Promise<{ readonly port: number; readonly env: Readonly<Record<string, string>> }> {
    const server = createServer({ allowHalfOpen: true });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    this.#proxy.serve(server);
    return { port, env: { ...this.#env, ...proxyVariables(port) } };
  }

  /** The refused connections, by destination, each with its reason. */
  get refusals(): ReadonlyMap<string, string> {
    return this.#access.refusals;
  }

  /** How long the command has waited for answers of the user. */
  get waitedMs(): number {
    return this.#access.waitedMs;
  }

  /** The command to start in the namespace. It sets the environment variables itself. */
  wrap(argv: readonly string[]): string[] {
    return [SYSTEM_SHELL, "-c", START, process.execPath, ...argv];
  }

  /** Receives the listener from a program that was just started with an IPC channel as its standard input. */
  attach(child: ChildProcess): void {
    child.once("message", (_message, handle: SendHandle | undefined) => {
      if (this.#isClosed || !(handle instanceof Server)) return child.disconnect();
      this.#proxy.serve(createServer({ allowHalfOpen: true }).listen(handle));
      child.send(startScript({ ...this.#env, ...proxyVariables(PORT) }), () => {
        if (child.connected) child.disconnect();
      });
    });
  }

  /** Closes all connections and withdraws all questions. */
  close(): void {
    this.#isClosed = true;
    this.#proxy.close();
  }
}

/**
 * Shell text that sets the variables and starts the command. They do not appear on a command line that others could
 * read.
 */
function startScript(env: Readonly<Record<string, string>>): string {
  const entries = Object.entries(env);
  const isPlain = ([name]: [string, string]): boolean => SHELL_NAME.test(name) && !RESERVED_NAMES.has(name);
  const exports = entries.filter(isPlain).map(([name, value]) => `export ${name}=${quoteForShell(value)}\n`);
  const others = entries
    .filter((entry) => !isPlain(entry))
    .map(([name, value]) => quoteForShell(`${name}=${value}`));
  const through = others.length === 0 ? "" : `/usr/bin/env ${others.join(" ")} `;
  // A shell warns about a missing locale, once more than without a proxy.
  return `{ ${exports.join("")}:; } 2>/dev/null\nexec ${through}"$@"`;
}
