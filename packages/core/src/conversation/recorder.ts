import {
  closeSync,
  constants,
  fdatasync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { AgentError } from "../errors.js";
import type { ChatMessage } from "../providers/interface.js";
import { checkFunction, checkText, invalidArgument } from "../toolkit/checks.js";
import { quotePath } from "../toolkit/describe.js";
import { checkOptions, type OptionChecks } from "../toolkit/options.js";
import { temporaryName } from "../toolkit/temporaryName.js";
import type { Conversation, ConversationChange } from "./conversation.js";
import { PRIVATE_FILE, parseSession } from "./session.js";
import {
  formatEntry,
  formatHeader,
  formatSession,
  isAppendable,
  type SessionEntry,
  wholeLines,
} from "./sessionFile.js";

export interface RecorderOptions {
  /** Told when a change could not be written. The next change tries to write all of it again. */
  readonly onError?: (error: Error) => void;
}

const OPTIONS: OptionChecks<RecorderOptions> = { onError: checkFunction };

/**
 * Writes a conversation to a session file as it happens, so that a killed program loses nothing that was complete:
 * each answer and each result of a tool is appended as one line and handed to the system before the work goes on.
 * The file is made with the first change. An existing file must hold this very conversation.
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
  return new SessionRecorder(conversation, path, options.onError ?? (() => undefined));
}

/** Appends the changes of one conversation to one file until it is closed. */
export class SessionRecorder {
  readonly path: string;
  readonly #conversation: Conversation;
  readonly #onError: (error: Error) => void;
  readonly #release: () => void;
  /** The history when recording began, for a file that does not exist yet. */
  readonly #before: readonly ChatMessage[];
  /** The answer that waits for its results, with those that are there: not in the history yet. */
  #openRound: ConversationChange[] = [];
  #descriptor: number | undefined;
  #syncing: Promise<void> | undefined;
  #dirty = false;
  #broken = false;
  #closed = false;

  constructor(conversation: Conversation, path: string, onError: (error: Error) => void) {
    this.path = path;
    this.#conversation = conversation;
    this.#onError = onError;
    this.#before = [...conversation.sessionContext];
    this.#continue();
    this.#release = conversation.onChange(
      (change) => this.#record(change),
      (reason) => this.noteSaved(reason),
    );
  }

  /** Notes that somebody asked for a save, and why. Throws if the file cannot be written. */
  async noteSaved(reason: string): Promise<void> {
    this.#append({ type: "saved", at: new Date().toISOString(), reason });
    await this.flush();
  }

  /** Resolves once everything written so far is on the disk. */
  async flush(): Promise<void> {
    while (this.#dirty || this.#syncing) await (this.#syncing ?? this.#sync());
  }

  /** One request at a time: what is written meanwhile goes with the next. */
  #sync(): Promise<void> {
    const descriptor = this.#descriptor;
    if (descriptor === undefined || !this.#dirty) return Promise.resolve();
    this.#dirty = false;
    this.#syncing = new Promise<void>((resolve) => fdatasync(descriptor, () => resolve())).then(() => {
      this.#syncing = undefined;
      return this.#sync();
    });
    return this.#syncing;
  }

  /** Stops recording; the conversation goes on without it. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#release();
    await this.flush();
    this.#closeFile();
  }

  #record(change: ConversationChange): void {
    this.#followRound(change);
    try {
      this.#append(change);
      if (!this.#syncing) void this.#sync();
    } catch (error) {
      this.#broken = true;
      this.#onError(error as Error);
    }
  }

  #append(entry: SessionEntry): void {
    if (this.#broken) {
      this.#rewrite();
    } else {
      this.#descriptor ??= this.#create();
      writeWhole(this.#descriptor, formatEntry(entry));
    }
    this.#dirty = true;
  }

  #followRound(change: ConversationChange): void {
    const opens =
      change.type === "message" &&
      change.message.role === "assistant" &&
      (change.message.tool_calls?.length ?? 0) > 0;
    if (opens) this.#openRound = [change];
    else if (change.type === "result") this.#openRound.push(change);
    else this.#openRound = [];
  }

  /** Opens an existing file to append to it. Throws unless it holds this conversation. */
  #continue(): void {
    const stats = statSync(this.path, { throwIfNoEntry: false });
    if (stats === undefined || stats.size === 0) return;
    if (!stats.isFile()) {
      throw new AgentError("session_invalid", `${quotePath(this.path)} is not a regular file.`);
    }
    const bytes = readFileSync(this.path);
    const text = bytes.toString("utf8");
    const session = parseSession(text, this.path);
    if (JSON.stringify(session.messages) !== JSON.stringify(this.#conversation.sessionContext)) {
      throw new AgentError(
        "session_invalid",
        `${quotePath(this.path)} holds another conversation. Load it with loadSession first, or choose another file.`,
      );
    }
    if (session.systemPrompt !== this.#conversation.systemPrompt || !isAppendable(text)) {
      this.#rewrite();
    } else {
      this.#descriptor = openSync(this.path, constants.O_WRONLY | constants.O_APPEND);
      ftruncateSync(this.#descriptor, wholeLines(bytes));
    }
  }

  #create(): number {
    mkdirSync(dirname(this.path), { recursive: true });
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT;
    const descriptor = openSync(this.path, flags, PRIVATE_FILE);
    try {
      if (fstatSync(descriptor).size === 0) writeWhole(descriptor, this.#formatHistory(this.#before));
    } catch (error) {
      closeSync(descriptor);
      throw error;
    }
    return descriptor;
  }

  /** Puts a new file with everything in place of one that has a gap or is of an older version. */
  #rewrite(): void {
    const temporary = join(dirname(this.path), temporaryName());
    const { sessionContext } = this.#conversation;
    const [opening] = this.#openRound;
    const isOpen = opening?.type === "message" && !sessionContext.includes(opening.message);
    const open = isOpen ? this.#openRound.map(formatEntry).join("") : "";
    writeFileSync(temporary, this.#formatHistory(sessionContext) + open, { mode: PRIVATE_FILE, flag: "wx" });
    renameSync(temporary, this.path);
    this.#closeFile();
    this.#descriptor = openSync(this.path, constants.O_WRONLY | constants.O_APPEND);
    this.#broken = false;
  }

  #formatHistory(messages: readonly ChatMessage[]): string {
    const { systemPrompt } = this.#conversation;
    return messages.length === 0 ? formatHeader(systemPrompt) : formatSession({ systemPrompt, messages });
  }

  #closeFile(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor);
    this.#descriptor = undefined;
  }
}

function writeWhole(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(descriptor, bytes, written);
  }
}
