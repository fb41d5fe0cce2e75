import { errorMessage, quotePath, temporaryName, windowsNameProblem } from "@agent/internal";
import { AgentError } from "../errors.js";
import { makeDirectory } from "../toolkit/files/makeDirectory.js";
import { nodeFs, nodePath } from "../toolkit/files/nodeModules.js";
import { checkText, invalidArgument } from "../toolkit/hostOptions/checks.js";
import { PRIVATE_FILE, parseSession } from "./session.js";
import {
  changesOf,
  formatEntry,
  formatHistory,
  isAppendable,
  isCutHeader,
  wholeLines,
} from "./sessionFile.js";
import type { ConversationStore } from "./store.js";

const LONGEST_NAME = 200;
// What is known of other files is read again: a server may have millions of conversations.
const MOST_KNOWN = 1000;

/**
 * Keeps every conversation as a session file in a directory, the same format as that of `recordSession`. A process that is
 * killed loses nothing that was stored; one process at a time may write to a conversation.
 *
 * @example
 * ```ts
 * import { Agent, fileStore, openConversation } from "@agent/core";
 * import { scriptedProvider } from "@agent/core/replay";
 *
 * const { conversation, close } = await openConversation(fileStore("chats"), "user-1");
 * await new Agent(scriptedProvider(["Hello."]), { conversation }).chat("Hi.");
 * await close(); // chats/user-1.jsonl has both messages
 * ```
 */
export function fileStore(directory: string): ConversationStore {
  checkText("directory", directory);
  // The least recently used first.
  const known = new Map<string, KnownFile>();
  const keep = (id: string, file: KnownFile): void => {
    known.delete(id);
    known.set(id, file);
    const [oldest] = known.keys();
    if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest);
  };
  const load: ConversationStore["load"] = async (id) => {
    const path = nodePath.join(directory, fileName(id));
    const bytes = readExisting(path);
    const text = bytes?.toString("utf8") ?? "";
    if (!bytes || text === "" || isCutHeader(text)) {
      const found = bytes && { size: bytes.length, whole: 0 };
      keep(id, { file: new SessionFile(path, found, formatHistory("")), count: 0 });
      return [];
    }
    parseSession(text, path);
    if (!isAppendable(text)) {
      throw new AgentError(
        "session_invalid",
        `${quotePath(path)} is a session of an older version. Load it with loadSession and save it again.`,
      );
    }
    const changes = changesOf(text);
    const found = { size: bytes.length, whole: wholeLines(bytes) };
    keep(id, { file: new SessionFile(path, found), count: changes.length });
    return changes;
  };
  return {
    load,
    async append(id, changes, position) {
      if (!known.has(id)) await load(id);
      const stored = known.get(id);
      if (stored?.count !== position) throw new Error("another program is writing to this conversation.");
      keep(id, stored);
      let remove: (() => void) | undefined;
      try {
        remove = stored.file.append(changes.map(formatEntry).join(""));
        stored.count += changes.length;
        await stored.file.sync();
      } catch (error) {
        stored.count = position;
        remove?.();
        throw error;
      } finally {
        // A server has more conversations than it may have open files.
        stored.file.close();
      }
    },
  };
}

/** A file of the store, and the number of changes in it. */
interface KnownFile {
  readonly file: SessionFile;
  count: number;
}

function fileName(id: string): string {
  checkText("id", id);
  const toCode = (one: string): string => `%${one.charCodeAt(0).toString(16).toUpperCase()}`;
  // Capitals are encoded too: some disks do not tell them from small letters. Windows has no names with an asterisk.
  const encode = (text: string): string =>
    encodeURIComponent(text).replace(/%[0-9A-F]{2}|[A-Z*]/g, (one) => (one.length > 1 ? one : toCode(one)));
  const encoded = id.isWellFormed() ? encode(id) : "";
  // Windows opens a device for `con.jsonl`. A folder moves between systems, so names are the same on all of them.
  const isDevice = windowsNameProblem(`${encoded}.jsonl`) !== undefined;
  const name = isDevice ? encoded.replace(/^./, toCode) : encoded;
  if (name === "" || name.length > LONGEST_NAME) {
    throw invalidArgument("id", `a string that is a file name of at most ${LONGEST_NAME} bytes`, id);
  }
  return `${name}.jsonl`;
}

/** What was found at a path: nothing, a file to replace by one of this version, or its size and how much of it is whole lines. */
export type FoundFile = undefined | "replace" | { readonly size: number; readonly whole: number };

/** A session file that lines are appended to. It is made with the first of them. */
export class SessionFile {
  readonly #path: string;
  /** Lines that are missing before the first one. */
  #opening: string;
  #found: FoundFile;
  #descriptor: number | undefined;
  /** The number of bytes in the file that are complete lines. */
  #size = 0;

