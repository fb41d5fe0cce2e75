import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { errorMessage } from "@agent/core/toolkit";
import { escapeToLine, quotePath } from "@agent/internal";
import type { ServerOptions } from "@agent/tools-mcp";
import type { PastedServer } from "@agent/tools-mcp/manage";
import { askYesNo, canAsk } from "../../process/ask.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note, print } from "../../process/output.js";
import { shellWord } from "../../process/shellWord.js";
import { editConfig } from "../../settings/config/editConfig.js";
import { setPackOption, toSource } from "../../settings/config/editPackOptions.js";
import { DEFAULT_PACK } from "../../settings/layers.js";
import { type EditableServers, editableServers, type McpFlags, PACK } from "./servers.js";
import { showInstructions, showSetAside, showTools } from "./showTools.js";

/**
 * Files in which other programs list a project's MCP servers. We offer to add them; they are never used without
 * approval.
 */
const FOREIGN_FILES = [".mcp.json", ".vscode/mcp.json", ".cursor/mcp.json"];

// Launchers such as npx download the server when it is first started.
const FIRST_START_MS = 120_000;

/** `enable` lists the server's tools to enable; `*` means all of them. */
export interface AddFlags extends McpFlags {
  readonly name?: string;
  readonly env?: readonly string[];
  readonly header?: readonly string[];
  readonly user?: boolean;
}

/** The result for one server, for `--json`. */
interface AddedServer {
  readonly server: string;
  readonly added: boolean;
  readonly tools?: number;
  readonly variables: readonly string[];
  readonly problem?: string;
}

/**
 * `agent mcp add …`: parses what was pasted, shows what would run, starts it after approval, shows its tools, and
 * writes config and lock after a second approval.
 */
export async function mcpAdd(words: readonly string[], flags: AddFlags): Promise<ExitCode> {
  const place = await editableServers(flags, flags.user === true);
  return await addServers(await readWords(words, flags, place), flags, place);
}

/** Adds the servers that a pack declares, with the same questions. */
export async function addPackServers(
  servers: Readonly<Record<string, ServerOptions>>,
  flags: AddFlags,
): Promise<ExitCode> {
  const place = await editableServers(flags, flags.user === true);
  const none = { variables: [], secrets: {}, ignored: [] };
  const all = Object.entries(servers).map(([name, options]) => ({ name, options, ...none }));
  return await addServers(all, flags, place);
}

async function addServers(
  pasted: readonly PastedServer[],
  flags: AddFlags,
  place: EditableServers,
): Promise<ExitCode> {
  if (!flags.yes && !canAsk()) {
    for (const server of pasted) note(describe(server));
    throw new CliError(
      "There is no terminal to ask on. Look at what the server runs, then add it with --yes.",
      EXIT.refused,
    );
  }
  const added: AddedServer[] = [];
  let exitCode: ExitCode = EXIT.done;
  for (const server of pasted) {
    const result = await addServer(server, flags, place);
    added.push(result);
    if (result.problem !== undefined && !result.added) exitCode = EXIT.tool;
  }
  if (flags.json) print(`${JSON.stringify({ v: 1, config: place.file, servers: added }, undefined, 2)}\n`);
  return exitCode;
}

/**
 * The servers that the arguments mean: pasted, in a file, on standard input, or in a file of another tool in this
 * directory.
 */
async function readWords(
  words: readonly string[],
  flags: AddFlags,
  { manage }: EditableServers,
): Promise<PastedServer[]> {
  const pairs = (list: readonly string[] = [], separator: "=" | ":") =>
    list.length === 0 ? undefined : Object.assign({}, ...list.map((one) => manage.keyValue(one, separator)));
  const options = { name: flags.name, env: pairs(flags.env, "="), headers: pairs(flags.header, ":") };
  const [first = foreignFile()] = words;
  if (first === undefined) {
    throw new CliError(
      `agent mcp add: paste a command line, an address or a block of another tool's settings: agent mcp add npx -y @modelcontextprotocol/server-filesystem .`,
    );
  }
  try {
    if (words.length <= 1 && first === "-")
      return manage.readPasted([await readText(process.stdin)], options);
    const isFile = words.length <= 1 && /\.(json|toml)$/.test(first) && isRegularFile(first);
    return manage.readPasted(isFile ? [readFileSync(first, "utf8")] : words, options);
  } catch (error) {
    throw new CliError(`agent mcp add: ${errorMessage(error)}`);
  }
}

function foreignFile(): string | undefined {
  return FOREIGN_FILES.find(isRegularFile);
}

function isRegularFile(path: string): boolean {
  return existsSync(path) && statSync(path).isFile();
}

