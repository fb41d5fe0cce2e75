import { type CallDescription, defineTool } from "@agent/core";
import { errorMessage, escapeToLine, orAborted } from "@agent/core/toolkit";
import { applyRename, planRename, type RenameHost, type RenamePlan, StaleText } from "../edits/renamePlan.js";
import { shownPath } from "../edits/report.js";
import { readWorkspaceEdit } from "../protocol/messages.js";
import type { Servers } from "../server/servers.js";
import {
  describeRead,
  LINE,
  openSymbol,
  PATH,
  SYMBOL,
  type SymbolInput,
  withinRequestTime,
} from "./query.js";

/** The registry waits two seconds for a description. */
const DESCRIBE_MS = 1800;

interface RenameInput extends SymbolInput {
  readonly new_name: string;
}

/** Renames a symbol in all files that use it. All files change, or none. */
export function renameTool(servers: Servers, host: RenameHost) {
  return defineTool({
    name: "lsp_rename",
    description: "Rename a symbol everywhere it is used. All files change, or none.",
    input: {
      type: "object",
      properties: {
        path: PATH,
        line: LINE,
        symbol: SYMBOL,
        new_name: { type: "string", minLength: 1, maxLength: 1000, description: "The new name" },
      },
      required: ["path", "line", "symbol", "new_name"],
      additionalProperties: false,
    },
    capabilities: ["read", "write"],
    kind: "edit",
    titleFrom: ["symbol", "new_name"],
    describe: async (input, { signal }) => await describe(servers, host, input, signal),
    preview: async (input, { signal }) => {
      try {
        const { files, basis } = await plan(servers, host, input, signal);
        return { changes: files.map(({ diff }) => diff), basis };
      } catch (error) {
        signal.throwIfAborted();
        return { changes: [], refusal: errorMessage(error) };
      }
    },
    execute: async (input, call) => {
      const found = await withinRequestTime(servers, call.signal, (signal) =>
        plan(servers, host, input, signal),
      );
      if (call.basis !== undefined && call.basis !== found.basis)
        throw new Error(
          "The files have changed since the rename was shown. Nothing was changed. Call it again.",
        );
      const { base } = servers.guard;
      call.signal.throwIfAborted();
      await applyRename(found, base);
      const places = found.files.reduce((sum, file) => sum + file.places, 0);
      const summary = `${count(places, "place")} in ${count(found.files.length, "file")}`;
      call.report({ summary, view: { type: "diff", files: found.files.map(({ diff }) => diff) } });
      const lines = found.files.map(
        (file) => `${escapeToLine(shownPath(file.path, base))}: ${count(file.places, "place")}`,
      );
      return [`Renamed ${input.symbol} to ${input.new_name}: ${summary}.`, ...lines].join("\n");
    },
  });
}

/** The files that would change. An impossible rename is refused before the user is asked. */
async function describe(
  servers: Servers,
  host: RenameHost,
  input: RenameInput,
  signal: AbortSignal,
): Promise<CallDescription> {
  const read = describeRead(servers, input.path, input.line);
  if (read.refusal !== undefined) return read;
  const late = AbortSignal.timeout(DESCRIBE_MS);
  try {
    const { files } = await plan(servers, host, input, AbortSignal.any([signal, late]));
    return { targets: files.map(({ path }) => ({ type: "file", path, access: "write" })) };
  } catch (error) {
    signal.throwIfAborted();
    return {
      refusal: late.aborted
        ? "The language server is still loading the project, so the files that would change are not known yet. Nothing was changed. Call it again in a few seconds."
        : errorMessage(error),
    };
  }
}

async function plan(
  servers: Servers,
  host: RenameHost,
  input: RenameInput,
  signal: AbortSignal,
): Promise<RenamePlan> {
  const oldName = input.symbol.split(/[.:>]/).at(-1) ?? input.symbol;
  const names = { oldName, newName: input.new_name };
  if (oldName === input.new_name) throw new Error("The new name is the old one. Nothing was changed.");
  const ask = async () => {
    const found = await orAborted(openSymbol(servers, input), signal);
    const { slot, server, params } = found;
    const answer = await orAborted(
      server.request("textDocument/rename", { ...params, newName: input.new_name }, signal),
      signal,
    );
    return {
      found,
      plan: () => planRename(servers, { slot, server }, host, readWorkspaceEdit(answer), names),
    };
  };
  const first = await ask();
  let result: RenamePlan;
  try {
    result = first.plan();
  } catch (error) {
    if (!(error instanceof StaleText)) throw error;
    // Another program changed files that the server has read: it is asked again after it was notified.
    first.found.server.announceFiles(error.paths, [], []);
    result = (await ask()).plan();
  }
  if (result.files.length === 0) throw new Error("The language server found nothing to rename there.");
  return result;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
