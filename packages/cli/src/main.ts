import { errorMessage } from "@agent/core/toolkit";
import { CliError } from "./errors.js";
import { EXIT, type ExitCode } from "./exitCodes.js";
import { flush, note } from "./output.js";
import { runProgram } from "./program.js";

/** Runs one command line and resolves to its exit code, after everything it wrote has left. Never rejects. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  let exitCode: ExitCode;
  try {
    exitCode = await runProgram(args);
  } catch (error) {
    exitCode = report(error);
  }
  await flush();
  return exitCode;
}

function report(error: unknown): ExitCode {
  if (process.env.AGENT_DEBUG && error instanceof Error) note(error.stack ?? error.message);
  else note(`agent: ${errorMessage(error)}`);
  return error instanceof CliError ? error.exitCode : EXIT.config;
}
