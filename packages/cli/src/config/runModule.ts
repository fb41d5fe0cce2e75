import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { errorMessage, escapeInvisible } from "@agent/core/toolkit";
import type { Jiti } from "jiti";
import { CliError } from "../errors.js";
import { cacheDirectory } from "../paths.js";
import { requireJiti } from "../requireCjs.js";

const DEFAULT_TIMEOUT_MS = 10_000;

/** Runs a config's source, TypeScript or not, and resolves to its exports. */
export async function runConfigSource(file: string, source: string): Promise<Record<string, unknown>> {
  const jiti = createLoader(file);
  const run = async (): Promise<unknown> => jiti.evalModule(source, { filename: file, async: true });
  return (await withinTime(file, run)) as Record<string, unknown>;
}

/** Loads a module file through the same loader, for packs that are files of the project. */
export async function importFile(file: string): Promise<Record<string, unknown>> {
  const jiti = createLoader(file);
  return await withinTime(file, () => jiti.import(file));
}

/**
 * Loads a module; rejects with the file's name if that never ends. What the module prints meanwhile goes to
 * standard error where a program reads standard output: its JSON must stay JSON.
 */
export async function withinTime<T>(file: string, load: () => Promise<T>): Promise<T> {
  const limit = Number(process.env.AGENT_LOAD_TIMEOUT_MS) || DEFAULT_TIMEOUT_MS;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(
        new CliError(
          `${file}: not loaded after ${limit} ms. Does it await something that never comes? (AGENT_LOAD_TIMEOUT_MS sets the limit.)`,
        ),
      );
    }, limit);
  });
  const giveBack = lendStandardError();
  try {
    return await Promise.race([load(), late]);
  } finally {
    clearTimeout(timer);
    giveBack();
  }
}

let borrowers = 0;
let lent: typeof process.stdout.write | undefined;

/** Until the result is called, what is written to standard output goes to standard error, unless it is a terminal. */
function lendStandardError(): () => void {
  const { stdout, stderr } = process;
  if (stdout.isTTY) return () => undefined;
  if (borrowers++ === 0) {
    lent = stderr.write.bind(stderr);
    stdout.write = lent;
  }
  return () => {
    borrowers--;
    // The stream's own method comes back from its prototype. What a module put there itself stays its own affair.
    if (borrowers === 0 && stdout.write === lent) Reflect.deleteProperty(stdout, "write");
  };
}

/** What went wrong in a file, on one line, with the line number if the loader gave one. */
export function loadProblem(file: string, error: unknown): string {
  if (error instanceof CliError) return error.message;
  const message = escapeInvisible(errorMessage(error))
    .replace(/\s*\n\s*/g, " ")
    .trim();
  const place = message.match(/^(?:ParseError: )?(.*?)\s+(\/\S+):(\d+):(\d+)$/);
  if (place) return `${place[2]}:${place[3]}: ${place[1]}`;
  const thrownAt = stackLine(file, error);
  return `${thrownAt === undefined ? file : `${file}:${thrownAt}`}: ${message}`;
}

function stackLine(file: string, error: unknown): string | undefined {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const index = stack.indexOf(`${file}:`);
  return index === -1 ? undefined : stack.slice(index + file.length + 1).match(/^\d+/)?.[0];
}

function createLoader(file: string): Jiti {
  return requireJiti().createJiti(pathToFileURL(file).href, {
    interopDefault: false,
    // Not in the shared temporary directory, where somebody else could plant compiled code.
    fsCache: join(cacheDirectory(), "jiti"),
    alias: missingPackages(file),
  });
}

/** Makes `@agent/*` resolvable for a file of a project that did not install it: the CLI's own copy serves. */
function missingPackages(file: string): Record<string, string> {
  const project = createRequire(file);
  const own = createRequire(import.meta.url);
  const alias: Record<string, string> = {};
  for (const name of ["@agent/core/toolkit", "@agent/core", "@agent/cli/config"]) {
    if (!canResolve(project, name)) alias[name] = own.resolve(name);
  }
  return alias;
}

function canResolve(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}
