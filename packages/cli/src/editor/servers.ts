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
    const enabled = Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [name, { ...server, enable: true as const }]),
    );
    const host = { context: agent.context, baseDirectory: cwd, ask };
    return await manage.connectServers(agent.registry, enabled, host, signal);
  } catch (error) {
    return [errorMessage(error)];
  }
}
