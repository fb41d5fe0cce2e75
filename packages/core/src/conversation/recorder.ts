import { quotePath } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { checkFunction, checkText, invalidArgument } from "../toolkit/hostOptions/checks.js";
import type { Conversation } from "./conversation.js";
import { readExisting, SessionFile } from "./fileStore.js";
import { parseSession, sessionOf } from "./session.js";
import {
  formatEntry,
  formatHistory,
  isAppendable,
  isCutHeader,
  type SessionEntry,
  wholeLines,
} from "./sessionFile.js";

export interface RecorderOptions {
  /**
   * Called when a change could not be written. The next change and `flush` retry everything that is unwritten. Default:
   * a process warning.
   */
  readonly onError?: (error: Error) => void;
}

const OPTIONS: OptionChecks<RecorderOptions> = { onError: checkFunction };

/**
 * Writes a conversation to a session file as it happens, so that a killed program loses nothing that was complete: each
 * answer and each tool result is appended as one line and written before the work continues. The file is created with
 * the first change. An existing file must hold this conversation, and only one recorder may write to it: a second one
 * is detected and reported. Throws `session_invalid` for any other file.
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

/**
 * Appends the changes of one conversation to one file until it is closed. Tools that can change something wait until
 * the file is synced.
 */
export class SessionRecorder {
  readonly path: string;
  readonly #onError: (error: Error) => void;
  readonly #release: () => void;
  readonly #file: SessionFile;
  /** Lines that are not written yet. */
  #unwritten: string[] = [];
  #syncing: Promise<void> | undefined;
  #syncFailure: Error | undefined;
  #dirty = false;
  #closed = false;

  constructor(conversation: Conversation, path: string, onError: (error: Error) => void) {
    this.path = path;
    this.#onError = onError;
    this.#file = examine(conversation, path);
    this.#release = conversation.onChange((change) => this.#record(change), {
      path,
      save: (reason) => this.noteSaved(reason),
      // A failure is reported to `onError`, and the work continues.
      flush: () => this.flush().catch(() => undefined),
      whole: async () => {
        await this.flush();
        const text = readExisting(path)?.toString("utf8") ?? "";
        // The file is created with the first change.
        return text === "" || isCutHeader(text)
          ? sessionOf(conversation.changes())
          : parseSession(text, path, true);
      },
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
      this.#file.close();
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

  #write(): void {
    this.#file.append(this.#unwritten.join(""));
    this.#unwritten = [];
    this.#dirty = true;
  }

  /** Runs one sync at a time: lines written during a sync are covered by the next one. */
  #sync(): Promise<void> {
    if (!this.#dirty) return Promise.resolve();
    this.#dirty = false;
    this.#syncing = this.#file
      .sync()
      .catch((error: Error) => {
        this.#syncFailure = error;
        this.#onError(error);
      })
      .then(() => {
        this.#syncing = undefined;
        return this.#sync();
      });
    return this.#syncing;
  }
}

/** Checks the path. Throws unless it does not exist or holds this conversation. */
function examine(conversation: Conversation, path: string): SessionFile {
  const { systemPrompt, sessionContext, pending } = conversation;
  const bytes = readExisting(path);
  const text = bytes?.toString("utf8") ?? "";
  if (!bytes || text === "" || isCutHeader(text)) {
    return new SessionFile(path, bytes && { size: bytes.length, whole: 0 }, wholeHistory(conversation));
  }
  const found = { size: bytes.length, whole: wholeLines(bytes) };
  const session = parseSession(text, path);
  if (JSON.stringify([session.messages, session.pending]) !== JSON.stringify([sessionContext, pending])) {
    throw new AgentError(
      "session_invalid",
      `${quotePath(path)} holds another conversation. Load it with loadSession first, or choose another file.`,
    );
  }
  if (!isAppendable(text)) return new SessionFile(path, "replace", wholeHistory(conversation));
  const isSame = session.systemPrompt === systemPrompt;
  return new SessionFile(path, found, isSame ? "" : formatEntry({ type: "system", systemPrompt }));
}

function wholeHistory(conversation: Conversation): string {
  const changes = conversation.changes().filter(({ type }) => type !== "system");
  return formatHistory(conversation.systemPrompt, changes);
}
