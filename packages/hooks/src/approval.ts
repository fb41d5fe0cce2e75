import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PackHost } from "@agent/core";
import {
  canonicalPath,
  escapeToLine,
  findRepository,
  isInside,
  isRecord,
  quotePath,
  readRegularFile,
  writeFileAtomic,
} from "@agent/core/toolkit";
import type { Handler } from "./settings.js";

const MAX_BYTES = 1024 * 1024;

/** A settings file with hooks. */
export interface HooksFile {
  readonly path: string;
  readonly text: string;
}

/** Reads a settings file. Throws if it is missing, too large or not JSON. */
export function readHooksFile(path: string): HooksFile & { readonly settings: Record<string, unknown> } {
  const bytes = readRegularFile(path, MAX_BYTES);
  if (bytes === undefined || bytes.length >= MAX_BYTES) {
    throw new Error(`${quotePath(path)} does not exist, or is not a file of less than 1 MB.`);
  }
  const text = bytes.toString().replace(/^\uFEFF/, "");
  try {
    const settings: unknown = JSON.parse(text);
    if (isRecord(settings)) return { path, text, settings };
  } catch {
    // Reported below.
  }
  throw new Error(`${quotePath(path)} is not a JSON object.`);
}

/**
 * Whether the user has approved the current hooks of a file. A file of the project changes with the project: the user
 * is asked about each version once. Throws if no one can be asked.
 */
export async function isApproved(
  { path, text }: HooksFile,
  handlers: readonly Handler[],
  { trusted, directories, ask, access }: Pick<PackHost, "trusted" | "directories" | "ask" | "access">,
  signal: AbortSignal,
): Promise<boolean> {
  // A program that embeds the agent decides itself which files it names.
  if (trusted === undefined || handlers.length === 0) return true;
  // The project may be larger than the working directory, and an agent in a work tree may not write it.
  const { worktree } = findRepository(join(process.cwd(), "file")) ?? {};
  const places = [process.cwd(), ...(worktree === undefined ? [] : [worktree]), ...(access?.writable ?? [])];
  if (!places.some((place) => isInside(canonicalPath(place), canonicalPath(path)))) return true;
  const digest = createHash("sha256").update(text).digest("base64");
  const memory = directories?.project === undefined ? undefined : join(directories.project, "approved.json");
  const approved = memory === undefined ? {} : readApproved(memory);
  if (approved[path] === digest) return true;
  if (!ask) {
    throw new Error(
      `The hooks of ${quotePath(path)} are new or have changed. Start agent in a terminal to approve them.`,
    );
  }
  // All of them, each on one line: a command must not hide among others, or look like the question.
  const commands = handlers.map(({ event, command }) => `  ${event}: ${escapeToLine(command)}`);
  const message = [`${quotePath(path)} has hooks that are new or have changed:`, ...commands];
  const { answer } = await ask({
    source: "@agent/hooks",
    message: `${message.join("\n")}\nRun them?`,
    fields: [],
    signal,
  });
  if (answer === "yes" && memory !== undefined) {
    mkdirSync(join(memory, ".."), { recursive: true });
    await writeFileAtomic(memory, JSON.stringify({ ...approved, [path]: digest }));
  }
  return answer === "yes";
}

function readApproved(file: string): Record<string, unknown> {
  try {
    const approved: unknown = JSON.parse(readRegularFile(file, MAX_BYTES)?.toString() ?? "{}");
    return isRecord(approved) ? approved : {};
  } catch {
    return {};
  }
}
