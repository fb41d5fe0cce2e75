import { constants, lstatSync, mkdirSync } from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, isAbsolute, relative, sep } from "node:path";
import {
  assertAccess,
  canonicalPath,
  isInside,
  matchesName,
  PROTECTED_FILES,
  pinDirectory,
  quotePath,
} from "@agent/internal";
import type { PackHost } from "../tools/pack.js";
import type { ToolCall } from "../tools/tool.js";

const { O_APPEND, O_CREAT, O_EXCL, O_NOFOLLOW, O_NONBLOCK, O_TRUNC, O_WRONLY } = constants;

/** How a pack may open a file, by the flags of Node. */
const FLAGS: Readonly<Record<string, number>> = {
  w: O_CREAT | O_TRUNC,
  wx: O_CREAT | O_TRUNC | O_EXCL,
  a: O_CREAT | O_APPEND,
  ax: O_CREAT | O_APPEND | O_EXCL,
};

/**
 * Changes files of the project for a pack, which cannot do so itself. Stricter than the file tools: nothing that is hidden or
 * protected, and nothing outside of the project.
 */
export class HostFiles {
  readonly #host: Pick<PackHost, "protectedPaths" | "protectedNames" | "access" | "directory"> | undefined;

  constructor(host: PackHost | undefined) {
    this.#host = host;
  }

  /** Writes or appends. Rejects with an error for the author and the user. */
  async write(params: Record<string, unknown>, bytes: Buffer, call: ToolCall): Promise<void> {
    const flags = FLAGS[String(params.flag)];
    if (flags === undefined) throw new Error(`a file cannot be opened with the flag ${String(params.flag)}`);
    const target = this.#locate(params.path, call);
    const directory = pinDirectory(dirname(target), dirname(target));
    try {
      const path = `${directory.path}/${basename(target)}`;
      // Without waiting for a reader, should it be a pipe.
      const file = await open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | flags, 0o666);
      try {
        if (!(await file.stat()).isFile()) throw new Error(`${quotePath(target)} is not a regular file`);
        await file.writeFile(bytes);
      } finally {
        await file.close();
      }
    } finally {
      directory.close();
    }
  }

  /** Creates a directory. Resolves to the first one that was missing. */
  makeDirectory({ path, recursive }: Record<string, unknown>, call: ToolCall): string | undefined {
    return mkdirSync(this.#locate(path, call), { recursive: recursive === true });
  }

  /** The canonical path of what a pack may change. */
  #locate(path: unknown, call: ToolCall): string {
    if (typeof path !== "string" || !isAbsolute(path) || path.includes("\0"))
      throw new Error("the path is not absolute");
    const { protectedPaths = [], protectedNames = [], access, directory } = this.#host ?? {};
    const root = canonicalPath(directory ?? process.cwd());
    const target = canonicalPath(path);
    const names = relative(root, target).toLowerCase().split(sep);
    const refuse = (why: string): never => {
      throw Object.assign(new Error(`an isolated pack may not change ${quotePath(path)}: ${why}`), {
        code: "EACCES",
      });
    };
    if (target === root || !isInside(root, target)) refuse("it is outside the project");
    if (names.some((name) => name.startsWith("."))) refuse("it is hidden");
    const patterns = [...PROTECTED_FILES.map(({ pattern }) => pattern), ...protectedNames].map((pattern) =>
      pattern.replace(/#.*$/, "").toLowerCase(),
    );
    const isProtected =
      patterns.some((pattern) => names.some((name) => matchesName(pattern, name))) ||
      protectedPaths.some(
        (one) => isInside(canonicalPath(one), target) || isInside(target, canonicalPath(one)),
      );
    if (isProtected) refuse("it is protected");
    if (lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink())
      refuse("it is a link that leads nowhere");
    assertAccess(access, "write", target, call.granted);
    return target;
  }
}
