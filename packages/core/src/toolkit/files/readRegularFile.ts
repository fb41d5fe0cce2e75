import * as shared from "@agent/internal";

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