  constructor(path: string, found: FoundFile, opening = "") {
    this.#path = path;
    this.#found = found;
    this.#opening = opening;
    if (typeof found === "object") this.#size = found.whole;
  }

  /**
   * Appends these lines, all of them or nothing, and returns a function that removes them again. Throws if another program
   * has written to the file.
   */
  append(lines: string): () => void {
    this.#descriptor ??= this.#open();
    if (nodeFs.fstatSync(this.#descriptor).size !== this.#size) throw this.#changedByOther();
    const bytes = Buffer.from(this.#opening + lines);
    const [descriptor, size, opening] = [this.#descriptor, this.#size, this.#opening];
    const remove = (): void => {
      nodeFs.ftruncateSync(descriptor, size);
      this.#size = size;
      this.#opening = opening;
    };
    try {
      writeWhole(descriptor, bytes);
    } catch (error) {
      remove();
      throw error;
    }
    this.#size += bytes.length;
    this.#opening = "";
    return remove;
  }

  /** Resolves once everything is on the disk. */
  async sync(): Promise<void> {
    const descriptor = this.#descriptor;
    if (descriptor === undefined) return;
    await new Promise<void>((resolve, reject) => {
      nodeFs.fdatasync(descriptor, (error) => {
        // Some file systems do not support fsync.
        if (error && error.code !== "EINVAL" && error.code !== "ENOSYS") reject(error);
        else resolve();
      });
    });
  }

  /** Closes the file. The next lines open it again. */
  close(): void {
    if (this.#descriptor === undefined) return;
    nodeFs.closeSync(this.#descriptor);
    this.#descriptor = undefined;
    this.#found = { size: this.#size, whole: this.#size };
  }

  #open(): number {
    if (this.#found === undefined) {
      makeDirectory(nodePath.dirname(this.#path));
      const descriptor = nodeFs.openSync(this.#path, createFlags(), PRIVATE_FILE);
      this.#found = { size: 0, whole: 0 };
      return descriptor;
    }
    if (this.#found === "replace") return this.#replace();
    const descriptor = nodeFs.openSync(this.#path, appendFlags());
    try {
      const stats = nodeFs.fstatSync(descriptor);
      if (!stats.isFile() || stats.size !== this.#found.size) throw this.#changedByOther();
      // A killed writer left an incomplete last line.
      nodeFs.ftruncateSync(descriptor, this.#size);
      return descriptor;
    } catch (error) {
      nodeFs.closeSync(descriptor);
      throw error;
    }
  }

  /** Puts a new file with the whole conversation in place of one of an older version. */
  #replace(): number {
    const path = nodeFs.realpathSync(this.#path);
    const temporary = nodePath.join(nodePath.dirname(path), temporaryName());
    const descriptor = nodeFs.openSync(temporary, createFlags(), PRIVATE_FILE);
    try {
      const bytes = Buffer.from(this.#opening);
      writeWhole(descriptor, bytes);
      nodeFs.fsyncSync(descriptor);
      nodeFs.renameSync(temporary, path);
      this.#size = bytes.length;
      this.#found = { size: this.#size, whole: this.#size };
      this.#opening = "";
      return descriptor;
    } catch (error) {
      nodeFs.closeSync(descriptor);
      nodeFs.rmSync(temporary, { force: true });
      throw error;
    }
  }

  #changedByOther(): AgentError {
    return new AgentError(
      "session_invalid",
      `${quotePath(this.#path)} was changed by another program. Nothing was written to it; record to another file.`,
    );
  }
}

// Without O_NONBLOCK, opening a FIFO would block the whole program until another process reads from it.
function appendFlags(): number {
  const { O_WRONLY, O_APPEND, O_NONBLOCK } = nodeFs.constants;
  return O_WRONLY | O_APPEND | O_NONBLOCK;
}

function createFlags(): number {
  const { O_CREAT, O_EXCL } = nodeFs.constants;
  return appendFlags() | O_CREAT | O_EXCL;
}

/** The bytes of a file; `undefined` if there is none. Throws `session_invalid` for what is not a file. */
export function readExisting(path: string): Buffer | undefined {
  try {
    const stats = nodeFs.statSync(path, { throwIfNoEntry: false });
    if (!stats) return undefined;
    if (!stats.isFile()) throw new Error("it is not a regular file.");
    return nodeFs.readFileSync(path);
  } catch (error) {
    throw new AgentError(
      "session_invalid",
      `The session ${quotePath(path)} cannot be continued: ${errorMessage(error)}`,
      { cause: error },
    );
  }
}

function writeWhole(descriptor: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    written += nodeFs.writeSync(descriptor, bytes, written);
  }
}
