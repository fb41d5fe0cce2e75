/** The warnings of Node while `work` is done, which are not printed. */
export async function warningsDuring(work: () => Promise<unknown>): Promise<(Error & { code?: string })[]> {
  const warnings: Error[] = [];
  const listen = (warning: Error): void => {
    warnings.push(warning);
  };
  // Node's own listener prints them.
  const others = process.rawListeners("warning") as (() => void)[];
  process.removeAllListeners("warning");
  process.on("warning", listen);
  try {
    await work();
    // A warning is emitted in the turn after the one that caused it.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", listen);
    for (const other of others) process.on("warning", other);
  }
  return warnings;
}
