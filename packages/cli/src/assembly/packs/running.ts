/** What is running now. Apart from the registry, so that the handler for crashes costs nothing at start. */
const running = new Map<symbol, string>();

/** Notes that a tool runs until the returned function is called. */
export function noteRunning(name: string): () => void {
  const key = Symbol(name);
  running.set(key, name);
  return () => void running.delete(key);
}

export function runningTools(): string[] {
  return [...new Set(running.values())];
}
