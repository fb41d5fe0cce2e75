import { EXIT, type ExitCode } from "../process/exitCodes.js";

const EXIT_CODES = { SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp, SIGINT: EXIT.interrupted } as const;

/** Calls `end` with the exit code a signal stands for, instead of ending the process. Call the result to stop. */
export function onEndingSignals(
  signals: readonly (keyof typeof EXIT_CODES)[],
  end: (code: ExitCode) => void,
): () => void {
  const handler = (signal: NodeJS.Signals): void => {
    for (const [name, code] of Object.entries(EXIT_CODES)) if (name === signal) end(code);
  };
  for (const signal of signals) process.on(signal, handler);
  return () => {
    for (const signal of signals) process.off(signal, handler);
  };
}
