// Node warns about the eleventh listener of `process`: all hosts of this process share one.
const callbacks = new Set<() => void>();

/** Calls `callback` when the process (or the worker thread) ends, until the returned function is called. */
export function onProcessExit(callback: () => void): () => void {
  if (callbacks.size === 0) process.on("exit", runAll);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) process.off("exit", runAll);
  };
}

function runAll(): void {
  for (const callback of callbacks) {
    try {
      callback();
    } catch {
      // Continue after an error: the next host has processes to kill, too.
    }
  }
}
