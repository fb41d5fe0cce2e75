import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { CallHooks } from "@agent/core";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import { canonicalPath, isInside, readRegularFile, truncateUtf8 } from "@agent/internal";
import { sizeText } from "../display/amounts.js";
import { configDirectory, ensurePrivateDirectory, stateDirectory } from "../process/paths.js";
import { stopDirectory } from "../settings/config/places.js";

/** File names of instructions; the first that exists is used. */
const NAMES = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
const MOST_BYTES = 32 * 1024;
const MOST_IN_ALL = 96 * 1024;

/** A file with instructions for agents. It is text for the model, not code. */
export interface Instruction {
  readonly file: string;
  /** The part that the model gets. */
  readonly text: string;
  /** The size of the whole file. */
  readonly bytes: number;
  readonly isCut: boolean;
}

/** How large a file is, and how much of it is used: `812 bytes`, `the first 32 KB of 49 KB`. */
export function instructionSize({ text, bytes, isCut }: Instruction): string {
  return isCut ? `the first ${sizeText(Buffer.byteLength(text))} of ${sizeText(bytes)}` : sizeText(bytes);
}

/** The person's own instructions, then those from the repository's root down to the working directory. */
export function findInstructions(cwd: string): Instruction[] {
  const stop = stopDirectory(cwd);
  const directories: string[] = [];
  for (let directory = resolve(cwd); ; directory = dirname(directory)) {
    directories.unshift(directory);
    if (directory === stop || dirname(directory) === directory) break;
  }
  const own = readInstruction(configDirectory(), configDirectory());
  let room = MOST_IN_ALL;
  return [own, ...directories.map((directory) => readInstruction(directory, stop))]
    .filter((one) => one !== undefined)
    .map((one) => {
      const text = truncateUtf8(one.text, room);
      room -= Buffer.byteLength(text);
      return { ...one, text, isCut: one.isCut || text.length < one.text.length };
    });
}

/** The instructions of one directory. A link that leads out of `root` is not followed: it could lead to a secret. */
function readInstruction(directory: string, root: string): Instruction | undefined {
  for (const name of NAMES) {
    const file = join(directory, name);
    try {
      const real = realpathSync(file);
      if (!isInside(realpathSync(root), real)) continue;
      // Read one byte more than is used, to see whether the text is cut. A huge file is not read to its end.
      const start = readRegularFile(real, MOST_BYTES + 1)?.toString("utf8");
      if (start === undefined) continue;
      const text = truncateUtf8(start, MOST_BYTES);
      return { file, text, bytes: statSync(real).size, isCut: text.length < start.length };
    } catch {
      // Missing or not readable: try the next name.
    }
  }
  return undefined;
}

/** The part of the system prompt that holds the instructions. */
export function formatInstructions(instructions: readonly Instruction[], cwd: string): string {
  if (instructions.length === 0) return "";
  const parts = instructions.map(({ file, text, isCut }) => {
    const name = isInside(cwd, file) ? relative(cwd, file) : file;
    const notice = isCut ? `\n[cut at ${Buffer.byteLength(text)} bytes; read the file for the rest]` : "";
    return `<instructions file=${JSON.stringify(name)}>\n${text.trim()}${notice}\n</instructions>`;
  });
  return `The person and the project give these instructions; the later ones are about narrower things:\n${parts.join("\n")}`;
}

/**
 * Adds the instructions of a subdirectory to the result of the first call that touches something in it. Calls `onFound`
 * for each.
 */
export function instructionHooks(
  cwd: string,
  known: readonly Instruction[],
  onFound: (found: Instruction) => void,
): CallHooks {
  const root = canonicalPath(stopDirectory(cwd));
  const seen = new Set(known.map(({ file }) => canonicalPath(dirname(file))));
  return {
    name: "instructions",
    afterCall: ({ args }) => {
      const found: Instruction[] = [];
      for (const value of [args.path, args.source, args.destination, args.file_path]) {
        if (typeof value !== "string" || value.includes("\0")) continue;
        let directory = dirname(canonicalPath(resolve(cwd, value)));
        for (; isInside(root, directory) && !seen.has(directory); directory = dirname(directory)) {
          seen.add(directory);
          const one = readInstruction(directory, root);
          if (one) found.unshift(one);
        }
      }
      for (const one of found) onFound(one);
      return found.length === 0 ? undefined : { append: `\n${formatInstructions(found, cwd)}` };
    },
  };
}

/** Whether a project's instructions may be used: asked once, remembered in the person's own state by its path. */
export class InstructionConsent {
  readonly #file: string;
  readonly #project: string;

  constructor(cwd: string, directory = join(stateDirectory(), "instructions")) {
    this.#project = canonicalPath(stopDirectory(cwd));
    const hash = createHash("sha256").update(this.#project).digest("hex").slice(0, 16);
    this.#file = join(directory, `${hash}.json`);
  }

  /** The recorded answer, or `undefined` if the person was never asked. */
  get answer(): boolean | undefined {
    try {
      const saved: unknown = JSON.parse(readFileSync(this.#file, "utf8"));
      return isRecord(saved) && saved.project === this.#project && typeof saved.use === "boolean"
        ? saved.use
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** Never rejects: if the answer cannot be stored, the next run asks again. */
  async remember(use: boolean): Promise<void> {
    try {
      ensurePrivateDirectory(dirname(this.#file));
      await writeFileAtomic(this.#file, `${JSON.stringify({ project: this.#project, use })}\n`, {
        mode: 0o600,
      });
    } catch {
      // The home directory is not writable.
    }
  }
}
