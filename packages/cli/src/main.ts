import { errorMessage } from "@agent/core/toolkit";
import { CrashGuard } from "./process/crash.js";
import { CliError } from "./process/errors.js";
import { EXIT, type ExitCode } from "./process/exitCodes.js";
import { flush, note, reserveStandardOutput, watchOutput } from "./process/output.js";

const FIRST_SIGNAL = 128;

/**
 * Runs one command line and resolves to its exit code, after everything it wrote has been flushed. Never rejects.
 * `exit` terminates the process immediately, after an uncaught error.
 */
export async function main(args: readonly string[], exit: (code: number) => never): Promise<ExitCode> {
  const outputProblem = watchOutput();
  reserveStandardOutput();
  const guard = new CrashGuard();
  guard.watch(exit);
  let exitCode: ExitCode;
  try {
    exitCode = await run(args);
  } catch (error) {
    exitCode = report(error);
  }
  await flush();
  const problem = outputProblem();
  // A closed terminal also fails writes: then report the signal as the reason.
  if (problem !== undefined && exitCode < FIRST_SIGNAL) {
    note(`agent: ${problem}`);
    await flush();
    exitCode = EXIT.output;
  }
  guard.release();
  return exitCode;
}

/** Without arguments the parser is not loaded, so that the first prompt does not wait for it. */
async function run(args: readonly string[]): Promise<ExitCode> {
  if (args.length === 0 && process.stdin.isTTY) {
    const { chatCommand } = await import("./commands/chat.js");
    return await chatCommand({}, { resume: undefined });
  }
  const { runProgram } = await import("./program.js");
  return await runProgram(args);
}

function report(error: unknown): ExitCode {
  if (process.env.AGENT_DEBUG && error instanceof Error) note(error.stack ?? error.message);
  else note(`agent: ${errorMessage(error)}`);
  return error instanceof CliError ? error.exitCode : EXIT.config;
}
