import { errorMessage, quotePath, temporaryName } from "@agent/internal";
import { AgentError } from "../errors.js";
import { makeDirectory } from "../toolkit/files/makeDirectory.js";
import { nodeFs, nodePath } from "../toolkit/files/nodeModules.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { checkFunction, checkText, invalidArgument } from "../toolkit/hostOptions/checks.js";
import type { Conversation } from "./conversation.js";
import { PRIVATE_FILE, parseSession } from "./session.js";
import {
  formatEntry,
  formatHistory,
  isAppendable,
  isCutHeader,
  type SessionEntry,
  wholeLines,
} from "./sessionFile.js";

// Without O_NONBLOCK, opening a FIFO would block the whole program until another process reads from it.
function appendFlags(): number {
  const { O_WRONLY, O_APPEND, O_NONBLOCK } = nodeFs.constants;
  return O_WRONLY | O_APPEND | O_NONBLOCK;
}

function createFlags(): number {
  const { O_CREAT, O_EXCL } = nodeFs.constants;
  return appendFlags() | O_CREAT | O_EXCL;
}

export interface RecorderOptions {
  /**
   * Called when a change could not be written. The next change, and `flush`, try to write all of it again. Default: a
   * warning of the process.
   */
  readonly onError?: (error: Error) => void;
}

const OPTIONS: OptionChecks<RecorderOptions> = { onError: checkFunction };

/**
 * Writes a conversation to a session file as it happens, so that a killed program loses nothing that was complete:
 * each answer and each result of a tool is appended as one line and handed to the system before the work continues.
 * The file is made with the first change. An existing file must hold this very conversation, and one recorder at a
 * time may write to it: a second one is noticed and reported. Throws `session_invalid` for any other file.
 *
 * @example
 * ```ts
 * import { Conversation, recordSession } from "@agent/core";
 *
 * const conversation = new Conversation({ systemPrompt: "Be brief." });
 * const recorder = recordSession(conversation, "session.jsonl");
 * await recorder.flush();
 * ```
 */
export function recordSession(
  conversation: Conversation,
  path: string,
  options: RecorderOptions = {},
): SessionRecorder {
  if (typeof conversation?.onChange !== "function") {
    throw invalidArgument("conversation", "a Conversation", conversation);
  }
  checkText("path", path);
  checkOptions("recordSession", options, OPTIONS);
  return new SessionRecorder(conversation, path, options.onError ?? ((error) => process.emitWarning(error)));
}

/** The state of the recorder's path before it writes: nothing, a file to append to, or a file of an older version. */
type Found = "nothing" | "appendable" | "replaceable";

/** Appends the changes of one conversation to one file until it is closed. */
export class SessionRecorder {
  readonly path: string;
  readonly #onError: (error: Error) => void;
  readonly #release: () => void;
  /** Lines missing in front of the first change; they are written together with it. */
  #opening = "";
  /** The lines that could not be written yet. */
  #unwritten: string[] = [];
  #found: Found;
  /** The size of the existing file, including an incomplete last line that will be cut off. */
  #foundSize = 0;
  #descriptor: number | undefined;
  /** The number of bytes in the file that are complete lines of this recorder. */
  #size = 0;
  #syncing: Promise<void> | undefined;
  #syncFailure: Error | undefined;
  #dirty = false;
  #closed = false;

