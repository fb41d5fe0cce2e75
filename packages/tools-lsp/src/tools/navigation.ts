import { defineTool, type ExecutableTool } from "@agent/core";
import { escapeInvisible } from "@agent/core/toolkit";
import { diagnosticLine, shownPath } from "../edits/report.js";
import { type CodeSymbol, type Location, readLocations, readSymbols } from "../protocol/messages.js";
import { pathOf, uriOf } from "../server/languageServer.js";
import { isBelow, type Servers, type Slot } from "../server/servers.js";
import { findSources } from "../server/sources.js";
import { showPlaces } from "./places.js";
import {
  describeRead,
  LINE,
  openFile,
  openSymbol,
  PATH,
  type QueryCall,
  SYMBOL,
  withinRequestTime,
} from "./query.js";

const MAX_DIAGNOSTICS = 50;
const MAX_SYMBOLS = 100;

const SYMBOL_INPUT = {
  type: "object",
  properties: { path: PATH, line: LINE, symbol: SYMBOL },
  required: ["path", "line", "symbol"],
  additionalProperties: false,
} as const;

/** Names of the protocol's kinds of symbols, by their number. */
const KINDS =
  " file module namespace package class method property field constructor enum interface function variable constant string number boolean array object key null enum-member struct event operator type-parameter".split(
    " ",
  );

/** The read-only tools. */
export function readingTools(servers: Servers) {
  return [
    diagnosticsTool(servers),
    placesTool(servers, {
      name: "lsp_definition",
      description: "Find where a symbol is defined.",
      method: "textDocument/definition",
      params: {},
      none: "No definition was found.",
    }),
    placesTool(servers, {
      name: "lsp_references",
      description: "Find all uses of a symbol, by meaning rather than by text.",
      method: "textDocument/references",
      params: { context: { includeDeclaration: true } },
      none: "No references were found.",
    }),
    symbolsTool(servers),
  ] as const;
}

function diagnosticsTool(servers: Servers) {
  return defineTool({
    name: "lsp_diagnostics",
    description:
      "List the errors and warnings that the language server finds in a file; without a path, in all files changed so far.",
    input: { type: "object", properties: { path: PATH }, additionalProperties: false },
    capabilities: ["read"],
    describe: ({ path }) => (path === undefined ? { targets: [] } : describeRead(servers, path)),
    execute: async ({ path }, call) =>
      await withinRequestTime(servers, call.signal, async (signal) => {
        const files = path === undefined ? await openFiles(servers) : [path];
        if (files.length === 0) return "No file was changed so far. Pass a path.";
        const lines: string[] = [];
        let problems = 0;
        for (const given of files) {
          const { slot, server, path: file } = await openFile(servers, given);
          const found = await slot.use().inOrder(() => server.diagnostics(file, signal));
          problems += found.length;
          const shown = shownPath(file, servers.guard.base);
          const sorted = [...found].sort(
            (a, b) => a.severity - b.severity || a.range.start.line - b.range.start.line,
          );
          lines.push(...sorted.map((one) => diagnosticLine(shown, one)));
        }
        call.report({ summary: problems === 1 ? "1 problem" : `${problems} problems` });
        if (problems === 0) return files.length === 1 ? `No problems in ${files[0]}.` : "No problems.";
        const more = lines.length - MAX_DIAGNOSTICS;
        return [...lines.slice(0, MAX_DIAGNOSTICS), ...(more > 0 ? [`… and ${more} more.`] : [])].join("\n");
      }),
  });
}

/** The open files that still exist and can be read. */
async function openFiles(servers: Servers): Promise<string[]> {
  const running = servers.list().flatMap(({ running }) => running ?? []);
  await Promise.all(running.map((server) => server.inOrder(() => server.refresh())));
  return running.flatMap((server) => server.openPaths());
}

interface PlacesQuery<Name extends string> {
  readonly name: Name;
  readonly description: string;
  readonly method: string;
  readonly params: object;
  readonly none: string;
}

function placesTool<const Name extends string>(
  servers: Servers,
  { name, description, method, params, none }: PlacesQuery<Name>,
): ExecutableTool & { readonly name: Name } {
  return defineTool({
    name,
    description,
    input: SYMBOL_INPUT,
    capabilities: ["read"],
    kind: "search",
    titleFrom: ["symbol", "path"],
    describe: ({ path, line }) => describeRead(servers, path, line),
    execute: async (input, call) =>
      await withinRequestTime(servers, call.signal, async (signal) => {
        const found = await openSymbol(servers, input);
        const answer = await found.server.request(method, { ...found.params, ...params }, signal);
        return await showList(servers, readLocations(answer), none, call);
      }),
  });
}

