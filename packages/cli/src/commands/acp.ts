import type * as Acp from "@agent/acp";
import { ownStandardOutput } from "@agent/terminal/host";
import { trustedDirectories } from "../assembly/packs/trustedDirectories.js";
import { selectByName } from "../assembly/provider/select.js";
import { NO_MODEL, openEditorSession } from "../editor/openEditorSession.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { readVersion } from "../process/version.js";
import { deleteSession, listSessions } from "../sessions/sessions.js";
import { flagLayers, type SettingsFlags } from "../settings/flags.js";
import { mergeLayers } from "../settings/layers.js";
import { loadLayers } from "../settings/loadLayers.js";
import { resolvePack } from "../settings/packs/resolve.js";
import { loadOptional } from "./optionalPackage.js";

/**
 * `agent acp`: serves an editor over standard input and output. The settings of a session depend on the working
 * directory and remove the keys from the environment: each further session gets its own process.
 */
export async function acpCommand(flags: SettingsFlags): Promise<ExitCode> {
  const program = {
    command: process.execPath,
    args: [...process.execArgv, ...process.argv.slice(1)],
    cwd: process.cwd(),
    env: { ...process.env },
  };
  const { serveAcp, standardStream } = await loadOptional<typeof Acp>(
    "agent acp",
    "@agent/acp",
    resolvePack("@agent/acp", []) ? [] : trustedDirectories(await trustedProject(flags)),
  );
  const host: Acp.AcpHost = {
    name: "agent",
    version: readVersion(),
    listSessions: async (cwd = process.cwd()) =>
      (await listSessions(cwd)).map(({ id, title, savedAt }) => ({ id, cwd, title, updatedAt: savedAt })),
    deleteSession: async (id) => deleteSession(id),
    openSession: (request) => openEditorSession(flags, request),
    authMethods: [{ id: "key", name: "Set a key", description: NO_MODEL }],
    authenticate: async () => {
      if (!(await hasProvider(flags))) throw new Error(NO_MODEL);
    },
  };
  await serveAcp(host, { stream: standardStream(ownStandardOutput()), program });
  return EXIT.done;
}

/** Whether a provider is configured or has a key now. Leaves the keys in the environment, for the next session. */
async function hasProvider(flags: SettingsFlags): Promise<boolean> {
  const { layers } = await loadLayers(layerOptions(flags));
  const settings = mergeLayers(layers, flagLayers(flags), flags.agent);
  return settings.provider !== undefined || selectByName(settings, process.env) !== undefined;
}

function layerOptions({ config, trust = false }: SettingsFlags): Parameters<typeof loadLayers>[0] {
  return {
    cwd: process.cwd(),
    trust: { grant: trust },
    none: config === false,
    ...(typeof config === "string" && { file: config }),
  };
}

/** The project's config if it is trusted; never asks: an editor also starts the command in repositories that the user has not reviewed. */
async function trustedProject(flags: SettingsFlags): Promise<string | undefined> {
  if (flags.config === false) return undefined;
  // An invalid config is reported when a session is opened.
  const { projectFile } = await loadLayers(layerOptions(flags)).catch(() => ({ projectFile: undefined }));
  return projectFile;
}
