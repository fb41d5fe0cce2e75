import type * as childProcess from "node:child_process";

/**
 * `spawn` of `node:child_process`, loaded with the first call: loading it takes 4 ms, more than the rest of the pack,
 * and most agents never run a command.
 */
export const spawn: typeof childProcess.spawn = ((...args: Parameters<typeof childProcess.spawn>) =>
  process.getBuiltinModule("node:child_process").spawn(...args)) as typeof childProcess.spawn;

/** The shell for scripts that run before a command: limits, and the listener of a sandbox's proxy. */
export const SYSTEM_SHELL = "/bin/sh";
