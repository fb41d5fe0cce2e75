import { checkFunction, checkSignal } from "./hostOptions/checks.js";

/**
 * Calls `listener` when the signal fires, unless released before. If the signal has fired already, `listener` is never
 * called. Any number of calls may share one signal: Node prints no warning about them.
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
  if (signal.aborted) return () => undefined;
  return listenersOf(signal).add(listener);
}

/** The listeners of each signal. Weak: they are collected with the signal. */
const LISTENERS = new WeakMap<AbortSignal, AbortListeners>();

function listenersOf(signal: AbortSignal): AbortListeners {
  const known = LISTENERS.get(signal);
  if (known) return known;
  const listeners = new AbortListeners(signal);
  LISTENERS.set(signal, listeners);
  return listeners;
}

/** All listeners of one signal, with a single event listener: a thousand calls may share a signal. */
class AbortListeners {
  readonly #signal: AbortSignal;
  readonly #waiting = new Set<{ readonly listener: () => void }>();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // A provider or a tool may add its own listeners in every turn, and Node would print a warning at the eleventh.
    // Other runtimes have no such limit.
    const events = globalThis.process?.getBuiltinModule?.("node:events");
    if (signal instanceof EventTarget) events?.setMaxListeners?.(0, signal);
  }

  add(listener: () => void): () => void {
    const entry = { listener };
    if (this.#waiting.size === 0) this.#signal.addEventListener("abort", this.#fire);
    this.#waiting.add(entry);
    return () => {
      this.#waiting.delete(entry);
      // A signal made of others stays in memory as long as it has a listener.
      if (this.#waiting.size === 0) this.#signal.removeEventListener("abort", this.#fire);
    };
  }

  readonly #fire = (): void => {
    for (const entry of this.#waiting) {
      this.#waiting.delete(entry);
      try {
        entry.listener();
      } catch (error) {
        // As with event listeners, an error in one listener does not prevent the others, and is reported.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
    this.#signal.removeEventListener("abort", this.#fire);
  };
}
