import { createHash } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import type { CallHooks } from "@agent/core";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import {
  canonicalPath,
  delimited,
  isIgnoredDirectory,
  isInside,
  PLAIN_READER,
  readRegularFileInside,
  truncateUtf8,
} from "@agent/internal";
import { ensurePrivateDirectory, sizeText } from "@agent/terminal/host";
import { configDirectory, stateDirectory } from "../process/paths.js";
import { stopDirectory } from "../settings/config/places.js";

/** File names of instructions; the first that exists is used. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/** Directories with third-party code, in lower case: files in them are not instructions of the project. */
const VENDORED = new Set([
  ...["node_modules", "bower_components", "jspm_packages", "web_modules", ".yarn", ".pnpm-store"],
  ...[
    "vendor",
    "vendors",
    "vendored",
    "third_party",
    "third-party",
    "thirdparty",
    "3rdparty",
    "external",
    "externals",
  ],
  ...[
    "site-packages",
    "dist-packages",
    "__pypackages__",
    ".venv",
    "venv",
    "virtualenv",
    ".tox",
    ".nox",
    ".bundle",
  ],
  ...["pods", "carthage", ".cargo", "elm-stuff", ".gradle", ".m2", ".dart_tool", ".pub-cache", ".terraform"],
  ...[".git", "dist", "target", ".cache"],
]);
const MOST_RULE_BYTES = 32 * 1024;
const MOST_BYTES = 32 * 1024;
const MOST_IN_ALL = 96 * 1024;
// Imports: `@docs/style.md` in an instruction file includes that file.
const MOST_IMPORTS = 20;
const MOST_IMPORT_DEPTH = 4;
const IMPORT = /(?:^|\s)@([\w./-]+\.(?:md|mdc|markdown|txt|rst|adoc))(?=[.,;:!?)]*(?:\s|$))/gim;

/** A file with instructions for agents. It is text for the model, not code. */
export interface Instruction {
  readonly file: string;
  /** The part that the model gets. */
  readonly text: string;
  /** The size of the whole file. */
  readonly bytes: number;
  readonly isCut: boolean;
}

/** The size of a file, and how much of it is used: `812 bytes`, `the first 32 KB of 49 KB`. */
export function instructionSize({ text, bytes, isCut }: Instruction): string {
  return isCut ? `the first ${sizeText(Buffer.byteLength(text))} of ${sizeText(bytes)}` : sizeText(bytes);
}

/** Which instructions the model gets: all of them, the user's own without the project's, or none. */
export type InstructionUse = "all" | "own" | "none";

/** The user's own instructions, then those from the repository's root down to the working directory. */
export function findInstructions(cwd: string, use: InstructionUse = "all"): Instruction[] {
  if (use === "none") return [];
  const stop = stopDirectory(cwd);
  const directories: string[] = [];
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    directories.unshift(directory);
    if (directory === stop || dirname(directory) === directory) break;
  }
  const own = readInstruction(configDirectory(), configDirectory());
  let room = MOST_IN_ALL;
  return [
    ...withImports(own, configDirectory()),
    ...(use === "own" ? [] : directories).flatMap((directory) =>
      withImports(readInstruction(directory, stop), stop),
    ),
  ].map((one) => {
    const text = truncateUtf8(one.text, room);
    room -= Buffer.byteLength(text);
    return { ...one, text, isCut: one.isCut || text.length < one.text.length };
  });
}

/**
 * Instructions with their imported files: `@docs/style.md`, relative to the importing file and outside of code. Imports
 * are text files inside `root` under the rules for instructions; others are left unchanged.
 */
function withImports(first: Instruction | undefined, root: string): Instruction[] {
  if (first === undefined) return [];
  const found = [first];
  const seen = new Set([canonicalPath(first.file)]);
  let level = [first];
  for (let depth = 0; depth < MOST_IMPORT_DEPTH && level.length > 0; depth++) {
    const imported: Instruction[] = [];
    for (const { file, text } of level) {
      const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
      for (const [, path = ""] of prose.matchAll(IMPORT)) {
        const target = resolve(dirname(file), path);
        const canonical = canonicalPath(target);
        if (found.length > MOST_IMPORTS || seen.has(canonical)) continue;
        seen.add(canonical);
        const one = readFile(target, root);
        if (one === undefined || one.text.includes("\0")) continue;
        found.push(one);
        imported.push(one);
      }
    }
    level = imported;
  }
  return found;
}

/**
 * The instructions of one directory. A symlink out of `root` is not followed: it could point to a secret. Files of
 * dependencies, other repositories and other users are ignored, including behind a symlink.
 */
function readInstruction(directory: string, root: string): Instruction | undefined {
  for (const name of NAMES) {
    const one = readFile(join(directory, name), root);
    if (one) return one;
  }
  return undefined;
}

