import type { HostData } from "@agent/core";
import type { Permissions } from "@agent/core/host";
import { ownStandardOutput } from "@agent/terminal/host";
import type * as McpServer from "@agent/tools-mcp/server";
import { SANDBOX_OPT_OUT } from "../../assembly/assembleTools.js";
import { trustedDirectories } from "../../assembly/packs/trustedDirectories.js";
import { type ToolsInUse, withTools } from "../../assembly/withTools.js";
import { createPermissions } from "../../permissions/createPermissions.js";
import { CliError } from "../../process/errors.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { note } from "../../process/output.js";
import type { LoadedSettings } from "../../settings/loadSettings.js";
import { loadOptional } from "../optionalPackage.js";
import { type McpFlags, PACK } from "./servers.js";

export interface ServeFlags extends McpFlags {
  readonly http?: boolean;
  readonly port?: string;
}

/** `agent mcp serve`: serves the enabled tools to MCP clients, over standard input and output or HTTP. */
export async function mcpServe(flags: ServeFlags): Promise<ExitCode> {
  const port = flags.port === undefined ? 0 : Number(flags.port);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new CliError(`--port must be a number from 0 to 65535, got "${flags.port}".`);
  }
  const notice = (message: string): void => note(`agent: ${message}`);
  // No one answers at this terminal, so commands run in the sandbox in every mode.
  const forPacks = ({ settings }: LoadedSettings): HostData => ({
    containment: { wanted: () => settings.sandbox, optOut: SANDBOX_OPT_OUT },
    notice,
  });
  const serve = async (tools: ToolsInUse): Promise<ExitCode> => {
    const { registry, problems, loaded } = tools;
    const { toMcpServer } = await loadOptional<typeof McpServer>(
      "agent mcp serve",
      `${PACK}/server`,
      trustedDirectories(loaded.projectFile),
    );
    for (const problem of problems) notice(problem);
    // A client is another model with these tools: the rules of the configuration apply to it as well.
    const permissions = await createPermissions(loaded, tools, { unattended: true, onProblem: notice });
    const server = toMcpServer(registry, {
      decide: decideCalls(permissions, loaded.settings.sandbox, notice),
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
  };
  return await withTools(flags, serve, forPacks);
}

/** Even in auto mode, a command outside the sandbox needs approval, unless the user opted out of the sandbox. */
function decideCalls(
  permissions: Permissions,
  wantsSandbox: boolean,
  notice: (message: string) => void,
): NonNullable<McpServer.McpServerOptions["decide"]> {
  let isInformed = false;
  return async (call) => {
    const isOutside = call.capabilities.includes("execute") && !call.description.contained;
    const asks = permissions.mode === "auto" && wantsSandbox && isOutside;
    const ruling = await permissions.decide(call, asks ? "edits" : permissions.mode);
    if (asks && ruling.type === "ask" && !isInformed) {
      isInformed = true;
      notice(
        `${call.name} would run outside the sandbox, so the client's user is asked. To run commands without a sandbox and without a question: ${SANDBOX_OPT_OUT}.`,
      );
    }
    return ruling.type === "deny" ? { deny: ruling.reason } : ruling.type;
  };
}