async function showList(
  servers: Servers,
  locations: readonly Location[],
  none: string,
  call: QueryCall,
): Promise<string> {
  const { places, more } = await showPlaces(servers, locations);
  if (places.length === 0) return none;
  call.report?.({
    summary: `${places.length + more} ${places.length + more === 1 ? "place" : "places"}`,
    view: { type: "list", items: places, ...(more > 0 && { more }) },
  });
  return [...places.map(({ text }) => text), ...(more > 0 ? [`… and ${more} more places.`] : [])].join("\n");
}

function symbolsTool(servers: Servers) {
  return defineTool({
    name: "lsp_symbols",
    description:
      "Find symbols by name in the project, or list the symbols of one file with path. Pass query, path or both.",
    input: {
      type: "object",
      properties: {
        query: { type: "string", description: "Name, or a part of it" },
        path: PATH,
      },
      additionalProperties: false,
    },
    capabilities: ["read"],
    kind: "search",
    titleFrom: ["query", "path"],
    describe: ({ path }) =>
      path === undefined
        ? { targets: [{ type: "file", path: servers.root, access: "read", tree: true }] }
        : describeRead(servers, path),
    execute: async ({ query = "", path }, call) =>
      await withinRequestTime(servers, call.signal, async (signal) => {
        if (query === "" && path === undefined) throw new Error('Pass "query", "path" or both.');
        const symbols =
          path === undefined
            ? await projectSymbols(servers, query, signal)
            : await fileSymbols(servers, path, query, signal);
        return showSymbols(servers, symbols, call);
      }),
  });
}

async function fileSymbols(
  servers: Servers,
  given: string,
  query: string,
  signal: AbortSignal,
): Promise<CodeSymbol[]> {
  const { server, path } = await openFile(servers, given);
  const uri = uriOf(path);
  const answer = await server.request("textDocument/documentSymbol", { textDocument: { uri } }, signal);
  return readSymbols(answer)
    .filter(({ name }) => name.toLowerCase().includes(query.toLowerCase()))
    .map((symbol) => ({ ...symbol, uri }));
}

/** Asks all running servers, or else those of the languages that the project has. */
async function projectSymbols(servers: Servers, query: string, signal: AbortSignal): Promise<CodeSymbol[]> {
  const slots = await projectSlots(servers);
  const answers = await Promise.allSettled(
    slots.map((slot) => slot.use().request("workspace/symbol", { query }, signal)),
  );
  const failed = answers.find((answer) => answer.status === "rejected");
  const found = answers.flatMap((answer) => (answer.status === "fulfilled" ? readSymbols(answer.value) : []));
  if (found.length === 0 && failed) throw failed.reason;
  // Servers also find symbols of libraries.
  return found.filter(({ uri = "" }) => isInProject(servers, uri) && !uri.includes("/node_modules/"));
}

/** Whether a URI is below the root. Servers spell the same one differently: `/%40scope/`. */
function isInProject({ root }: Servers, uri: string): boolean {
  const path = pathOf(uri);
  return path === undefined ? uri.startsWith(`${uriOf(root)}/`) : isBelow(root, path);
}

async function projectSlots(servers: Servers): Promise<Slot[]> {
  const open = servers.list().filter((slot) => slot.running?.hasDocuments);
  if (open.length > 0) return open;
  const sources = await findSources(servers);
  const slots: Slot[] = [];
  for (const path of sources) {
    const slot = servers.find(path);
    if (!slot || slots.includes(slot)) continue;
    // A server indexes a project once a file of it is open.
    await slot.use().inOrder(() => slot.show(path));
    slots.push(slot);
  }
  if (slots.length === 0)
    throw new Error("No file of the project has a language server. Pass the path of one.");
  return slots;
}

function showSymbols(servers: Servers, symbols: readonly CodeSymbol[], call: QueryCall): string {
  if (symbols.length === 0) return "No symbols were found.";
  const items = symbols.slice(0, MAX_SYMBOLS).map(({ name, kind, container, uri = "", range }) => {
    const path = pathOf(uri) ?? uri;
    const line = range.start.line + 1;
    const inside = container === "" ? "" : ` in ${container}`;
    const text = `${shownPath(path, servers.guard.base)}:${line}: ${KINDS[kind] ?? ""} ${name}${inside}`;
    return { text: escapeInvisible(text.slice(0, 400).toWellFormed()), path, line };
  });
  const more = symbols.length - items.length;
  call.report?.({
    summary: symbols.length === 1 ? "1 symbol" : `${symbols.length} symbols`,
    view: { type: "list", items, ...(more > 0 && { more }) },
  });
  return [...items.map(({ text }) => text), ...(more > 0 ? [`… and ${more} more.`] : [])].join("\n");
}
