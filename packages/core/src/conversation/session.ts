import { errorMessage, quotePath } from "@agent/internal";
import { AgentError } from "../errors.js";
import type { ChatMessage } from "../providers/interface.js";
import { makeDirectory } from "../toolkit/files/makeDirectory.js";
import { nodeFs, nodePath } from "../toolkit/files/nodeModules.js";
import { writeFileAtomic } from "../toolkit/files/writeFileAtomic.js";
import { arrayOf, checkObject, checkText } from "../toolkit/hostOptions/checks.js";
import type { ResultDetails, ToolMessage } from "./conversation.js";
import type { PendingRound } from "./pending.js";
import { formatSession, parseSessionFile } from "./sessionFile.js";

// A conversation is private: only its owner may read it.
export const PRIVATE_FILE = 0o600;

/** A saved conversation. `new Conversation({ session })` continues it. */
export interface Session {
  readonly systemPrompt: string;
  readonly messages: readonly ChatMessage[];
  /** An answer whose calls wait for a decision. */
  readonly pending?: PendingRound;
  /** What a display needs of the results besides their text, by their message. */
  readonly details?: ReadonlyMap<ToolMessage, ResultDetails>;
  readonly reason?: string;
  /** When it was last saved, as an ISO date. */
  readonly savedAt?: string;
}

/**
 * Writes a session atomically. An existing file is replaced only if it is a session (or empty): a damaged
 * one, or somebody else's file, stays as it is and the save fails.
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

/** A session from the text of its file. Throws `session_invalid`, naming the file and what is wrong with it. */
export function parseSession(text: string, path: string): Session {
  try {
    return parseSessionFile(text);
  } catch (error) {
    throw new AgentError(
      "session_invalid",
      `${quotePath(path)} is not an intact session: ${errorMessage(error)}. It was left as it is; move it away or choose another file.`,
    );
  }
}

async function readSessionText(path: string): Promise<string> {
  // Checked before it is opened: opening a FIFO waits for a writer.
  if (!(await nodeFs.promises.stat(path)).isFile())
    throw new Error(`${quotePath(path)} is not a regular file.`);
  return await nodeFs.promises.readFile(path, "utf8");
}