function readFile(file: string, root: string): Instruction | undefined {
  if (!existsSync(file) || !isOfProject(canonicalPath(file), canonicalPath(root))) return undefined;
  try {
    // Read one byte more than is used, to detect truncation. A huge file is not read to its end.
    const start = readRegularFileInside(root, file, MOST_BYTES + 1)?.toString("utf8");
    if (start === undefined) return undefined;
    const text = truncateUtf8(start, MOST_BYTES);
    return { file, text, bytes: statSync(file).size, isCut: text.length < start.length };
  } catch {
    // Not readable.
    return undefined;
  }
}

/** Whether a file is part of the project itself, by canonical paths. */
function isOfProject(file: string, root: string): boolean {
  const directory = dirname(file);
  const names = relative(root, directory).split(sep).filter(Boolean);
  if (names.some((name) => VENDORED.has(name.toLowerCase()))) return false;
  // A submodule or a clone in a subdirectory is a separate project.
  const below = names.map((_, at) => join(root, ...names.slice(0, at + 1)));
  if (below.some((one) => existsSync(join(one, ".git")))) return false;
  const owners = [0, process.geteuid?.(), statSync(root).uid];
  if (process.platform !== "win32" && !owners.includes(statSync(file).uid)) return false;
  return !isIgnoredDirectory(root, directory, PLAIN_READER, MOST_RULE_BYTES);
}

/** The part of the system prompt that holds the instructions. */
export function formatInstructions(instructions: readonly Instruction[], cwd: string): string {
  if (instructions.length === 0) return "";
  const parts = instructions.map(({ file, text, isCut }) => {
    const name = isInside(cwd, file) ? relative(cwd, file) : file;
    const notice = isCut ? `\n[cut at ${Buffer.byteLength(text)} bytes; read the file for the rest]` : "";
    return delimited("instructions", `${text.trim()}${notice}`, { file: name });
  });
  return `The user and the project give these instructions; the later ones are about narrower things:\n${parts.join("\n")}`;
}

export interface InstructionHookOptions {
  /** Whether those of a subdirectory may be used. */
  readonly isAgreed: () => boolean;
  readonly onFound: (found: Instruction) => void;
  /** Called for each file that the user has not approved. */
  readonly onLeftOut: (found: Instruction) => void;
}

/**
 * Adds the instructions of a subdirectory to the result of the first call that touches it, if the user approved the
 * project's.
 */
export function instructionHooks(
  cwd: string,
  known: readonly Instruction[],
  { isAgreed, onFound, onLeftOut }: InstructionHookOptions,
): CallHooks {
  const root = canonicalPath(stopDirectory(cwd));
  const seen = new Set(known.map(({ file }) => canonicalPath(dirname(file))));
  return {
    name: "instructions",
    afterCall: async ({ describe }) => {
      const { targets = [] } = await describe();
      const found: Instruction[] = [];
      for (const target of targets) {
        if (target.type !== "file") continue;
        let directory = dirname(canonicalPath(target.realPath ?? target.path));
        for (; isInside(root, directory) && !seen.has(directory); directory = dirname(directory)) {
          seen.add(directory);
          found.unshift(...withImports(readInstruction(directory, root), root));
        }
      }
      if (found.length === 0) return undefined;
      const isUsed = isAgreed();
      for (const one of found) (isUsed ? onFound : onLeftOut)(one);
      return isUsed ? { append: `\n${formatInstructions(found, cwd)}` } : undefined;
    },
  };
}

/** Whether a project's instructions may be used: asked once, stored in the user's own state by its path. */
export class InstructionConsent {
  readonly #file: string;
  readonly #project: string;

  constructor(cwd: string, directory = join(stateDirectory(), "instructions")) {
    this.#project = canonicalPath(stopDirectory(cwd));
    const hash = createHash("sha256").update(this.#project).digest("hex").slice(0, 16);
    this.#file = join(directory, `${hash}.json`);
  }

  /** The recorded answer, or `undefined` if the user was never asked. */
  get answer(): boolean | undefined {
    const { use } = this.#saved;
    return typeof use === "boolean" ? use : undefined;
  }

  /** A file in a subdirectory that an earlier run found and left out. */
  get leftOut(): string | undefined {
    const { leftOut } = this.#saved;
    return typeof leftOut === "string" ? leftOut : undefined;
  }

  /** Never rejects: if the answer cannot be stored, the next run asks again. */
  async remember(use: boolean): Promise<void> {
    await this.#save({ use });
  }

  /** Makes the next run ask. Never rejects. */
  async rememberLeftOut(leftOut: string): Promise<void> {
    if (this.answer === undefined) await this.#save({ leftOut });
  }

  get #saved(): { readonly use?: unknown; readonly leftOut?: unknown } {
    try {
      const saved: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return isRecord(saved) && saved.project === this.#project ? saved : {};
    } catch {
      return {};
    }
  }

  async #save(content: { readonly use: boolean } | { readonly leftOut: string }): Promise<void> {
    try {
      ensurePrivateDirectory(dirname(this.#file));
      await writeFileAtomic(this.#file, `${JSON.stringify({ project: this.#project, ...content })}\n`, {
        mode: 0o600,
      });
    } catch {
      // The home directory is not writable.
    }
  }
}
