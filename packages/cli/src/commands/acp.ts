import { basename } from "node:path";
import type * as Acp from "@agent/acp";
import { errorMessage } from "@agent/core/toolkit";
import type * as Manage from "@agent/tools-mcp/manage";
import { assembleAgent } from "../assembly/assembleAgent.js";
import { listSessions } from "../assembly/sessions.js";
import type { CrashGuard } from "../process/crash.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { note, ownStandardOutput } from "../process/output.js";
import { readVersion } from "../process/version.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";
import { loadOptional } from "./optionalPackage.js";

/** `agent acp`: serves an editor over standard input and output. One process is for one project. */
export async function acpCommand(flags: SettingsFlags, guard: CrashGuard): Promise<ExitCode> {
  const { serveAcp, standardStream } = await loadOptional<typeof Acp>("agent acp", "@agent/acp", []);
  const host: Acp.AcpHost = {
    name: "agent",
    version: readVersion(),
    listSessions: async (cwd = process.cwd()) =>
      (await listSessions(cwd)).map(({ id, title, savedAt }) => ({ id, cwd, title, updatedAt: savedAt })),
    openSession: async (request) => {
      const loaded = await loadSettings({
        ...flags,
        cwd: request.cwd,
        addDir: [...(flags.addDir ?? []), ...request.additionalDirectories],
      });
      const { agent, problems, provider, recording, chosen, dispose } = await assembleAgent(loaded, {
        resume: request.resume,
        record: true,
        approve: request.approve,
        approveAll: true,
        guard,
        onProblem: (message) => note(`agent: ${message}`),
      });
      const { contextTokens } = provider;
      return {
        id: basename(recording?.file ?? agent.context.sessionContextFilePath, ".jsonl"),
        agent,
        model: { current: provider.model, available: [provider.model], choose: () => undefined },
        ...(contextTokens !== undefined && { contextTokens }),
        problems: [
          ...problems,
          ...(await connectEditorServers(agent, request)),
          ...(chosen.description === "" ? [] : [`Answered by ${chosen.description}.`]),
        ],
        dispose,
      };
    },
  };
  await serveAcp(host, standardStream(ownStandardOutput()));
  return EXIT.done;
}

/** The editor's own MCP servers, through our pack. Without the pack the session says what to install. */
async function connectEditorServers(
  agent: Awaited<ReturnType<typeof assembleAgent>>["agent"],
  { servers, cwd, signal }: Acp.OpenSessionRequest,
): Promise<string[]> {
  if (Object.keys(servers).length === 0) return [];
  try {
    const manage = await loadOptional<typeof Manage>("The editor's MCP servers", "@agent/tools-mcp/manage", [
      cwd,
    ]);
    const enabled = Object.fromEntries(
      Object.entries(servers).map(([name, server]) => [name, { ...server, enable: true as const }]),
    );
    return await manage.connectServers(
      agent.registry,
      enabled,
      { context: agent.context, baseDirectory: cwd },
      signal,
    );
  } catch (error) {
    return [errorMessage(error)];
  }
}
