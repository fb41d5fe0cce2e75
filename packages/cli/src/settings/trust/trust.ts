import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { errorMessage, isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { canonicalPath, escapeToLine, isInside } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { EXIT } from "../../process/exitCodes.js";
import { note } from "../../process/output.js";
import { stateDirectory } from "../../process/paths.js";
import { checkFileSafety } from "../config/fileSafety.js";
import type { ModuleSources } from "../modules/moduleLoader.js";
import { isPackLock } from "../packs/lock.js";
import { type FileHashes, hashOf, type ProjectFiles, readProjectFile, unknownFiles } from "./projectFiles.js";

const PRIVATE_FILE = 0o600;

/** The kind of code to run. */
export type TrustSubject = "config" | "pack" | "eval";

/** The subject of a trust question. */
interface TrustRequest {
  readonly subject: TrustSubject;
  readonly file: string;
  /** The files that would run and were never trusted with this content. */
  readonly untrusted: readonly string[];
  /** Whether it was trusted before and has changed since. */
  readonly changed: boolean;
}

/** Answers for the user; absent if no one can be asked. */
export type AskTrust = (request: TrustRequest) => Promise<boolean>;

export interface TrustPolicy {
  /** `--trust`: trusts the current content, and stores that. */
  readonly grant: boolean;
  readonly ask?: AskTrust;
  /** The command that would ask the user in a terminal. Default: `agent`. */
  readonly again?: string;
}

/**
 * Whether these files may run. Asks the user unless exactly this content was trusted before. Throws, with a separate
 * exit code, if no one can be asked. Resolves to `false` if the user refuses.
 */
export async function requireTrust(
  file: string,
  { hashes }: Pick<ProjectFiles, "hashes">,
  policy: TrustPolicy,
  subject: TrustSubject = "config",
): Promise<boolean> {
  const known = trustedHashes(file);
  const untrusted = unknownFiles(hashes, known);
  if (untrusted.length === 0) return true;
  const changed = Object.keys(known).length > 0;
  const request = { subject, file, untrusted, changed };
  if (!policy.grant) {
    if (!policy.ask) throw new CliError(refusal(request, policy.again), EXIT.refused);
    if (!(await policy.ask(request))) return false;
  }
  await grantTrust(file, hashes);
  return true;
}

/** Whether exactly this content was trusted before, except for the files in `folder`. Never asks. */
export function isTrusted(file: string, { hashes }: Pick<ProjectFiles, "hashes">, folder?: string): boolean {
  const isOther = (path: string): boolean => folder === undefined || !isInside(canonicalPath(folder), path);
  return !unknownFiles(hashes, trustedHashes(file)).some(isOther);
}

/**
 * Stores that exactly this content is trusted, in a file only its owner can read. If that cannot be written, prints a
 * note, and the trust is valid for this run.
 */
export async function grantTrust(file: string, hashes: FileHashes): Promise<void> {
  const path = storePath();
  const trusted = { ...readStore(), [file]: hashes };
  try {
    ensurePrivateDirectory(dirname(path));
    await writeFileAtomic(path, `${JSON.stringify({ version: 1, trusted }, undefined, 1)}\n`, {
      mode: PRIVATE_FILE,
    });
  } catch (error) {
    note(`agent: your decision could not be saved: ${errorMessage(error)}`);
  }
}

/**
 * The files that may run after approval, with the content they had when the question was asked. A file that the config
 * imports by a computed name is not among them: it runs only if `--trust` covered exactly this content.
 */
export class TrustedSources implements ModuleSources {
  readonly #config: string;
  readonly #files: ProjectFiles;
  readonly #policy: TrustPolicy;
  #grown = false;

  constructor(config: string, files: ProjectFiles, policy: TrustPolicy) {
    this.#config = config;
    this.#files = files;
    this.#policy = policy;
  }

  read(path: string): string {
    const asked = this.#files.text(path);
    if (asked !== undefined) return asked;
    if (this.#policy.grant) {
      this.#grown = true;
      return this.#files.take(path);
    }
    const text = readProjectFile(path);
    if (trustedHashes(this.#config)[path] === hashOf(text)) return text;
    throw new CliError(
      `${escapeToLine(path)}: not run, because it is not part of what was trusted with ${escapeToLine(this.#config)}. Look at it, then pass --trust, or name it there by a plain relative path.`,
      EXIT.refused,
    );
  }

  async loaded(): Promise<void> {
    if (!this.#grown) return;
    this.#grown = false;
    await grantTrust(this.#config, this.#files.hashes);
  }
}

/** The files trusted with a config, each with its hash. */
function trustedHashes(config: string): FileHashes {
  const store = readStore();
  return Object.hasOwn(store, config) ? (store[config] ?? {}) : {};
}

/** The error message for a run without a user to ask. */
function refusal({ subject, file, untrusted, changed }: TrustRequest, again = "agent"): string {
  const why = changed ? "has changed since it was trusted" : "has not been trusted on this machine";
  const others = untrusted.filter((path) => path !== file).map(shownFile);
  const also = others.length === 0 ? "" : ` It also loads: ${others.join(", ")}.`;
  return (
    `${escapeToLine(file)} ${why}, and ${subject === "eval" ? "an eval" : `a ${subject}`} is code, so nothing was run.${also} ` +
    `Look at it, then run ${again} in a terminal and approve it, ${hint(subject)}.`
  );
}

/** A file that a question is about, with what its change means if that is not obvious. */
export function shownFile(path: string): string {
  const shown = escapeToLine(path);
  if (!isPackLock(path)) return shown;
  return existsSync(path)
    ? `${shown} with the limits of its packs`
    : `packs without their limits, since ${shown} is gone`;
}

function hint(subject: TrustSubject): string {
  return subject !== "config" ? "or pass --trust" : "pass --trust, or leave it out with --no-config";
}

function storePath(): string {
  return join(stateDirectory(), "trust.json");
}

function readStore(): Record<string, FileHashes> {
  const path = storePath();
  let text: string;
  try {
    checkFileSafety(path);
    text = readFileSync(path, "utf8");
  } catch (error) {
    // Nothing was ever stored. ENOTDIR: a parent of the path is a file.
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return {};
    throw error;
  }
  try {
    const store: unknown = JSON.parse(text);
    // A damaged or foreign store trusts nothing: the user is asked again.
    return isRecord(store) && isRecord(store.trusted) ? (store.trusted as Record<string, FileHashes>) : {};
  } catch {
    return {};
  }
}
