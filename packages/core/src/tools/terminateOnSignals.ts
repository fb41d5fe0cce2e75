import { checkFunction, checkObject } from "../toolkit/hostOptions/checks.js";

/** Signals that terminate a program without a handler for them, and that a program can handle. */
const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** Distinguishes the handlers of this function from those of the program. */
const IS_TERMINATOR = Symbol.for("@agent/core/terminateOnSignals");

/** An object with work to stop when the process exits, such as `registry.services`. */
export interface Terminable {
  terminate(): void;
}

/**
 * Stops what the packs started (commands, servers) when SIGINT, SIGTERM or SIGHUP terminates the process, and then lets
 * the signal do so. A signal with its own handler in the program is left to that handler. Returns a function that
 * removes the handlers.
 *
 *     const release = terminateOnSignals(agent.registry.services);
 */
export function terminateOnSignals(services: Terminable): () => void {
  checkObject("services", services);
  checkFunction("services.terminate", services.terminate);
  const onSignal = Object.assign(
    (signal: NodeJS.Signals): void => {
      const others = process.listeners(signal).filter((listener) => listener !== onSignal);
      if (others.some((listener) => !(IS_TERMINATOR in listener))) return;
      services.terminate();
      release();
      // Only the last handler re-sends the signal.
      if (others.length === 0) process.kill(process.pid, signal);
    },
    { [IS_TERMINATOR]: true },
  );
  const release = (): void => {
    for (const signal of ENDING_SIGNALS) process.off(signal, onSignal);
  };
  for (const signal of ENDING_SIGNALS) process.on(signal, onSignal);
  return release;
}
