// The simplest search that does not stop the host: worker threads that read files into one buffer, look for a literal with
// Buffer.indexOf, and leave the rest to V8's RegExp. Measured in search.mjs to show what the layers of tools-search add.
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { isMainThread, parentPort, Worker } from "node:worker_threads";

const BINARY_BYTES = 8192;

/** `search({ path, pattern, flags, literal })` resolves to the number of matching lines. A match contains `literal`. */
export function createV8Search() {
  const workers = Array.from(
    { length: Math.min(2, availableParallelism()) },
    () => new Worker(new URL(import.meta.url)),
  );
  for (const worker of workers) worker.unref();
  return async ({ path, ...query }) => {
    const files = [...walk(path)];
    const counts = await Promise.all(
      workers.map(
        (worker, index) =>
          new Promise((done) => {
            worker.once("message", done);
            worker.postMessage({ ...query, files: files.filter((_, at) => at % workers.length === index) });
          }),
      ),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  };
}

function* walk(directory) {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.name === ".git") continue;
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* walk(path);
    else if (entry.isFile()) yield path;
  }
}

let memory = Buffer.allocUnsafe(1 << 20);

function read(file) {
  const descriptor = openSync(file);
  try {
    let size = 0;
    for (;;) {
      const count = readSync(descriptor, memory, size, memory.length - size, null);
      if (count === 0) return memory.subarray(0, size);
      size += count;
      if (size < memory.length) continue;
      const larger = Buffer.allocUnsafe(memory.length * 2);
      memory.copy(larger, 0, 0, size);
      memory = larger;
    }
  } finally {
    closeSync(descriptor);
  }
}

function countLines(content, { pattern, flags, literal }) {
  if (content.subarray(0, BINARY_BYTES).includes(0)) return 0;
  return literal === undefined
    ? byText(content, pattern, flags)
    : byLiteral(content, pattern, flags, literal);
}

function byLiteral(content, pattern, flags, literal) {
  const test = pattern === undefined ? undefined : new RegExp(pattern, flags);
  let count = 0;
  for (let at = content.indexOf(literal); at !== -1; ) {
    const found = content.indexOf(10, at);
    const end = found === -1 ? content.length : found;
    const start = content.lastIndexOf(10, at) + 1;
    if (test === undefined || test.test(content.latin1Slice(start, end))) count++;
    at = end >= content.length ? -1 : content.indexOf(literal, end + 1);
  }
  return count;
}

function byText(content, pattern, flags) {
  const text = content.latin1Slice();
  const expression = new RegExp(pattern, `gm${flags}`);
  let count = 0;
  while (expression.exec(text) !== null) {
    count++;
    const end = text.indexOf("\n", expression.lastIndex);
    if (end === -1) break;
    expression.lastIndex = end + 1;
  }
  return count;
}

if (!isMainThread) {
  parentPort.on("message", ({ files, ...query }) => {
    let count = 0;
    for (const file of files) count += countLines(read(file), query);
    parentPort.postMessage(count);
  });
}
