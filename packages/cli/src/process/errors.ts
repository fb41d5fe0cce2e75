import { EXIT, type ExitCode } from "./exitCodes.js";

/** A failure with a message for the user and an exit code for the caller. Printed verbatim, without a stack. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: ExitCode;

  constructor(message: string, exitCode: ExitCode = EXIT.config, options?: { cause?: unknown }) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
