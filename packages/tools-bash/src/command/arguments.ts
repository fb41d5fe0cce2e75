import { statSync } from "node:fs";
import { resolve } from "node:path";
import {
  describeValue,
  optionalString,
  optionalStringArray,
  quote,
  quotePath,
  requireString,
} from "@agent/core/toolkit";

const DEFAULT_TIMEOUT_MS = 30_000;

/** The input of a shell tool next to its command: where, with which variables and for how long it runs. */
export const PLACE_INPUT = {
  cwd: { type: "string", description: "Working directory (default: the agent's)" },
  env: {
    type: "object",
    additionalProperties: { type: ["string", "number"] },
    description: "Environment variables to add or override",
  },
  timeout: {
    type: "number",
    exclusiveMinimum: 0,
    description: `Milliseconds after which the command and all its children are stopped (default ${DEFAULT_TIMEOUT_MS})`,
  },
} as const;

/** Reads the `command` argument. Throws for text that no shell can run. */
export function checkedCommand(args: Record<string, unknown>): string {
  const command = requireString(args, "command");
  if (command.trim() === "") throw new Error(`"command" must not be blank, got ${quote(command)}.`);
  if (command.includes("\0")) {
    throw new Error('"command" contains a NUL character, which no shell can take. Nothing was run.');
  }
  return command;
}

/** Reads the `arguments` argument, which becomes `"$@"`. */
export function checkedParameters(args: Record<string, unknown>): readonly string[] {
  const parameters = optionalStringArray(args, "arguments", []);
  const index = parameters.findIndex((parameter) => parameter.includes("\0"));
  if (index !== -1) throw new Error(`"arguments[${index}]" contains a NUL character. Nothing was run.`);
  return parameters;
}

/** Reads the `timeout` argument in milliseconds; any positive number, including infinity. */
export function checkedTimeout(args: Record<string, unknown>): number {
  const { timeout = DEFAULT_TIMEOUT_MS } = args;
  if (typeof timeout === "number" && timeout > 0) return Math.ceil(timeout);
  throw new Error(
    `"timeout" must be a number of milliseconds greater than 0, got ${describeValue(timeout)}.`,
  );
}

/** The directory to run in, absolute and existing: `cwd`, `working_directory` or the agent's own, `own`. */
export function checkedDirectory(args: Record<string, unknown>, own?: string): string {
  const cwd = optionalString(args, "cwd", undefined);
  const alias = optionalString(args, "working_directory", undefined);
  if (cwd !== undefined && alias !== undefined && cwd !== alias) {
    throw new Error('"cwd" and "working_directory" are the same thing and differ here. Pass one of them.');
  }
  const given = cwd ?? alias;
  if (given === undefined) return currentDirectory(own);
  if (given.includes("\0")) throw new Error('"cwd" contains a NUL character.');
  const path = resolve(own ?? ".", given);
  const problem = directoryProblem(path);
  if (problem !== undefined) throw new Error(`"cwd" ${quotePath(given)} ${problem}. Nothing was run.`);
  return path;
}

/**
 * The agent's own working directory, which may have been removed: `own`, or that of the process. `hint` explains what to
 * do then.
 */
export function currentDirectory(own?: string, hint = 'Pass "cwd".'): string {
  try {
    if (own === undefined) return process.cwd();
    if (statSync(own).isDirectory()) return own;
  } catch {
    // Reported below.
  }
  throw new Error(`The agent's working directory no longer exists. ${hint}`);
}

function directoryProblem(path: string): string | undefined {
  try {
    return statSync(path).isDirectory() ? undefined : "is not a directory";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" ? "does not exist" : `cannot be used (${code})`;
  }
}
