import type { Failure, FileStatus } from "../protocol.js";

/** Thrown for a file or directory that is not searched, with the reason. */
export class NotSearched extends Error implements Failure {
  constructor(
    readonly status: FileStatus,
    readonly reason: string,
  ) {
    super(reason);
  }
}
