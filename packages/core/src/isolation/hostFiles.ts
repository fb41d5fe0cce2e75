import { constants, lstatSync, mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, isAbsolute, relative } from "node:path";
import {
  assertAccess,
  canonicalPath,
  foldPath,
  isInside,
  matchesName,
  PROTECTED_FILES,
  pinDirectory,
  quotePath,
} from "@agent/internal";
import type { PackHost } from "../tools/pack.js";
import type { ToolCall } from "../tools/tool.js";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;

/** How a pack may open a file, by the flags of Node. */
const FLAGS = new Map([
  ["w", O_CREAT],
  ["wx", O_CREAT | O_EXCL],
  ["a", O_CREAT | O_APPEND],
  ["ax", O_CREAT | O_APPEND | O_EXCL],
]);
/** Installed packages: the agent and other programs run their code, with the rights of the user. */
const PACKAGES = "node_modules";
/** Instructions for models: what a pack writes there would be obeyed after the pack was removed. */
const INSTRUCTIONS = ["AGENTS*.md", "CLAUDE*.md", "GEMINI*.md"];

/**
 * Changes files of the project for a pack, which cannot do so itself. Stricter than the file tools: nothing that is hidden or
 * protected, no installed packages, and nothing outside of the project.
 */
export class HostFiles {
  readonly #host: Pick<PackHost, "protectedPaths" | "protectedNames" | "access" | "directory"> | undefined;

  constructor(host: PackHost | undefined) {
    this.#host = host;
  }

  /** Writes or appends. Rejects with an error for the author and the user. */
  async write(params: Record<string, unknown>, bytes: Buffer, call: ToolCall): Promise<void> {
    const flags = FLAGS.get(String(params.flag));
    if (flags === undefined) throw new Error(`a file cannot be opened with the flag ${String(params.flag)}`);
    const target = this.#locate(params.path, call);
    const directory = pinDirectory(dirname(target), dirname(target));
    try {
      const path = `${directory.path}/${basename(target)}`;
      // Non-blocking, because it may be a FIFO without a reader.
      const file = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | flags, 0o666);
      try {
        const found = await file.stat();
        if (!found.isFile()) throw new Error(`${quotePath(target)} is not a regular file`);
        if (found.nlink > 1)
          throw refusal(target, "it has another name, which may be protected (a hard link)");
        if ((flags & O_APPEND) === 0) await file.truncate();
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
    } finally {
      directory.close();
    }
  }

  /** Creates a directory. Resolves to the first one that was missing, if `recursive`. */
  makeDirectory({ path, recursive }: Record<string, unknown>, call: ToolCall): string | undefined {
    const target = this.#locate(path, call);
    if (recursive !== true) {
      makeIn(dirname(target), basename(target));
      return undefined;
    }
    const missing: string[] = [];
    for (
      let place = target;
      lstatSync(place, { throwIfNoEntry: false }) === undefined;
      place = dirname(place)
    )
      missing.unshift(place);
    // An existing path is reported as usual.
    if (missing.length === 0) return mkdirSync(target, { recursive: true });
    for (const place of missing) makeIn(dirname(place), basename(place));
    return missing[0];
  }

  /** The canonical path of what a pack may change. */
  #locate(path: unknown, call: ToolCall): string {
    if (typeof path !== "string" || !isAbsolute(path) || path.includes("\0"))
      throw new Error("the path is not absolute");
    const { protectedPaths = [], protectedNames = [], access, directory } = this.#host ?? {};
    const root = canonicalPath(directory ?? process.cwd());
    const target = canonicalPath(path);
    const folded = foldPath(relative(root, target));
    const names = folded.split("/");
    const refuse = (why: string): never => {
      throw refusal(path, why);
    };
    if (target === root || !isInside(root, target)) refuse("it is outside the project");
    if (names.some((name) => name.startsWith("."))) refuse("it is hidden");
    if (names.includes(PACKAGES)) refuse("it is an installed package");
    const patterns = [
      ...PROTECTED_FILES.map(({ pattern }) => pattern),
      ...INSTRUCTIONS,
      ...protectedNames,
    ].map((pattern) => foldPath(pattern.replace(/#.*$/, "")));
    const isNamed = (pattern: string): boolean =>
      pattern.includes("/")
        ? `/${folded}/`.includes(`/${pattern}/`)
        : names.some((name) => matchesName(pattern, name));
    const place = foldPath(target);
    const isPlaced = protectedPaths
      .map((one) => foldPath(canonicalPath(one)))
      .some((one) => isInside(one, place) || isInside(place, one));
    if (patterns.some(isNamed) || isPlaced) refuse("it is protected");
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink()) refuse("it is a broken symlink");
    assertAccess(access, "write", target, call.granted);
    return target;
  }
}

/** Creates a directory in `parent`, and never in the target of a link that replaces `parent` meanwhile. */
function makeIn(parent: string, name: string): void {
  const directory = pinDirectory(parent, parent);
  try {
    mkdirSync(`${directory.path}/${name}`);
  } finally {
    directory.close();
  }
}

function refusal(path: string, why: string): Error {
  return Object.assign(new Error(`an isolated pack may not change ${quotePath(path)}: ${why}`), {
    code: "EACCES",
  });
}
