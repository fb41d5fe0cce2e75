import type { AddressInfo } from "node:net";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print, printLine } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import { watchInterruption } from "../../run/interruption.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { createRunsServer, ROLES, type Role } from "./server.js";

export interface ServeFlags extends EngineFlags {
  readonly port?: string;
  readonly board?: string;
  readonly tenant?: string;
  readonly roles?: boolean;
  readonly json?: boolean;
}

/** `agent runs serve`: serves the page on loopback, to anyone who has the address with its token. */
export async function serveCommand(flags: ServeFlags): Promise<ExitCode> {
  const port = Number(flags.port ?? 0);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`--port must be a number from 0 to 65535, got "${flags.port}".`);
  }
  const board = flags.board ?? (process.env.AGENT_RUNS_BOARD || undefined);
  if (board !== undefined && !/^https?:\/\//.test(board)) {
    throw new CliError(`--board must be an address such as https://board.example, got "${board}".`);
  }
  return await withEngine(flags, async (engine) => {
    const tokens = readTokens(process.env.AGENT_RUNS_TOKENS ?? "");
    // Programs that this process starts must not inherit them.
    delete process.env.AGENT_RUNS_TOKENS;
    const server = createRunsServer(engine, tokens, {
      ...(board !== undefined && { board }),
      version: readVersion(),
      ...(flags.tenant !== undefined && { tenant: flags.tenant }),
    });
    await new Promise<void>((resolve, reject) => {
      server.once("error", (error) => reject(new CliError(`The page cannot be served: ${error.message}`)));
      server.listen(port, "127.0.0.1", resolve);
    });
    const { port: actual } = server.address() as AddressInfo;
    // The token is in the fragment, which a browser never sends: it appears in no log.
    const urls = Object.fromEntries(
      ROLES.map((role) => [role, `http://127.0.0.1:${actual}/#token=${tokens[role]}`]),
    ) as Record<Role, string>;
    if (flags.json) print(`${JSON.stringify({ v: 1, url: urls.admin, urls })}\n`);
    else {
      for (const role of flags.roles ? ROLES : []) printLine(`${role}: ${urls[role]}`);
      if (!flags.roles) printLine(urls.admin);
      note("Open it in a browser. Stop with Ctrl+C.");
    }
    const interruption = watchInterruption(undefined);
    await new Promise((resolve) => interruption.signal.addEventListener("abort", resolve, { once: true }));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    interruption.release();
    return EXIT.done;
  });
}

/** The token of each role, from `viewer:…,approver:…,admin:…`, otherwise a new one. */
function readTokens(text: string): Readonly<Record<Role, string>> {
  const tokens = Object.fromEntries(ROLES.map((role) => [role, crypto.randomUUID() as string]));
  for (const part of text.split(",").filter((one) => one.trim() !== "")) {
    const [, role = "", token = ""] = /^\s*(\w+):([\w-]{16,200})\s*$/.exec(part) ?? [];
    if (!ROLES.includes(role as Role)) {
      throw new CliError(
        `$AGENT_RUNS_TOKENS must be role:token, separated by commas, with the roles ${ROLES.join(", ")} and tokens of at least 16 letters, digits, "_" or "-".`,
      );
    }
    tokens[role] = token;
  }
  return tokens as Record<Role, string>;
}
