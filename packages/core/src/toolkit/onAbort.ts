import { checkFunction, checkSignal } from "./hostOptions/checks.js";

/**
 * Calls `listener` when the signal fires, unless released before. A signal that has fired calls nobody. Any
 * number of calls may share one signal: Node prints no warning about them.
 *
 * @example
 * ```ts
 * import { onAbort } from "@agent/core/toolkit";
 *
 * const controller = new AbortController();
 * const release = onAbort(controller.signal, () => console.log("stopped")); // stopped
 * controller.abort();
 * release();
 * ```
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  checkFunction("listener", listener);
  if (signal === undefined) return () => undefined;
  checkSignal("signal", signal);
  // Node would print a warning about the eleventh call that waits. Other runtimes have no such limit.
  const events = globalThis.process?.getBuiltinModule?.("node:events");
  if (signal instanceof EventTarget) events?.setMaxListeners?.(0, signal);
  signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
