import type { Ruling } from "@agent/core/host";
import { ownStandardOutput } from "@agent/terminal/host";
import type * as McpServer from "@agent/tools-mcp/server";
import { trustedDirectories } from "../../assembly/packs/trustedDirectories.js";
import { withTools } from "../../assembly/withTools.js";
import { createPermissions } from "../../permissions/createPermissions.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note } from "../../process/output.js";
import { loadOptional } from "../optionalPackage.js";
import { type McpFlags, PACK } from "./servers.js";

export interface ServeFlags extends McpFlags {
  readonly http?: boolean;
  readonly port?: string;
}

/** `agent mcp serve`: the enabled tools for MCP clients, over standard input and output or HTTP. */
export async function mcpServe(flags: ServeFlags): Promise<ExitCode> {
  const port = flags.port === undefined ? 0 : Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`--port must be a number from 0 to 65535, got "${flags.port}".`);
  }
  return await withTools(flags, async (tools) => {
    const { registry, problems, loaded } = tools;
    const { toMcpServer } = await loadOptional<typeof McpServer>(
      "agent mcp serve",
      `${PACK}/server`,
      trustedDirectories(loaded.projectFile),
    );
    for (const problem of problems) note(`agent: ${problem}`);
    // A client is one more model with these tools: the rules of the configuration hold for it as for ours.
    const onProblem = (problem: string): void => note(`agent: ${problem}`);
    const permissions = await createPermissions(loaded, tools, { onProblem });
    const server = toMcpServer(registry, {
      decide: async (call) => decisionOf(await permissions.decide(call)),
    });
    if (!flags.http) {
      await server.serveStdio(ownStandardOutput());
      return EXIT.done;
    }
    const { url, token, close } = await server.listen({ port });
    note(`MCP at ${url}\nAuthorization: Bearer ${token}`);
    await new Promise((resolve) => process.once("SIGINT", resolve).once("SIGTERM", resolve));
    await close();
    return EXIT.done;
  });
}

function decisionOf(ruling: Ruling): McpServer.CallDecision {
  return ruling.type === "deny" ? { deny: ruling.reason } : ruling.type;
}
