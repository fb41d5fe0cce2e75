import { spawn } from "node:child_process";
import { countOf, systemProgram } from "@agent/internal";
import { ownProgram } from "@agent/terminal/host";
import { canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import { configuredServers, type McpFlags, namedServer } from "./servers.js";

const LOGIN_MS = 10 * 60 * 1000;

export interface LoginFlags extends McpFlags {
  readonly scope?: string;
  /** `--no-browser`. */
  readonly browser?: boolean;
}

/** `agent mcp login SERVER`: opens the browser and stores the login. Running chats use it with their next call. */
export async function mcpLogin(name: string, flags: LoginFlags): Promise<ExitCode> {
  const { manage, servers, host } = await configuredServers(flags);
  const options = namedServer(servers, name);
  if (!manage.isHttp(options)) {
    throw new CliError(`"${name}" is a program on this machine: it needs no login.`);
  }
  if (!canAsk()) {
    throw new CliError(`a login needs a terminal. Run in one: agent mcp login ${name}`, EXIT.refused);
  }
  const given = new AbortController();
  const giveUp = (): void => given.abort();
  process.once("SIGINT", giveUp);
  try {
    const { locked } = await manage.loginServer(name, options, host, {
      signal: AbortSignal.any([given.signal, AbortSignal.timeout(LOGIN_MS)]),
      ...(flags.scope !== undefined && { scope: flags.scope }),
      openBrowser: (url) => {
        note(`Open this address to log in (Ctrl+C cancels):\n${url.href}`);
        if (flags.browser !== false) openBrowser(url);
      },
    });
    if (flags.json)
      print(`${JSON.stringify({ v: 1, server: name, tools: locked.tools.length }, undefined, 2)}\n`);
    else print(`Logged in to ${name}: ${countOf(locked.tools.length, "tool")}.\n`);
    return EXIT.done;
  } catch (error) {
    if (!given.signal.aborted) throw error;
    note("The login was cancelled. An earlier login stays valid.");
    return EXIT.interrupted;
  } finally {
    process.off("SIGINT", giveUp);
  }
}

/** Opens the address with `$BROWSER`, or with the system's default handler. Success cannot be detected. */
function openBrowser(url: URL): void {
  const [opener, ...args] = browserCommand();
  if (opener === undefined) return;
  spawn(opener, [...args, url.href], { stdio: "ignore", detached: true })
    .on("error", () => undefined)
    .unref();
}

/** On Windows not `start`: that is a command of cmd.exe, which would interpret the address. */
function browserCommand(): readonly string[] {
  if (process.env.BROWSER) return [process.env.BROWSER];
  if (process.platform === "win32") return [systemProgram("rundll32.exe"), "url.dll,FileProtocolHandler"];
  const opener = ownProgram(process.platform === "darwin" ? "open" : "xdg-open");
  return opener === undefined ? [] : [opener];
}