  constructor(conversation: Conversation, path: string, onError: (error: Error) => void) {
    this.path = path;
    this.#onError = onError;
    this.#found = this.#examine(conversation);
    this.#release = conversation.onChange((change) => this.#record(change), {
      path,
      save: (reason) => this.noteSaved(reason),
    });
  }

  /** Records a request to save and its reason. Rejects if the file cannot be written. */
  async noteSaved(reason: string): Promise<void> {
    this.#unwritten.push(formatEntry({ type: "saved", at: new Date().toISOString(), reason }));
    this.#write();
    await this.flush();
  }

  /** Resolves once everything recorded so far is on the disk. Rejects if it cannot be written. */
  async flush(): Promise<void> {
    if (this.#unwritten.length > 0) this.#write();
    while (this.#dirty || this.#syncing) await (this.#syncing ?? this.#sync());
    const failure = this.#syncFailure;
    this.#syncFailure = undefined;
    if (failure) throw failure;
  }

  /** Stops recording; the conversation continues without it. Rejects if something could not be written. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
    try {
      await this.flush();
    } finally {
      if (this.#descriptor !== undefined) nodeFs.closeSync(this.#descriptor);
      this.#descriptor = undefined;
    }
  }

  #record(entry: SessionEntry): void {
    this.#unwritten.push(formatEntry(entry));
    try {
      this.#write();
      if (!this.#syncing) void this.#sync();
    } catch (error) {
      this.#onError(error as Error);
    }
  }

  /** Appends what is not in the file yet, all of it or nothing. */
  #write(): void {
    this.#descriptor ??= this.#open();
    if (nodeFs.fstatSync(this.#descriptor).size !== this.#size) throw this.#changedByOther();
    const bytes = Buffer.from(this.#opening + this.#unwritten.join(""));
    try {
      writeWhole(this.#descriptor, bytes);
    } catch (error) {
      nodeFs.ftruncateSync(this.#descriptor, this.#size);
      throw error;
    }
    this.#size += bytes.length;
    this.#opening = "";
    this.#unwritten = [];
    this.#dirty = true;
  }

  /** Syncs once at a time: lines written during a sync are covered by the next one. */
  #sync(): Promise<void> {
    const descriptor = this.#descriptor;
    if (descriptor === undefined || !this.#dirty) return Promise.resolve();
    this.#dirty = false;
    this.#syncing = new Promise<void>((resolve) => {
      nodeFs.fdatasync(descriptor, (error) => {
        // Some file systems do not support fsync.
        if (error && error.code !== "EINVAL" && error.code !== "ENOSYS") {
          this.#syncFailure = error;
          this.#onError(error);
        }
        resolve();
      });
    }).then(() => {
      this.#syncing = undefined;
      return this.#sync();
    });
    return this.#syncing;
  }

  /** Examines the path. Throws unless there is nothing, or a file with this very conversation. */
  #examine(conversation: Conversation): Found {
    const { systemPrompt, sessionContext, pending } = conversation;
    const bytes = readExisting(this.path);
    const text = bytes?.toString("utf8") ?? "";
    this.#foundSize = bytes?.length ?? 0;
    if (!bytes || text === "" || isCutHeader(text)) {
      this.#opening = wholeHistory(conversation);
      return bytes ? "appendable" : "nothing";
    }
    const session = parseSession(text, this.path);
    if (JSON.stringify([session.messages, session.pending]) !== JSON.stringify([sessionContext, pending])) {
      throw new AgentError(
        "session_invalid",
        `${quotePath(this.path)} holds another conversation. Load it with loadSession first, or choose another file.`,
      );
    }
    if (!isAppendable(text)) {
      this.#opening = wholeHistory(conversation);
      return "replaceable";
    }
    this.#size = wholeLines(bytes);
    if (session.systemPrompt !== systemPrompt) {
      this.#opening = formatEntry({ type: "system", systemPrompt });
    }
    return "appendable";
  }

  #open(): number {
    if (this.#found === "nothing") {
      makeDirectory(nodePath.dirname(this.path));
      const descriptor = nodeFs.openSync(this.path, createFlags(), PRIVATE_FILE);
      this.#found = "appendable";
      return descriptor;
    }
    if (this.#found === "replaceable") {
      const descriptor = this.#replace();
      this.#found = "appendable";
      return descriptor;
    }
    const descriptor = nodeFs.openSync(this.path, appendFlags());
    try {
      const stats = nodeFs.fstatSync(descriptor);
      if (!stats.isFile() || stats.size !== this.#foundSize) throw this.#changedByOther();
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
    const path = nodeFs.realpathSync(this.path);
    const temporary = nodePath.join(nodePath.dirname(path), temporaryName());
    const descriptor = nodeFs.openSync(temporary, createFlags(), PRIVATE_FILE);
    try {
      const bytes = Buffer.from(this.#opening);
      writeWhole(descriptor, bytes);
      nodeFs.fsyncSync(descriptor);
      nodeFs.renameSync(temporary, path);
      this.#size = bytes.length;
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
      `${quotePath(this.path)} was changed by another program. Nothing was written to it; record to another file.`,
    );
  }
}

function wholeHistory(conversation: Conversation): string {
  const { systemPrompt, sessionContext, pending, packStates, spending } = conversation;
  return formatHistory(
    systemPrompt,
    sessionContext,
    pending,
    (one) => conversation.detailsOf(one),
    packStates,
    (one) => conversation.infoOf(one),
    spending,
  );
}

function readExisting(path: string): Buffer | undefined {
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
