import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { errorMessage } from "@agent/core/toolkit";
import { isInside, quotePath, withRegularFile } from "@agent/internal";
import { CliError } from "../../process/errors.js";
import { filesFor, resolveModule } from "../modules/resolveModule.js";
import { entryOf } from "../packs/entry.js";

// Anything that looks like a relative path, quoted or bare: imports and packs alike.
const QUOTED = /(["'`])(\.{1,2}\/[^"'`\n]{1,500})\1/g;
const BARE = /\.{1,2}\/[^\s"'`,\])}]{1,500}/g;
// Anything that is imported or required by a plain string.
const IMPORTED = /\b(?:from|import|require(?:\.resolve)?)\s*\(?\s*(["'`])([^"'`\n]{1,500})\1/g;
const CODE = /\.[mc]?[jt]sx?$/;
const MAX_FILES = 500;
const MAX_PACKAGE_FILES = 20;
// Longer files are bundles, which contain their dependencies.
const MAX_FOLLOWED = 1024 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;

/** Files and the SHA-256 of their content. */
export type FileHashes = Readonly<Record<string, string>>;

interface ReadFile {
  readonly text: string;
  readonly hash: string;
}

/**
 * The files that a config runs. Each is read once: the content that was hashed and asked about is the content that
 * runs. Paths are canonical, so a symlink that is changed later means another file.
 */
export class ProjectFiles {
  /** The directory of the config. */
  readonly root: string;
  readonly #config: string;
  readonly #files = new Map<string, ReadFile>();

  constructor(config: string) {
    this.#config = config;
    this.root = dirname(realpathSync(config));
  }

  get hashes(): FileHashes {
    return Object.fromEntries([...this.#files].map(([path, { hash }]) => [path, hash]));
  }

  /** The content as it was read, or `undefined` for a file that is not in the set. */
  text(path: string): string | undefined {
    return this.#files.get(path)?.text;
  }

  /**
   * Adds a file and, recursively, every file of the project that its text mentions. `text` replaces the file's content.
   */
  add(file: string, text?: string): void {
    const first = realpathSync(file);
    if (text !== undefined) this.#files.set(first, { text, hash: hashOf(text) });
    const queue = [first];
    const seen = new Set<string>();
    for (let path = queue.pop(); path !== undefined; path = queue.pop()) {
      if (seen.has(path)) continue;
      seen.add(path);
      queue.push(...this.#mentionedFiles(path, this.take(path)));
    }
  }

  /**
   * Adds the entry file of an installed package and the files that it mentions within the package. Dependencies are not
   * followed, and only the first files of a large package are added.
   */
  addPackage(entry: string): void {
    const queue = [realpathSync(entry)];
    const home = packageDirectory(queue[0] ?? entry);
    const seen = new Set<string>();
    for (let path = queue.pop(); path !== undefined && seen.size < MAX_PACKAGE_FILES; path = queue.pop()) {
      if (seen.has(path) || !isInside(home, path)) continue;
      seen.add(path);
      const text = this.take(path);
      if (text.length <= MAX_FOLLOWED) queue.push(...relativeFiles(path, text));
    }
  }

  /** Adds a file that limits the packs of the config. One that is missing limits nothing, and counts as empty. */
  addLimits(path: string): void {
    if (existsSync(path)) this.take(path);
    else this.#files.set(path, { text: "", hash: EMPTY });
  }

  /** The content of a file, read now if it was not before. From now on the file belongs to the set. */
  take(path: string): string {
    const known = this.#files.get(path);
    if (known) return known.text;
    if (this.#files.size >= MAX_FILES) {
      throw new CliError(
        `${quotePath(this.#config)}: it imports more than ${MAX_FILES} files of the project, too many to check.`,
      );
    }
    const text = readProjectFile(path);
    this.#files.set(path, { text, hash: hashOf(text) });
    return text;
  }

  /** The files a text may mention. Prefers too many to too few: a missing file is refused when it is loaded. */
  #mentionedFiles(file: string, text: string): string[] {
    const found = relativeFiles(file, text);
    if (CODE.test(file)) {
      for (const [, , specifier = ""] of text.matchAll(IMPORTED)) {
        for (const kind of ["import", "require"] as const) {
          const module = resolveModule(specifier, file, this.root, kind);
          if (module?.from === "project") found.push(module.file);
        }
      }
    }
    return found.map((path) => realpathSync(path));
  }
}

/** The files that a text may mention by a relative path. */
function relativeFiles(file: string, text: string): string[] {
  const mentions = new Set<string>();
  for (const match of text.matchAll(QUOTED)) mentions.add(match[2] ?? "");
  for (const match of text.matchAll(BARE)) mentions.add(match[0]);
  const found = [...mentions].flatMap((mention) => {
    const path = resolve(dirname(file), mention);
    return [...filesFor(path), ...packEntry(path)];
  });
  return found.map((path) => realpathSync(path));
}

/**
 * The entry file of a folder with a package.json, which a config may select as a pack; `undefined` if it is not built.
 */
function packEntry(path: string): string[] {
  try {
    const entry = entryOf(path);
    return statSync(entry).isFile() ? [entry] : [];
  } catch {
    return [];
  }
}

/** The directory of the package that a file belongs to: the nearest with a package.json. */
function packageDirectory(file: string): string {
  for (let directory = dirname(file); ; directory = dirname(directory)) {
    if (existsSync(join(directory, "package.json")) || dirname(directory) === directory) return directory;
  }
}

/** The SHA-256 of a text, in hexadecimal. */
export function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

const EMPTY = hashOf("");

/** The files whose content is not the one that is known. An empty file runs nothing, so it need not be known. */
export function unknownFiles(hashes: FileHashes, known: FileHashes): string[] {
  return Object.keys(hashes).filter((path) => (known[path] ?? EMPTY) !== hashes[path]);
}

/**
 * Reads a regular file of limited size. Throws for a larger one: it could not be hashed, so changes would go unnoticed.
 */
export function readProjectFile(path: string): string {
  try {
    return withRegularFile(path, (descriptor, size) => {
      if (size <= MAX_BYTES) return readFileSync(descriptor, "utf8");
      throw new Error(`the config imports it, and it is too large to be checked: ${size} bytes`);
    });
  } catch (error) {
    throw new CliError(`${quotePath(path)} cannot be read: ${errorMessage(error)}.`);
  }
}
