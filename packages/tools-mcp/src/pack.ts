import type { Diagnosis, PackHost, PackRegistry, PackServices } from "@agent/core";
import { check, errorMessage, quote } from "@agent/core/toolkit";
import { countOf } from "@agent/internal";
import { checkedOptions, type McpOptions, type ServerOptions } from "./config/options.js";
import { createConnectionHost } from "./connection/connectionHost.js";
import { ServerConnection } from "./connection/serverConnection.js";
import type { Lock, LockedServer, LockedTool } from "./lock/lock.js";
import { isGenuine, lockPath, readLock, sourceHash } from "./lock/lockFile.js";
import { resourceMentions } from "./mentions.js";
import { promptCommand } from "./prompts.js";
import { SpillDirectory } from "./results/spill.js";
import { schemaTokens } from "./tokens.js";
import { CallToolTool, FindToolsTool } from "./tools/deferredTools.js";
import { McpTool } from "./tools/mcpTool.js";

// The context size assumed where the model's is not known: the smallest common one among models that use tools well.
const ASSUMED_CONTEXT_TOKENS = 128_000;
const DEFAULT_SCHEMA_SHARE = 0.1;

/**
 * Registers the tools of the servers in the lock. Starts nothing: a server starts with the first call of one of its
 * tools. Every tool is off until it is enabled, by the server's own `enable` option or by name.
 */
export function register(registry: PackRegistry, host?: PackHost<McpOptions>): void {
  check.registry(registry);
  const options = checkedOptions(host?.options);
  const lock = readLock(lockPath(options, host?.baseDirectory ?? process.cwd()));
  registerServers(registry, options, lock, host);
}

/** Registers the tools of the servers as far as `lock` has them. */
export function registerServers(
  registry: PackRegistry,
  options: McpOptions,
  lock: Lock,
  host: PackHost | undefined,
): void {
  const shared = createConnectionHost(options, host?.baseDirectory ?? process.cwd(), host?.ask);
  const spill = new SpillDirectory();
  const found: Diagnosis[] = [];
  const servers = Object.entries(options.servers ?? {}).flatMap(([name, server]) => {
    const { tools, locked, diagnosis } = agreedTools(name, server, lock);
    found.push(diagnosis);
    if (locked === undefined) return [];
    const connection = new ServerConnection(name, server, locked, shared, (differing) => {
      for (const { name: own, tool } of tools) if (differing.includes(tool)) registry.disable(own);
    });
    return [{ connection, locked, tools: tools.map((tool) => new McpTool(tool, connection, spill)) }];
  });
  registerTools(
    registry,
    servers.flatMap(({ tools, connection }) => tools.map((tool) => ({ tool, connection }))),
    (host?.contextTokens ?? ASSUMED_CONTEXT_TOKENS) * (options.maxSchemaShare ?? DEFAULT_SCHEMA_SHARE),
    (problem) => found.push(problem),
  );
  registry.provide?.({
    commands: servers.flatMap(({ connection, locked }) =>
      locked.prompts.map((prompt) => promptCommand(connection, prompt)),
    ),
    mentions: servers
      .filter(({ locked }) => locked.hasResources)
      .map(({ connection }) => resourceMentions(connection)),
    diagnose: () => [...found, ...servers.flatMap(({ connection }) => changedTools(connection))],
    dispose: async () => {
      await Promise.all(servers.map(({ connection }) => connection.dispose()));
      spill.dispose();
    },
  } satisfies PackServices);
}

interface AgreedTools {
  readonly locked: LockedServer | undefined;
  readonly tools: readonly LockedTool[];
  readonly diagnosis: Diagnosis;
}

/** What the lock has of a server, as far as it holds. */
function agreedTools(name: string, server: ServerOptions, lock: Lock): AgreedTools {
  const subject = `MCP server ${name}`;
  const cure = `Run "agent mcp update ${name}".`;
  const locked = Object.hasOwn(lock.servers, name) ? lock.servers[name] : undefined;
  const refuse = (detail: string): AgreedTools => ({
    locked: undefined,
    tools: [],
    diagnosis: { subject, ok: false, detail, cure },
  });
  if (locked === undefined) return refuse("its tools have not been agreed to yet");
  if (locked.source !== sourceHash(server)) {
    return refuse("its command or address is not the one its tools were agreed to for");
  }
  const tools = locked.tools.filter((tool) => isGenuine(name, tool));
  const edited = locked.tools.filter((tool) => !tools.includes(tool)).map(({ tool }) => quote(tool));
  const detail = `${countOf(tools.length, "tool")}, ${schemaTokens(tools)} tokens of schemas`;
  if (edited.length === 0) return { locked, tools, diagnosis: { subject, ok: true, detail } };
  return {
    locked,
    tools,
    diagnosis: { subject, ok: false, detail: `the lock of ${edited.join(", ")} was edited; ${detail}`, cure },
  };
}

/** What a server that runs has changed since its tools were agreed to. */
function changedTools({ name, differing }: ServerConnection): Diagnosis[] {
  if (differing.length === 0) return [];
  const tools = differing.map((tool) => quote(tool)).join(", ");
  return [
    {
      subject: `MCP server ${name}`,
      ok: false,
      detail: `${tools} changed or went while the server ran, and is off`,
      cure: `Run "agent mcp update ${name}".`,
    },
  ];
}

function registerTools(
  registry: PackRegistry,
  all: readonly { readonly tool: McpTool; readonly connection: ServerConnection }[],
  maxTokens: number,
  report: (problem: Diagnosis) => void,
): void {
  const isOn = ({ tool, connection: { options } }: (typeof all)[number]): boolean =>
    options.enable === true || (options.enable?.includes(tool.locked.tool) ?? false);
  const deferred = schemaTokens(all.filter(isOn).map(({ tool }) => tool.locked)) > maxTokens;
  const registered: McpTool[] = [];
  for (const entry of all) {
    try {
      registry.register(entry.tool, { enabled: isOn(entry), deferred });
      registered.push(entry.tool);
    } catch (error) {
      // One tool that cannot be registered must not take the others with it.
      const subject = `MCP server ${entry.connection.name}`;
      report({
        subject,
        ok: false,
        detail: `${quote(entry.tool.locked.tool)} is set aside: ${errorMessage(error)}`,
      });
    }
  }
  if (!deferred) return;
  registry.register(new FindToolsTool(registered, (name) => registry.isToolEnabled(name)));
  registry.register(new CallToolTool(registered));
}
