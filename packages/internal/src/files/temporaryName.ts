import { nodeFs, nodePath } from "./nodeModules.js";
import { hasEnded, processTag } from "./processTag.js";

const NAME = /^\.agent-([0-9a-z]{1,7}-[1-9]\d{0,9})-[0-9a-z]{1,16}\.tmp$/;
// Temporary files of another machine, boot or container are judged by age alone: no write takes a day.
const ABANDONED_AFTER_MS = 24 * 60 * 60 * 1000;
// A directory with more entries than this is not searched to its end.
const MAX_ENTRIES = 2000;

/**
 * A name for a temporary file next to its target: short, since a suffix would push a 250-byte name over the limit of
 * 255, and with the writing process, so that `removeAbandoned` can check whether that has exited. It need not be
 * secret, since the file is only ever created exclusively; so no cryptography is loaded.
 *
 * @example
 * ```ts
 * import { temporaryName } from "@agent/core/toolkit";
 *
 * console.log(temporaryName() !== temporaryName()); // true
 * ```
 */
export function temporaryName(): string {
  return `.agent-${processTag()}-${Math.random().toString(36).slice(2)}.tmp`;
}

/**
 * Removes temporary files in a directory whose writers were killed: only regular files of this user (root: of anyone)
 * with such a name, whose writing process on this system no longer exists, or that have not been touched for a day.
 * Never throws.
 */
export function removeAbandoned(directory: string): void {
  quietly(() => {
    for (const name of temporaries(directory)) {
      quietly(() => removeIfAbandoned(nodePath.join(directory, name), name));
    }
  });
}

/**
 * Ignores an error of `work`: entries that cannot be listed, read or removed stay, and the write does not depend on
 * them.
 */
function quietly(work: () => void): void {
  try {
    work();
  } catch {}
}

function* temporaries(directory: string): Generator<string> {
  const handle = nodeFs.opendirSync(directory, { bufferSize: 1000 });
  try {
    for (let count = 0; count < MAX_ENTRIES; count++) {
      const entry = handle.readSync();
      if (entry === null) return;
      if (NAME.test(entry.name)) yield entry.name;
    }
  } finally {
    handle.closeSync();
  }
}

function removeIfAbandoned(path: string, name: string): void {
  const [, tag = ""] = NAME.exec(name) ?? [];
  const info = nodeFs.lstatSync(path);
  const user = process.geteuid?.() ?? info.uid;
  if (!info.isFile() || (user !== 0 && info.uid !== user)) return;
  if (hasEnded(tag) || Date.now() - info.mtimeMs > ABANDONED_AFTER_MS) nodeFs.unlinkSync(path);
}
