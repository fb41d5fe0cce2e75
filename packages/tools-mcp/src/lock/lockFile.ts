import type { Diagnosis } from "@agent/core";
import { errorMessage, isRecord, quotePath, writeFileAtomic } from "@agent/core/toolkit";
import { isHttp, type McpOptions, type ServerOptions } from "../config/options.js";
import { nodeFs, nodePath } from "../nodeModules.js";
import { hashOf } from "./canonical.js";
import type { Lock, LockedServer, LockedTool } from "./lock.js";
import { toolHash } from "./toolHash.js";
import { toolName } from "./toolName.js";

const DEFAULT_NAME = "mcp.lock.json";
const EMPTY: Lock = { lockVersion: 1, servers: {} };

/** The path of the lock for these options. `directory` is that of the config. */
export function lockPath(options: McpOptions, directory: string): string {
  return nodePath.resolve(directory, options.lockFile ?? DEFAULT_NAME);
}

/** A hash of how a server is reached: a lock created for one program is not valid for another. */
export function sourceHash(server: ServerOptions): string {
  return hashOf(
    isHttp(server) ? { url: server.url } : { command: server.command, args: server.args, cwd: server.cwd },
  );
}

/** A lock on disk, which another process may change at any time. */
export class LockFile {
  readonly #path: string;
  /** Identifies one state of the file. */
  #version = "";
  #problem: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Throws like `readLock`. */
  read(): Lock {
    this.#version = versionOf(this.#path);
    try {
      const lock = readLock(this.#path);
      this.#problem = undefined;
      return lock;
    } catch (error) {
      this.#problem = errorMessage(error);
      throw error;
    }
  }

  /** The lock if the file has changed since it was last read. Throws like `readLock`, once per change. */
  readChanged(): Lock | undefined {
    return versionOf(this.#path) === this.#version ? undefined : this.read();
  }

  /** Reports that the file cannot be read any more: its previous content stays in effect. */
  diagnose(): Diagnosis[] {
    if (this.#problem === undefined) return [];
    return [{ subject: "lock of MCP servers", ok: false, detail: this.#problem }];
  }
}

function versionOf(path: string): string {
  const stat = nodeFs.statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : `${stat.ino} ${stat.size} ${stat.mtimeNs}`;
}

/** Reads a lock; a missing one is empty. Throws if it cannot be read, with the path and the cause. */
export function readLock(path: string): Lock {
  let text: string;
  try {
    text = nodeFs.readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return EMPTY;
    throw new Error(`The lock ${quotePath(path)} cannot be read: ${errorMessage(error)}`);
  }
  let lock: unknown;
  try {
    lock = JSON.parse(text);
  } catch (error) {
    throw unreadable(path, errorMessage(error));
  }
  if (!isRecord(lock) || lock.lockVersion !== 1 || !isRecord(lock.servers)) {
    throw unreadable(path, 'it has no "lockVersion": 1 with "servers"');
  }
  for (const [name, server] of Object.entries(lock.servers)) {
    if (!isLockedServer(server)) throw unreadable(path, `the entry of "${name}" is not complete`);
  }
  return lock as unknown as Lock;
}

export async function writeLock(path: string, lock: Lock): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(lock, undefined, 2)}\n`);
}

/** Whether a tool in the lock is unmodified: its hash matches, and its name is the derived one. */
export function isGenuine(server: string, tool: LockedTool): boolean {
  return toolHash(tool) === tool.hash && toolName(server, tool.tool) === tool.name;
}

function isLockedServer(value: unknown): value is LockedServer {
  if (!isRecord(value) || typeof value.source !== "string" || !isRecord(value.era)) return false;
  const { tools, prompts, setAside, era } = value;
  if (value.instructions !== undefined && typeof value.instructions !== "string") return false;
  const isEra = era.kind === "legacy" || (era.kind === "modern" && isRecord(era.discover));
  return (
    isEra &&
    Array.isArray(tools) &&
    tools.every(isLockedTool) &&
    Array.isArray(prompts) &&
    prompts.every(isLockedPrompt) &&
    Array.isArray(setAside)
  );
}

function isLockedTool(value: unknown): boolean {
  if (!isRecord(value) || !isRecord(value.inputSchema) || value.inputSchema.type !== "object") return false;
  return [value.tool, value.name, value.description, value.hash].every(isText);
}

function isLockedPrompt(value: unknown): boolean {
  if (!isRecord(value) || !Array.isArray(value.arguments)) return false;
  const isArgument = (one: unknown): boolean => isRecord(one) && typeof one.name === "string";
  return [value.prompt, value.description].every(isText) && value.arguments.every(isArgument);
}

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function unreadable(path: string, cause: string): Error {
  return new Error(
    `The lock ${quotePath(path)} is damaged: ${cause}. Restore it, or delete it and run "agent mcp update".`,
  );
}
