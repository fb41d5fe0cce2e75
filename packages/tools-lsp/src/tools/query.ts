import type { CallDescription, DefinedToolCall } from "@agent/core";
import type { Position } from "../protocol/messages.js";
import { readText } from "../server/documents.js";
import { type LanguageServer, uriOf } from "../server/languageServer.js";
import type { Servers, Slot } from "../server/servers.js";
import { findSymbol } from "./places.js";

export const PATH = { type: "string", description: "File" } as const;
export const LINE = { type: "integer", minimum: 1, description: "Line with the symbol, from 1" } as const;
export const SYMBOL = {
  type: "string",
  minLength: 1,
  maxLength: 1000,
  description: "The symbol as in that line",
} as const;

export interface SymbolInput {
  readonly path: string;
  readonly line: number;
  readonly symbol: string;
}

/** The place of a symbol, and the server that knows about it. */
export interface FoundSymbol {
  readonly slot: Slot;
  readonly server: LanguageServer;
  readonly path: string;
  readonly params: { readonly textDocument: { readonly uri: string }; readonly position: Position };
}

/** The description of a call that reads one file. */
export function describeRead(servers: Servers, path: string, line?: number): CallDescription {
  try {
    const target = servers.guard.target(path, "read");
    if (servers.isSecret(target.realPath ?? target.path)) {
      return { refusal: `${JSON.stringify(path)} is in a place of secrets.` };
    }
    return { targets: [{ ...target, ...(line !== undefined && { line }) }] };
  } catch (error) {
    return { refusal: (error as Error).message };
  }
}

/** Runs work with a server within a tool's time limit. Throws with the reason if the server does not answer. */
export async function withinRequestTime<T>(
  servers: Servers,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { requestMs } = servers.settings;
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  const timer = setTimeout(
    () => controller.abort(new Error(`The language server did not answer within ${requestMs} ms.`)),
    requestMs,
  );
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener("abort", () => reject(controller.signal.reason), { once: true });
    if (controller.signal.aborted) reject(controller.signal.reason);
  });
  aborted.catch(() => undefined);
  try {
    return await Promise.race([work(controller.signal), aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    controller.abort(new Error("The call has ended."));
  }
}

/** Opens the file of an argument in its server. */
export async function openFile(
  servers: Servers,
  given: string,
): Promise<Omit<FoundSymbol, "params"> & { text: string }> {
  const path = servers.guard.resolve(given);
  const slot = servers.require(path, given);
  const file = await readText(path);
  if (!file)
    throw new Error(`${JSON.stringify(given)} does not exist, or is not a UTF-8 text of at most 2 MB.`);
  const server = await slot.use().inOrder(() => slot.show(path, file));
  return { slot, server, path, text: file.text };
}

/** Finds a symbol by its line and opens the file in its server. */
export async function openSymbol(
  servers: Servers,
  { path: given, line, symbol }: SymbolInput,
): Promise<FoundSymbol> {
  const path = servers.guard.resolve(given);
  servers.require(path, given);
  const file = await readText(path);
  if (!file)
    throw new Error(`${JSON.stringify(given)} does not exist, or is not a UTF-8 text of at most 2 MB.`);
  const position = findSymbol(file.text, line, symbol);
  const { slot, server } = await openFile(servers, given);
  return { slot, server, path, params: { textDocument: { uri: uriOf(path) }, position } };
}

/** The signal of a call; the directory is for messages. */
export type QueryCall = Pick<DefinedToolCall, "signal" | "report">;
