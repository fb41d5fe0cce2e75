import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { type ChatMessage, loadSession, type Session, saveSession } from "@agent/core";
import { nearestMatch, quote } from "@agent/core/toolkit";
import { CliError } from "../process/errors.js";
import { ensurePrivateDirectory, stateDirectory } from "../process/paths.js";

// Old conversations of a project are let go, the oldest first.
const KEPT_SESSIONS = 100;
const ID = /^\d{8}-\d{6}-[0-9a-f]{4}$/;

/** A conversation to go on with, and the file it lives in. */
export interface OpenSession {
  readonly file: string;
  readonly session?: Session;
}

/** One line of `agent sessions`. */
export interface SessionInfo {
  readonly id: string;
  readonly file: string;
  readonly savedAt: string;
  readonly messages: number;
  /** How the conversation began. */
  readonly title: string;
}

/** A new, empty place for a conversation in this directory. Nothing is written yet. */
export function newSession(cwd: string): OpenSession {
  const stamp = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return { file: join(projectDirectory(cwd), `${stamp}-${randomBytes(2).toString("hex")}.json`) };
}

/** The session `wanted` names: an id, a file, or with `true` the latest one of this directory. */
export async function openSession(cwd: string, wanted: string | true): Promise<OpenSession> {
  const file = wanted === true ? latest(cwd) : byName(cwd, wanted);
  return { file, session: await loadSession(file) };
}

/** Keeps the conversation, readable by its owner alone, and lets the oldest go. */
export async function keepSession(
  file: string,
  systemPrompt: string,
  messages: readonly ChatMessage[],
): Promise<void> {
  ensurePrivateDirectory(resolve(file, ".."));
  await saveSession(file, { reason: "end of the run", systemPrompt, messages });
  const directory = resolve(file, "..");
  for (const old of sessionFiles(directory).slice(KEPT_SESSIONS))
    rmSync(join(directory, old), { force: true });
}

/** The sessions of this directory, latest first. Files that are no sessions are left out. */
export async function listSessions(cwd: string): Promise<SessionInfo[]> {
  const directory = projectDirectory(cwd);
  const found: SessionInfo[] = [];
  for (const name of sessionFiles(directory)) {
    const file = join(directory, name);
    const session = await loadSession(file).catch(() => undefined);
    if (!session) continue;
    const first = session.messages.find((message) => message.role === "user");
    found.push({
      id: name.replace(/\.json$/, ""),
      file,
      savedAt: session.savedAt ?? "",
      messages: session.messages.length,
      title: first?.content ?? "",
    });
  }
  return found;
}

function latest(cwd: string): string {
  const [newest] = sessionFiles(projectDirectory(cwd));
  if (newest === undefined) throw new CliError("--resume: there is no session for this directory yet.");
  return join(projectDirectory(cwd), newest);
}

function byName(cwd: string, wanted: string): string {
  const directory = projectDirectory(cwd);
  if (ID.test(wanted) && existsSync(join(directory, `${wanted}.json`)))
    return join(directory, `${wanted}.json`);
  if (existsSync(resolve(cwd, wanted))) return resolve(cwd, wanted);
  const known = sessionFiles(directory).map((name) => name.replace(/\.json$/, ""));
  const meant = nearestMatch(wanted, known);
  throw new CliError(
    `--resume ${quote(wanted)}: there is no such session.${meant ? ` Did you mean ${meant}?` : ""} See: agent sessions`,
  );
}

/** Latest first: the names begin with the time. */
function sessionFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => ID.test(name.replace(/\.json$/, "")))
    .sort()
    .reverse();
}

function projectDirectory(cwd: string): string {
  const hash = createHash("sha256").update(resolve(cwd)).digest("hex").slice(0, 10);
  const name =
    basename(resolve(cwd))
      .replace(/[^\w.-]/g, "_")
      .slice(0, 40) || "root";
  return join(stateDirectory(), "sessions", `${name}-${hash}`);
}