async function addServer(
  pasted: PastedServer,
  flags: AddFlags,
  place: EditableServers,
): Promise<AddedServer> {
  const { manage, file, servers } = place;
  const { name, variables } = pasted;
  const left = { server: name, added: false, variables };
  note(describe(pasted));
  if (Object.hasOwn(servers, name)) note(`  It replaces the server ${name} of the config.`);
  if (!flags.yes && !(await askYesNo("Start it and look at its tools?"))) return left;
  // Pasted secrets are set for this process only; the config names the variables, not their values.
  for (const [variable, value] of Object.entries(pasted.secrets)) process.env[variable] ??= value;
  let locked: Awaited<ReturnType<typeof manage.inspectServer>>["locked"] | undefined;
  let problem: string | undefined;
  try {
    ({ locked } = await manage.inspectServer(name, pasted.options, place.host, { startMs: FIRST_START_MS }));
  } catch (error) {
    problem = errorMessage(error);
    note(`✗ ${name}: ${problem}`);
    const needsLogin = error instanceof manage.LoginNeededError;
    if (!needsLogin && (flags.yes || !(await askYesNo(`Write it into ${file} anyway?`)))) {
      return { ...left, problem };
    }
  }
  if (locked) {
    showTools(name, manage.compareTools([], locked.tools), manage);
    showSetAside(name, locked);
    showInstructions(name, undefined, locked.instructions);
  }
  if (!flags.yes && locked && !(await askYesNo(`Approve these tools, and write the server into ${file}?`))) {
    return left;
  }
  const enable = await toolsToEnable(flags, locked?.tools.length ?? 0);
  const options = { ...pasted.options, ...(enable && { enable }) };
  const byHand = `["${PACK}", { servers: { ${toSource({ [name]: options }).slice(2, -2)} } }]`;
  await editConfig(
    file,
    (text, kind) =>
      setPackOption(text, { pack: PACK, group: "servers", key: name }, options, kind, [DEFAULT_PACK]),
    byHand,
  );
  if (locked) {
    const lock = manage.readLock(place.lockFile);
    await manage.writeLock(place.lockFile, { ...lock, servers: { ...lock.servers, [name]: locked } });
  }
  if (!flags.json)
    for (const line of nextSteps(pasted, place, enable, locked?.tools[0]?.name)) print(`${line}\n`);
  return {
    ...left,
    added: true,
    ...(locked && { tools: locked.tools.length }),
    ...(problem !== undefined && { problem }),
  };
}

/**
 * The tools to enable: those that were named, or all after approval. Without approval all are disabled, as everywhere.
 */
async function toolsToEnable(flags: AddFlags, count: number): Promise<true | readonly string[] | undefined> {
  if (flags.enable?.includes("*")) return true;
  if (flags.enable) return flags.enable;
  if (flags.yes || count === 0) return undefined;
  return (await askYesNo(`Turn ${count === 1 ? "it" : `all ${count}`} on for the model?`)) ? true : undefined;
}

/**
 * What would run or be connected to, and everything it gets: a variable such as NODE_OPTIONS can change what a program
 * runs. Only pasted secrets are omitted, and named.
 */
function describe({ name, options, variables, ignored }: PastedServer): string {
  const what =
    "url" in options
      ? `at ${options.url}`
      : `runs: ${[options.command, ...(options.args ?? [])].map(shellWord).join(" ")}`;
  return [
    `${name} ${escapeToLine(what)}`,
    ...settingsOf(options).map((line) => `  ${escapeToLine(line)}`),
    ...(variables.length > 0 ? [`  It gets the variables ${variables.map(escapeToLine).join(", ")}.`] : []),
    ...(ignored.length > 0 ? [`  Ignored: ${ignored.map(escapeToLine).join(", ")}.`] : []),
  ].join("\n");
}

/** The settings of a server that are in the config as they were pasted, one per line. */
function settingsOf(options: PastedServer["options"]): string[] {
  if ("url" in options)
    return Object.entries(options.headers ?? {}).map(([name, value]) => `with the header ${name}: ${value}`);
  const { env = [], cwd } = options;
  const values = Array.isArray(env) ? [] : Object.entries(env);
  return [
    ...(cwd === undefined ? [] : [`in the directory ${shellWord(cwd)}`]),
    ...values.map(([name, value]) => `with the variable ${name}=${shellWord(value)}`),
  ];
}

function nextSteps(
  { name, variables, secrets }: PastedServer,
  { file }: EditableServers,
  enable: unknown,
  tool: string | undefined,
): string[] {
  const unset = variables.filter(
    (variable) => Object.hasOwn(secrets, variable) || process.env[variable] === undefined,
  );
  return [
    `${name} is in ${quotePath(file)}.`,
    ...(unset.length > 0
      ? [`Its values are not in the config. Set them where you start the agent: ${unset.join(", ")}`]
      : []),
    enable === undefined
      ? `Its tools are off. Turn them on with "enable" in the config, or for one run: agent --enable ${tool ?? `'mcp__${name}__*'`}`
      : "Its tools ask before each call until you allow them, except in auto mode. Without a terminal, --mode auto allows them.",
  ];
}

/** Servers in another tool's file of this directory that are not in the config. Never throws. */
export function offeredServers(
  { manage, servers }: Pick<EditableServers, "manage" | "servers">,
  directory: string,
) {
  return FOREIGN_FILES.flatMap((path) => {
    try {
      const file = join(directory, path);
      if (!isRegularFile(file)) return [];
      const names = manage.readPasted([readFileSync(file, "utf8")]).map(({ name }) => name);
      const offered = names.filter((name) => !Object.hasOwn(servers, name));
      return offered.length > 0 ? [{ file: path, servers: offered }] : [];
    } catch {
      return [];
    }
  });
}
