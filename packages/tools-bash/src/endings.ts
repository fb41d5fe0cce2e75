const endings = new Map<number, () => void>();

/** From now on `endCommand(pid)` calls `end`, until the returned function is called. */
export function offerEnding(pid: number, end: () => void): () => void {
  endings.set(pid, end);
  return () => endings.delete(pid);
}

/** Ends the command with this shell, if a call waits for one; that call returns as usual. Returns whether one did. */
export function endCommand(pid: number): boolean {
  const end = endings.get(pid);
  end?.();
  return end !== undefined;
}
