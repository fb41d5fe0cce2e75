import { createHash, randomBytes } from "node:crypto";
import { existsSync, readdirSync, rmSync, statSync } from "node:fs";
import { basename, extname, join, resolve, sep } from "node:path";
import { loadSession, type Session } from "@agent/core";
import { quote } from "@agent/core/toolkit";
import { canonicalPath, didYouMean, isInside, readRegularFile } from "@agent/internal";
import { splitMessage } from "@agent/terminal/host";
import { CliError } from "../process/errors.js";
import { stateDirectory } from "../process/paths.js";
import { isOpenElsewhere, markOf } from "./openMark.js";

// The number of sessions kept per project, and of external ones whose changes are kept; the oldest are deleted.
const KEPT_SESSIONS = 100;
const EXTENSION = ".jsonl";
const MOST_NAME_BYTES = 1024;
const UNDO_DIRECTORY = /^[0-9a-f]{10}\.undo$/;
const SESSION_FILE = /^\d{8}-\d{6}-[0-9a-f]{4}\.jsonl$/;

/** A conversation to continue, and its file. */
export interface OpenSession {
  readonly file: string;
  readonly session?: Session;
  /** Whether the file is in the agent's own directory. Any other may be a stranger's. */
  readonly isKept: boolean;
}

/** One line of `agent sessions`. */
export interface SessionInfo {
  readonly id: string;
  readonly file: string;
  readonly savedAt: string;
  readonly messages: number;
  /** The size of its file. */
  readonly bytes: number;
  /** Its name, if it has one. */
  readonly name?: string;
  /** The first words of the conversation. */
  readonly title: string;
  /** Whether another process has it open. */
  readonly isOpen: boolean;
}

/** The id of a new session of this directory. Nothing is written yet. */
export function newSessionFile(cwd: string): string {
  const stamp = new Date().toISOString().replace(/[-:]/g, "").replace("T", "-").slice(0, 15);
  return join(sessionDirectory(cwd), `${stamp}-${randomBytes(2).toString("hex")}${EXTENSION}`);
}

/**
 * Finds the session that `wanted` names: an id or its start, its name, the path of a file, or with `true` the last used
 * of this directory. Text that looks like an id is never a file: a stranger's project may have one of that name.
 */
export async function openSession(cwd: string, wanted: string | true): Promise<OpenSession> {
  if (wanted === true) return await latest(cwd);
  const file = byName(cwd, wanted);
  return { file, session: await loadSession(file), isKept: isKeptFile(canonicalPath(file)) };
}

/** The file of a saved session of this directory. */
export function sessionFile(cwd: string, id: string): string {
  return join(sessionDirectory(cwd), `${id}${EXTENSION}`);
}

/** The sessions of this directory, last used first. Files that are not sessions are skipped. */
export async function listSessions(cwd: string): Promise<SessionInfo[]> {
  return (await readSessions(cwd)).map(({ info }) => info);
}

/** A session of this directory, with its messages. */
export interface ReadSession {
  readonly info: SessionInfo;
  readonly session: Session;
}

/** The sessions of this directory with their messages, last used first. Those without messages are skipped. */
export async function readSessions(cwd: string): Promise<ReadSession[]> {
  const directory = sessionDirectory(cwd);
  const found: ReadSession[] = [];
  for (const name of sessionFiles(directory)) {
    const file = join(directory, name);
    const session = await loadSession(file).catch(() => undefined);
    if (!session || session.messages.length === 0) continue;
    const first = session.messages.find((message) => message.role === "user");
    const { mtime, size } = statSync(file);
    const given = readSessionName(file);
    const info = {
      id: idOf(name),
      file,
      savedAt: mtime.toISOString(),
      bytes: size,
      messages: session.messages.length,
      isOpen: isOpenElsewhere(file),
      ...(given !== undefined && { name: given }),
      title: first?.role === "user" ? splitMessage(first.content).text : "",
    };
    found.push({ info, session });
  }
  return found;
}

/** Whether `id` has the form of a session id. An id from outside is checked before it becomes part of a path. */
export function isSessionId(id: string): boolean {
  return SESSION_FILE.test(`${id}${EXTENSION}`);
}

/** Removes a saved session of any directory, with its data for `/undo`. Throws if it does not exist. */
export function deleteSession(id: string): void {
  const name = `${id}${EXTENSION}`;
  const all = allSessions();
  const directories = isSessionId(id) && existsSync(all) ? readdirSync(all) : [];
  const file = directories.map((directory) => join(all, directory, name)).find((path) => existsSync(path));
  if (file === undefined) throw new CliError(`There is no session ${quote(id)}. See: agent sessions`);
  removeSession(file);
}

/** Removes a session's file and its related files. */
function removeSession(file: string): void {
  rmSync(file, { force: true });
  rmSync(undoDirectory(file), { recursive: true, force: true });
  for (const path of [choicesFile(file), stateFile(file), nameFile(file), markOf(file)])
    rmSync(path, { force: true });
}

/** The file with the settings of an editor's user in a saved session: mode, model and effort. */
export function choicesFile(file: string): string {
  return `${file.slice(0, -EXTENSION.length)}.choices.json`;
}

/** The file with the settings of a chat's user in a saved session: mode, tools and permissions. */
export function stateFile(file: string): string {
  return `${file.slice(0, -EXTENSION.length)}.state.json`;
}

