import * as shared from "@agent/internal";

/**
 * Opens a directory and keeps it open, so that operations below its `path` cannot be redirected by a replaced parent. A
 * symlink as the last component is refused. With `expected`, the directory must be at exactly that canonical path.
 *
 * @example
 * ```ts
 * import { mkdirSync, renameSync, writeFileSync } from "node:fs";
 * import { pinDirectory } from "@agent/core/toolkit";
 *
 * mkdirSync("notes");
 * const pinned = pinDirectory("notes");
 * try {
 *   if (pinned.fd !== undefined) renameSync("notes", "moved");
 *   writeFileSync(`${pinned.path}/a.txt`, "still in the same directory");
 * } finally {
 *   pinned.close();
 * }
 * console.log("written"); // written
 * ```
 */
export const pinDirectory = shared.pinDirectory;

/**
 * The canonical path of an open file or directory; `path` is what was passed to `open`. `undefined` if something else
 * is there by now.
 *
 * @example
 * ```ts
 * import { closeSync, openSync } from "node:fs";
 * import { openedPath } from "@agent/core/toolkit";
 *
 * const descriptor = openSync("a.txt", "w");
 * console.log(openedPath(descriptor, "a.txt")?.endsWith("/a.txt")); // true
 * closeSync(descriptor);
 * ```
 */
export const openedPath = shared.openedPath;

/**
 * Whether the system can name open files and directories: on Linux, with /proc mounted.
 *
 * @example
 * ```ts
 * import { namesOpenFiles } from "@agent/core/toolkit";
 *
 * console.log(typeof namesOpenFiles()); // boolean
 * ```
 */
export const namesOpenFiles = shared.namesOpenFiles;

/**
 * The id of the mount of an open file: it differs between two mounts of one file system. `undefined` if the system does
 * not report it.
 *
 * @example
 * ```ts
 * import { closeSync, openSync } from "node:fs";
 * import { mountOf, mountOfDirectory } from "@agent/core/toolkit";
 *
 * const descriptor = openSync("a.txt", "w");
 * console.log(mountOf(descriptor) === mountOfDirectory(".")); // true
 * closeSync(descriptor);
 * ```
 */
export const mountOf = shared.mountOf;

/**
 * Like `mountOf`, for a directory by its path, which may be that of a pinned one.
 *
 * @example
 * ```ts
 * import { mountOfDirectory } from "@agent/core/toolkit";
 *
 * console.log(mountOfDirectory(".") === mountOfDirectory(process.cwd())); // true
 * ```
 */
export const mountOfDirectory = shared.mountOfDirectory;

/**
 * The first bytes of a regular file; `undefined` if it cannot be read or is something else. Never waits for a FIFO.
 *
 * @example
 * ```ts
 * import { writeFileSync } from "node:fs";
 * import { readRegularFile } from "@agent/core/toolkit";
 *
 * writeFileSync("a.txt", "Hello, world!");
 * console.log(readRegularFile("a.txt", 5)?.toString("utf8"), readRegularFile(".", 5)); // Hello undefined
 * ```
 */
export const readRegularFile: (path: string, most: number) => FileBytes | undefined = shared.readRegularFile;

/** A `Buffer`, typed so that a program without the types of Node can use it. */
type FileBytes = Uint8Array & { toString(encoding?: "utf8" | "latin1"): string };

/**
 * A short name for a temporary file next to its target. It names the process that writes it, so that `writeFileAtomic` removes it
 * later if that process was killed.
 *
 * @example
 * ```ts
 * import { temporaryName } from "@agent/core/toolkit";
 *
 * console.log(temporaryName() !== temporaryName()); // true
 * ```
 */
export const temporaryName = shared.temporaryName;

/**
 * The unsaved text of a file that is open in an editor (`host.editorFiles`), with the line endings of the file;
 * `undefined` if the editor has no changes.
 *
 * @example
 * ```ts
 * import { unsavedText } from "@agent/core/toolkit";
 *
 * console.log(unsavedText("a\n", "a\n"), JSON.stringify(unsavedText("a\r\n", "b\n"))); // undefined "b\r\n"
 * ```
 */
export const unsavedText = shared.unsavedText;
