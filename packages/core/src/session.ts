import { mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { AgentError } from "./errors.js";
import { findHistoryProblem } from "./history.js";
import type { ChatMessage } from "./providers/interface.js";
import { writeFileAtomic } from "./toolkit/atomicWrite.js";
import { arrayOf, checkObject, checkText } from "./toolkit/checks.js";
import { describeValue, errorMessage, quotePath } from "./toolkit/describe.js";

const FORMAT = "agent-session";
const VERSION = 1;
// A conversation is private: only its owner may read it.
const PRIVATE_FILE = 0o600;

/** A conversation as it was saved. Pass it to `new Agent(provider, { session })` to go on with it. */
export interface Session {
  readonly systemPrompt: string;
  readonly messages: readonly ChatMessage[];
  readonly reason?: string;
  /** When it was saved, as an ISO date. */
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
      "There is no session file to save to. Set sessionContextFilePath in the Agent's options.",
    );
  }
  checkObject("session", session);
  const { systemPrompt, messages, reason } = session;
  checkText("session.systemPrompt", systemPrompt);
  arrayOf("messages")("session.messages", messages);
  const existing = await readSessionText(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return "";
    throw error;
  });
  if (existing !== "") parseSession(existing, path);
  const content = {
    format: FORMAT,
    version: VERSION,
    savedAt: new Date().toISOString(),
    reason,
    systemPrompt,
    messages,
  };
  await mkdir(dirname(path), { recursive: true });
  await writeFileAtomic(path, `${JSON.stringify(content, undefined, 1)}\n`, { mode: PRIVATE_FILE });
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
      {
        cause: error,
      },
    );
  }
  return parseSession(text, path);
}

async function readSessionText(path: string): Promise<string> {
  // Looked at first: opening a FIFO would wait for ever.
  if (!(await stat(path)).isFile()) throw new Error(`${quotePath(path)} is not a regular file.`);
  return await readFile(path, "utf8");
}

function parseSession(text: string, path: string): Session {
  const damaged = (problem: string): never => {
    throw new AgentError(
      "session_invalid",
      `${quotePath(path)} is not an intact session: ${problem}. It was left as it is; move it away or choose another file.`,
    );
  };
  let data: Record<string, unknown>;
  try {
    data = JSON.parse(text);
  } catch (error) {
    return damaged(errorMessage(error));
  }
  if (data?.format !== FORMAT) return damaged(`"format" is not "${FORMAT}"`);
  if (data.version !== VERSION) {
    return damaged(
      `it has version ${describeValue(data.version)}, and this program reads version ${VERSION}`,
    );
  }
  const { systemPrompt, messages, reason, savedAt } = data;
  if (typeof systemPrompt !== "string") return damaged('"systemPrompt" is not a string');
  const problem = findHistoryProblem(messages);
  if (problem !== undefined) return damaged(problem);
  return {
    systemPrompt,
    messages: messages as ChatMessage[],
    ...(typeof reason === "string" && { reason }),
    ...(typeof savedAt === "string" && { savedAt }),
  };
}
