import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { PackHost } from "@agent/core";
import { isInside, isRecord, quotePath, readRegularFile, writeFileAtomic } from "@agent/core/toolkit";
import type { Handler } from "./settings.js";

const MAX_BYTES = 1024 * 1024;
const LONGEST_LIST = 20;

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
 * Whether the user has approved the hooks of a file as they are now. A file of the project changes with the project: the
 * user is asked about each version once. Throws where no one can be asked.
 */
export async function isApproved(
  { path, text }: HooksFile,
  handlers: readonly Handler[],
  { trusted, directories, ask }: Pick<PackHost, "trusted" | "directories" | "ask">,
  signal: AbortSignal,
): Promise<boolean> {
  // A program that runs the agent decides itself which files it names.
  if (trusted === undefined || !isInside(process.cwd(), path) || handlers.length === 0) return true;
  const digest = createHash("sha256").update(text).digest("base64");
  const memory = directories?.project === undefined ? undefined : join(directories.project, "approved.json");
  const approved = memory === undefined ? {} : readApproved(memory);
  if (approved[path] === digest) return true;
  if (!ask) {
    throw new Error(
      `The hooks of ${quotePath(path)} are new or have changed. Start agent in a terminal to approve them.`,
    );
  }
  const commands = handlers.slice(0, LONGEST_LIST).map(({ event, command }) => `  ${event}: ${command}`);
  const more = handlers.length > LONGEST_LIST ? [`  and ${handlers.length - LONGEST_LIST} more`] : [];
  const message = [`${quotePath(path)} has hooks that are new or have changed:`, ...commands, ...more];
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
