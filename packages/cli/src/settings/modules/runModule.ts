import { errorMessage, escapeInvisible } from "@agent/core/toolkit";
import { withTimeout } from "@agent/internal";
import { CliError } from "../../process/errors.js";

const DEFAULT_TIMEOUT_MS = 10_000;

/** Loads a module; rejects with the file's name if that takes too long. */
export async function withinTime<T>(file: string, load: () => Promise<T>): Promise<T> {
  const limit = Number(process.env.AGENT_LOAD_TIMEOUT_MS) || DEFAULT_TIMEOUT_MS;
  return await withTimeout(load(), limit, () => {
    throw new CliError(
      `${file}: not loaded after ${limit} ms. Does it await something that never comes? (AGENT_LOAD_TIMEOUT_MS sets the limit.)`,
    );
  });
}

/** The problem with a file, on one line, with the line number if the loader reports one. */
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
