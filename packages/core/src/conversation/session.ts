import { errorMessage, quotePath } from "@agent/internal";
import { AgentError } from "../errors.js";
import type { ChatMessage } from "../providers/interface.js";
import { makeDirectory } from "../toolkit/files/makeDirectory.js";
import { nodeFs, nodeOs, nodePath } from "../toolkit/files/nodeModules.js";
import { writeFileAtomic } from "../toolkit/files/writeFileAtomic.js";
import { arrayOf, checkObject, checkText } from "../toolkit/hostOptions/checks.js";
import type { ConversationChange, MessageInfo, ResultDetails, ToolMessage } from "./conversation.js";
import type { StateEntry } from "./packState.js";
import type { PendingRound } from "./pending.js";
import { formatSession, parseSessionFile, replayEntries } from "./sessionFile.js";
import type { Spending } from "./spending.js";

// A conversation is private: only its owner may read it.
export const PRIVATE_FILE = 0o600;
const PRIVATE_DIRECTORY = 0o700;

// Limits for `save_session_context` without a configured path: the model decides how often it saves.
const MOST_SAVED_FILES = 100;
const MOST_SAVED_BYTES = 256 * 1024 * 1024;
const SAVED_FILE = /^agent-session-[0-9a-f]{8}\.jsonl$/;

/** A saved conversation. `new Conversation({ session })` continues it. */
export interface Session {
  readonly systemPrompt: string;
  readonly messages: readonly ChatMessage[];
  /** An answer with pending calls. */
  readonly pending?: PendingRound;
  /** Display data of the results besides their text, by message. */
  readonly details?: ReadonlyMap<ToolMessage, ResultDetails>;
  /** The ids and times of the messages. */
  readonly info?: ReadonlyMap<ChatMessage, MessageInfo>;
  /** The states of packs, oldest first. */
  readonly states?: readonly StateEntry[];
  /** The usage of its requests. */
  readonly spending?: Spending;
  readonly reason?: string;
  /** When it was last saved, as an ISO date. */
  readonly savedAt?: string;
}

/**
 * Writes a session atomically. Replaces an existing file only if it is a session or empty; otherwise the file stays
 * unchanged and the save fails.
 */
export async function saveSession(path: string, session: Omit<Session, "savedAt">): Promise<void> {
  checkText("path", path);
  if (path === "") {
    throw new AgentError(
      "invalid_argument",
      "There is no session file to save to. Set sessionContextFilePath of the Conversation.",
    );
  }
  checkObject("session", session);
  checkText("session.systemPrompt", session.systemPrompt);
  arrayOf("messages")("session.messages", session.messages);
  const existing = await readSessionText(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (existing !== "") parseSession(existing, path);
  makeDirectory(nodePath.dirname(path));
  await writeFileAtomic(path, formatSession(session), { mode: PRIVATE_FILE });
}

/** A new path in the user's state directory, for conversations without a path. */
export function newSavedFile(): string {
  const name = `agent-session-${crypto.randomUUID().slice(0, 8)}.jsonl`;
  // Runtimes without a file system have no state directory; saving then fails with a clear error.
  if (globalThis.process?.getBuiltinModule === undefined) return name;
  const configured = process.env.XDG_STATE_HOME ?? "";
  const base = nodePath.isAbsolute(configured)
    ? configured
    : nodePath.join(nodeOs.homedir(), ".local", "state");
  return nodePath.join(base, "agent", "saved", name);
}

/**
 * Saves to a path from `newSavedFile`, and removes the oldest files of its directory beyond the maximum count and size.
 */
export async function saveToState(path: string, session: Omit<Session, "savedAt">): Promise<void> {
  const directory = nodePath.dirname(path);
  makeDirectory(directory, PRIVATE_DIRECTORY);
  await saveSession(path, session);
  const files = nodeFs
    .readdirSync(directory)
    .filter((name) => SAVED_FILE.test(name) && name !== nodePath.basename(path))
    .flatMap((name) => {
      const file = nodePath.join(directory, name);
      const info = nodeFs.lstatSync(file, { throwIfNoEntry: false });
      return info === undefined ? [] : [{ file, size: info.size, time: info.mtimeMs }];
    })
    .sort((a, b) => b.time - a.time);
  let size = nodeFs.statSync(path).size;
  for (const [index, older] of files.entries()) {
    size += older.size;
    // The list includes the new file.
    if (index + 1 < MOST_SAVED_FILES && size <= MOST_SAVED_BYTES) continue;
    nodeFs.rmSync(older.file, { force: true });
  }
}

/** Reads a saved session. Throws `session_invalid` for a file that is missing, damaged or not a session. */
export async function loadSession(path: string): Promise<Session> {
  checkText("path", path);
  let text: string;
  try {
    text = await readSessionText(path);
  } catch (error) {
    throw new AgentError(
      "session_invalid",
      `The session ${quotePath(path)} cannot be read: ${errorMessage(error)}`,
      { cause: error },
    );
  }
  return parseSession(text, path);
}

/** Parses a session from the text of its file. Throws `session_invalid`, naming the file and the problem. */
export function parseSession(text: string, path: string, whole = false): Session {
  try {
    return parseSessionFile(text, whole);
  } catch (error) {
    throw new AgentError(
      "session_invalid",
      `${quotePath(path)} is not an intact session: ${errorMessage(error)}. It was left as it is; move it away or choose another file.`,
    );
  }
}

/** Builds a session from its changes. Throws `session_invalid`. */
export function sessionOf(changes: readonly ConversationChange[], whole = false): Session {
  try {
    return replayEntries(changes, "", { whole });
  } catch (error) {
    throw new AgentError(
      "session_invalid",
      `The changes do not form a valid conversation: ${errorMessage(error)}.`,
    );
  }
}

async function readSessionText(path: string): Promise<string> {
  // Checked before it is opened: opening a FIFO waits for a writer.
  if (!(await nodeFs.promises.stat(path)).isFile())
    throw new Error(`${quotePath(path)} is not a regular file.`);
  return await nodeFs.promises.readFile(path, "utf8");
}
