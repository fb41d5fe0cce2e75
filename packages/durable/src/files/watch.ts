import { type FSWatcher, watch } from "node:fs";

// Where the system reports no changes, or has no room for another watcher, this is how late they are noticed.
const POLL_MS = 100;

/** Calls `onChange` soon after something in the directory may have changed, and at intervals in any case. */
export function watchDirectory(directory: string, onChange: () => void): () => void {
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(directory, { persistent: false }, onChange);
    watcher.on("error", () => watcher?.close());
  } catch {
    // No watcher is available: polling alone is enough.
  }
  const timer = setInterval(onChange, POLL_MS);
  return () => {
    clearInterval(timer);
    watcher?.close();
  };
}
