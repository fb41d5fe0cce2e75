import { spawn } from "node:child_process";
import { canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import { configuredServers, type McpFlags, selectServers } from "./servers.js";

const LOGIN_MS = 10 * 60 * 1000;

/** `agent mcp login SERVER`: opens the browser and keeps the login. Running chats use it with their next call. */
export async function mcpLogin(name: string, flags: McpFlags): Promise<ExitCode> {
  const { manage, servers, host } = await configuredServers(flags);
  const [[server, options] = []] = selectServers(servers, name);
  if (server === undefined || options === undefined || !manage.isHttp(options)) {
    throw new CliError(`"${name}" is a program on this machine: it needs no login.`);
  }
  if (!canAsk()) {
    throw new CliError(`a login needs a terminal. Run in one: agent mcp login ${name}`, EXIT.refused);
  }
  const { locked } = await manage.loginServer(server, options, host, {
    signal: AbortSignal.timeout(LOGIN_MS),
    ...(flags.scope !== undefined && { scope: flags.scope }),
    openBrowser: (url) => {
      note(`Open this address to log in:\n${url.href}`);
      const opener = process.platform === "darwin" ? "open" : "xdg-open";
      spawn(opener, [url.href], { stdio: "ignore", detached: true })
        .on("error", () => undefined)
        .unref();
    },
  });
  if (flags.json) print(`${JSON.stringify({ v: 1, server, tools: locked.tools.length }, undefined, 2)}\n`);
  else print(`Logged in to ${server}: ${locked.tools.length} tools.\n`);
  return EXIT.done;
}
