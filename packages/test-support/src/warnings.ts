/** The names of the warnings that Node prints while `work` is done. */
export async function warningsDuring(work: () => Promise<unknown>): Promise<string[]> {
  const names: string[] = [];
  const listen = (warning: Error): void => {
    names.push(warning.name);
  };
  process.on("warning", listen);
  try {
    await work();
    // A warning is emitted in the turn after the one that caused it.
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off("warning", listen);
  }
  return names;
}
