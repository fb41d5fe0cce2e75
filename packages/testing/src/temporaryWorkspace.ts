import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { check, invalidArgument } from "@agent/core/toolkit";
import { isInside } from "@agent/internal";

export interface Workspace {
  /** The directory, as an absolute path without symlinks. */
  readonly path: string;
  /** Removes it and everything in it. Also called by `await using`. */
  remove(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Creates an empty directory for a test, or one with the given files. Throws for a file outside of it.
 *
 * @example
 * ```ts
 * import { temporaryWorkspace } from "@agent/testing";
 *
 * await using workspace = await temporaryWorkspace({ "src/a.txt": "hello\n" });
 * ```
 */
export async function temporaryWorkspace(
  files: Readonly<Record<string, string | Uint8Array>> = {},
): Promise<Workspace> {
  check.object("files", files);
  for (const [name, content] of Object.entries(files)) {
    if (typeof content === "string" || content instanceof Uint8Array) continue;
    throw invalidArgument(`files[${JSON.stringify(name)}]`, "a string or a Uint8Array", content);
  }
  const path = await realpath(await mkdtemp(join(tmpdir(), "agent-workspace-")));
  const remove = () => rm(path, { recursive: true, force: true, maxRetries: 3 });
  try {
    for (const [name, content] of Object.entries(files)) {
      const target = resolve(path, name);
      if (!isInside(path, target))
        throw new Error(`"${name}" is outside the workspace. Use a relative path.`);
      await mkdir(dirname(target), { recursive: true });
      await writeFile(target, content);
    }
  } catch (error) {
    await remove();
    throw error;
  }
  return { path, remove, [Symbol.asyncDispose]: remove };
}