/** The file with the name of a saved session. */
export function nameFile(file: string): string {
  return `${file.slice(0, -EXTENSION.length)}.name`;
}

/** The name of a session, if it has one. */
export function readSessionName(file: string): string | undefined {
  // An external file has no files of ours next to it.
  if (!isOwnFile(file)) return undefined;
  const text = readRegularFile(nameFile(file), MOST_NAME_BYTES)?.toString("utf8");
  return text?.split("\n", 1)[0]?.trim() || undefined;
}

/**
 * Removes the oldest sessions of this directory, and the oldest data for `/undo` of external sessions. Keeps `used`,
 * and sessions that another window has open: many tasks may have run since their last message.
 */
export function removeOldSessions(cwd: string, used: string): void {
  const directory = sessionDirectory(cwd);
  for (const name of sessionFiles(directory).slice(KEPT_SESSIONS)) {
    const file = join(directory, name);
    if (file !== used && !isOpenElsewhere(file)) removeSession(file);
  }
  const elsewhere = elsewhereDirectory();
  // Their files belong to the user and are never removed.
  for (const name of lastUsedFirst(elsewhere, UNDO_DIRECTORY).slice(KEPT_SESSIONS))
    rmSync(join(elsewhere, name), { recursive: true, force: true });
}

/**
 * The directory with the file changes of a session: always in the agent's own directory. Next to an external file, a
 * stranger could have put changes that `/undo` would make.
 */
export function undoDirectory(file: string): string {
  const path = canonicalPath(file);
  if (!isKeptFile(path)) return join(elsewhereDirectory(), `${shortHash(path)}.undo`);
  return path.endsWith(EXTENSION) ? `${path.slice(0, -EXTENSION.length)}.undo` : `${path}.undo`;
}

/** The session that was used last, unless nothing is said in it: `/rewind` to the first message leaves such a one. */
async function latest(cwd: string): Promise<OpenSession> {
  for (const name of sessionFiles(sessionDirectory(cwd))) {
    const file = join(sessionDirectory(cwd), name);
    const session = await loadSession(file);
    if (session.messages.length > 0) return { file, session, isKept: true };
  }
  throw new CliError("--resume: there is no session for this directory yet.");
}

function byName(cwd: string, wanted: string): string {
  const directory = sessionDirectory(cwd);
  const names = sessionFiles(directory);
  const [match, ...others] = names.filter((name) => name.startsWith(wanted));
  if (match !== undefined && (others.length === 0 || idOf(match) === wanted)) return join(directory, match);
  const named = names.filter((name) => sameName(readSessionName(join(directory, name)), wanted));
  // The last used of that name.
  if (match === undefined && named[0] !== undefined) return join(directory, named[0]);
  const isPath = wanted.includes("/") || wanted.includes(sep) || extname(wanted) !== "";
  if (isPath && existsSync(resolve(cwd, wanted))) return resolve(cwd, wanted);
  if (match !== undefined) {
    const ids = [match, ...others].map(idOf).join(", ");
    throw new CliError(`Several sessions start with ${quote(wanted)}: ${ids}. Type more of the id.`);
  }
  const isFile = !isPath && existsSync(resolve(cwd, wanted));
  const hint = isFile
    ? `For the file of that name write ./${wanted}.`
    : didYouMean(wanted, names.map(idOf), { otherwise: "See: agent sessions" });
  throw new CliError(`There is no session ${quote(wanted)}. ${hint}`);
}

function sameName(name: string | undefined, wanted: string): boolean {
  return name?.toLowerCase() === wanted.trim().toLowerCase();
}

/** The id of a session, by its file. */
export function idOf(name: string): string {
  return basename(name, EXTENSION);
}

/**
 * Sorted by last use. The id does not show it: a user may continue an old session, and two may start within one second.
 */
function sessionFiles(directory: string): string[] {
  return lastUsedFirst(directory, SESSION_FILE);
}

function lastUsedFirst(directory: string, names: RegExp): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => names.test(name))
    .map((name) => ({ name, used: lastUse(join(directory, name)) }))
    .sort((a, b) => b.used - a.used || (a.name < b.name ? 1 : -1))
    .map(({ name }) => name);
}

/** When a session or its related files were last written, in milliseconds; 0 if another process has just removed it. */
function lastUse(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}

function sessionDirectory(cwd: string): string {
  return join(allSessions(), projectName(cwd));
}

/** The directory of packs' files for this project: outside of it, so that nothing in the repository can replace it. */
export function projectStorage(cwd: string): string {
  return join(stateDirectory(), "projects", projectName(cwd));
}

function projectName(cwd: string): string {
  const name =
    basename(resolve(cwd))
      .replace(/[^\w.-]/g, "_")
      .slice(0, 40) || "root";
  return `${name}-${shortHash(resolve(cwd))}`;
}

/** Whether the agent stores this session: an external file has no related files. */
export function isOwnFile(file: string): boolean {
  return isKeptFile(canonicalPath(file)) && file.endsWith(EXTENSION);
}

/** Whether the agent stores this session. `path` contains no symlinks. */
function isKeptFile(path: string): boolean {
  return isInside(canonicalPath(allSessions()), path);
}

function shortHash(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 10);
}

/** The data for `/undo` of external sessions. */
function elsewhereDirectory(): string {
  return join(allSessions(), "elsewhere");
}

function allSessions(): string {
  return join(stateDirectory(), "sessions");
}
