import { type EndingSignal, type ExitCode, SIGNAL_EXITS } from "../process/exitCodes.js";

/** Calls `end` with the exit code a signal stands for, instead of ending the process. Call the result to stop. */
export function onEndingSignals(signals: readonly EndingSignal[], end: (code: ExitCode) => void): () => void {
  const handlers = signals.map((signal) => [signal, () => end(SIGNAL_EXITS[signal])] as const);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}
