import type { OpenSessionRequest } from "@agent/acp";
import type { Agent } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import type * as Manage from "@agent/tools-mcp/manage";
import { trustedDirectories } from "../assembly/packs/trustedDirectories.js";
import { loadOptional } from "../commands/optionalPackage.js";

/**
 * Connects the editor's own MCP servers through our pack, which may come from a trusted project. Resolves to the
 * problems with them, or, without the pack, to what to install.
 */
export async function connectEditorServers(
  agent: Agent,
  { servers, cwd, ask }: OpenSessionRequest,
  { projectFile, signal }: { readonly projectFile: string | undefined; readonly signal: AbortSignal },
): Promise<string[]> {
  if (Object.keys(servers).length === 0) return [];
  try {
    const manage = await loadOptional<typeof Manage>(
      "The editor's MCP servers",
      "@agent/tools-mcp/manage",
      trustedDirectories(projectFile),
    );
    const taken = (name: string): boolean =>
      Object.hasOwn(enabled, name) ||
      agent.registry.getToolNames().some((tool) => tool.startsWith(`mcp__${name}__`));
    const enabled: Record<string, OpenSessionRequest["servers"][string] & { readonly enable: true }> = {};
    const renamed: string[] = [];
    for (const [name, server] of Object.entries(servers)) {
      const own = freeName(name, taken);
      enabled[own] = { ...server, enable: true };
      if (own !== name)
        renamed.push(
          `MCP server ${name} of the editor is called ${own} here: the config has a ${name}, too.`,
        );
    }
    const host = { context: agent.context, baseDirectory: cwd, ask };
    return [...renamed, ...(await manage.connectServers(agent.registry, enabled, host, signal))];
  } catch (error) {
    return [errorMessage(error)];
  }
}

/** A name under which no server of the config has tools: those of the editor would be set aside, on or off. */
function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name.slice(0, 28)}-${n}`;
  return free;
}
