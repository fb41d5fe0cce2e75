import { join } from "node:path";
import { errorMessage } from "@agent/core/toolkit";
import type { RunEngine } from "@agent/durable";
import { quotePath } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { EXIT } from "../../process/exitCodes.js";
import { stateDirectory } from "../../process/paths.js";
import { hideCredentials } from "../../settings/secrets.js";
import { printFault } from "./faults.js";
import { withProgress } from "./progress.js";

export interface EngineFlags {
  readonly engine?: string;
  readonly redis?: string;
}

const POSTGRES = /^postgres(ql)?:\/\//;

/**
 * Opens the engine that stores runs, calls `work` and closes it. `--engine`, or `$AGENT_RUNS_ENGINE`, is a directory or
 * the address of a Postgres database. Default: a directory of this user.
 */
export async function withEngine<T>(flags: EngineFlags, work: (engine: RunEngine) => Promise<T>): Promise<T> {
  const where = flags.engine ?? (process.env.AGENT_RUNS_ENGINE || join(stateDirectory(), "runs"));
  const engine = await withProgress(`Opening ${hideCredentials(where)}`, () => openEngine(where, flags));
  try {
    return await work(engine);
  } catch (error) {
    throw POSTGRES.test(where) ? error : namingDirectory(error, where);
  } finally {
    await engine.close();
  }
}

/** A failed write names no path, as on a full disk: an error that says which directory is meant. */
function namingDirectory(error: unknown, directory: string): unknown {
  const isWrite =
    error instanceof Error && "syscall" in error && /^(?:write|fsync)/.test(String(error.syscall));
  if (!isWrite || "path" in error) return error;
  const message = `The directory of runs ${quotePath(directory)} cannot be used: ${error.message}`;
  return new CliError(message, EXIT.config, { cause: error });
}

async function openEngine(where: string, { redis }: EngineFlags): Promise<RunEngine> {
  try {
    if (!POSTGRES.test(where)) {
      if (/^[a-z]+:\/\//i.test(where)) {
        throw new CliError(
          `--engine must be a directory or a postgres:// address, got "${hideCredentials(where)}".`,
        );
      }
      // An unused --redis is an error; an unused environment variable is not, since it may be meant for other commands.
      if (redis !== undefined) {
        throw new CliError("--redis needs Postgres: add --engine postgres://…, or leave out --redis.");
      }
      const { createFileEngine } = await import("@agent/durable");
      return createFileEngine(where);
    }
    const queue = redis ?? process.env.AGENT_RUNS_REDIS;
    const { createBullmqEngine } = await import("@agent/durable/bullmq");
    return await createBullmqEngine({
      postgres: where,
      ...(queue && { redis: queue }),
      onFault: printFault,
    });
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(errorMessage(error), EXIT.config, { cause: error });
  }
}
