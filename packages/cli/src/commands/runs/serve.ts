import type { AddressInfo } from "node:net";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print, printLine } from "../../process/output.js";
import { readVersion } from "../../process/version.js";
import { watchInterruption } from "../../run/interruption.js";
import { type EngineFlags, withEngine } from "./engine.js";
import { createRunsServer } from "./server.js";

export interface ServeFlags extends EngineFlags {
  readonly port?: string;
  readonly board?: string;
  readonly tenant?: string;
  readonly json?: boolean;
}

/** `agent runs serve`: serves the page on loopback, to anybody who has the address with its token. */
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
    const token = crypto.randomUUID();
    const server = createRunsServer(engine, token, {
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
    const url = `http://127.0.0.1:${actual}/#token=${token}`;
    if (flags.json) print(`${JSON.stringify({ v: 1, url })}\n`);
    else {
      printLine(url);
      note("Open it in a browser. Stop with Ctrl-C.");
    }
    const interruption = watchInterruption(undefined);
    await new Promise((resolve) => interruption.signal.addEventListener("abort", resolve, { once: true }));
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    interruption.release();
    return EXIT.done;
  });
}
