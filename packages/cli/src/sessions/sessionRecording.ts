import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import {
  type Conversation,
  loadSession,
  recordSession,
  type Session,
  type SessionRecorder,
} from "@agent/core";
import { errorMessage, isRecord } from "@agent/core/toolkit";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { UndoLog } from "../undo/undoLog.js";
import { markOpen, removeMark } from "./openMark.js";
import type { SessionNames } from "./sessionNames.js";
import { idOf, isOwnFile, newSessionFile, removeOldSessions, undoDirectory } from "./sessions.js";

/** Options of a recording. */
export interface RecordingOptions {
  readonly conversation: Conversation;
  /** The file to write: a new one, or the one the conversation was resumed from. */
  readonly file: string;
  readonly cwd: string;
  /** Whether to mark the session as open, and to continue in a copy if another process has it open. */
  readonly marksOpen?: boolean;
  /** Called once if the conversation cannot be written. The work continues. */
  readonly onProblem: (message: string) => void;
}

/** Writes one conversation to disk as it happens, so that a killed program loses nothing that was complete. */
export class SessionRecording {
  readonly #options: RecordingOptions;
  #file: string;
  #recorder: SessionRecorder | undefined;
  #hasFailed = false;

  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#file = options.file;
    this.#start();
  }

  /** The path of the session file. */
  get file(): string {
    return this.#file;
  }

  /** Ends this recording and clears the conversation. The next message starts a new session; the old one is kept. */
  async startNew(): Promise<void> {
    await this.#stop();
    const { conversation, cwd } = this.#options;
    conversation.clear();
    this.#file = newSessionFile(cwd);
    this.#hasFailed = false;
    this.#start();
  }

  /** Continues the conversation in a copy of its session; the original session is unchanged. */
  async fork(): Promise<void> {
    await this.#stop();
    this.#continueInCopy();
    this.#hasFailed = false;
    this.#start();
    await this.#recorder?.flush().catch((error: unknown) => this.#failed(error));
  }

  /**
   * Creates a copy of the session as it was before the message with this id, including messages that compaction has
   * replaced since. `switchTo` continues it. Rejects if the file cannot be read or written, or does not contain the
   * message.
   */
  async copyBefore(id: string): Promise<{ readonly file: string; readonly session: Session }> {
    await this.#recorder?.flush();
    const text = readFileSync(this.#file, "utf8");
    const end = startOfMessage(text, id);
    if (end === undefined) throw new Error(`${this.#file} does not have the message.`);
    const file = newSessionFile(this.#options.cwd);
    ensurePrivateDirectory(dirname(file));
    writeFileSync(file, text.slice(0, end), { flag: "wx", mode: 0o600 });
    return { file, session: await loadSession(file) };
  }

  /** Continues another session; the current one is unchanged. */
  async switchTo(file: string, session: Session): Promise<void> {
    await this.#stop();
    const { conversation } = this.#options;
    conversation.switchTo(session);
    this.#file = file;
    this.#hasFailed = false;
    this.#start();
  }

  /** Writes pending changes and deletes the oldest sessions. Never rejects. */
  async close(): Promise<void> {
    await this.#stop();
    removeOldSessions(this.#options.cwd, this.#file);
  }

  #start(): void {
    const { conversation, marksOpen, onProblem } = this.#options;
    try {
      ensurePrivateDirectory(dirname(this.#file));
      // Two processes that write one file would each lose what the other wrote.
      if (marksOpen && isOwnFile(this.#file) && !markOpen(this.#file)) {
        this.#continueInCopy();
        markOpen(this.#file);
        onProblem(
          `This session is open in another window. The conversation continues here in a copy of it: ${idOf(this.#file)}.`,
        );
      }
      this.#recorder = recordSession(conversation, this.#file, { onError: (error) => this.#failed(error) });
    } catch (error) {
      this.#failed(error);
    }
  }

  #continueInCopy(): void {
    const { conversation, cwd } = this.#options;
    const copy = newSessionFile(cwd);
    copySession(this.#file, copy, conversation);
    this.#file = copy;
  }

  async #stop(): Promise<void> {
    const recorder = this.#recorder;
    this.#recorder = undefined;
    if (this.#options.marksOpen && isOwnFile(this.#file)) removeMark(this.#file);
    await recorder?.close().catch((error: unknown) => this.#failed(error));
  }

  #failed(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#options.onProblem(`the session is not saved: ${errorMessage(error)}`);
  }
}

/**
 * Copies a session file with all of its messages, including those that were summarised for the model. Copies nothing if
 * the file contains another conversation because another process has continued it: the recording then starts with what
 * the model sees.
 */
export function copySession(from: string, to: string, conversation: Conversation): void {
  try {
    ensurePrivateDirectory(dirname(to));
    writeFileSync(to, readFileSync(from), { flag: "wx", mode: 0o600 });
    // Throws if it is another conversation.
    void recordSession(conversation, to).close();
  } catch {
    rmSync(to, { force: true });
  }
}

/** The offset of the line of the message with this id in a session file. */
function startOfMessage(text: string, id: string): number | undefined {
  let found: number | undefined;
  let start = 0;
  for (const line of text.split("\n")) {
    // Most lines do not need to be parsed.
    if (line.includes(id)) {
      const entry: unknown = JSON.parse(line);
      if (isRecord(entry) && entry.type === "message" && entry.id === id) found = start;
    }
    start += line.length + 1;
  }
  return found;
}

/** A copy of a session has the name of the original, and can undo what that could. Never rejects. */
export async function copyRelated(from: string, to: string, names: SessionNames, cwd: string): Promise<void> {
  await names.copy(from, to);
  await new UndoLog(undoDirectory(from), cwd).copyTo(undoDirectory(to));
}
