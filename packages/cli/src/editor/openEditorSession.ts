import type { HostSession, ModelChoice, OpenSessionRequest } from "@agent/acp";
import { quote } from "@agent/core/toolkit";
import { type AssembledAgent, assembleAgent } from "../assembly/assembleAgent.js";
import { idOf, isSessionId } from "../assembly/sessions.js";
import { withNotes } from "../display/addedParts.js";
import { splitMessage } from "../display/splitMessage.js";
import { PLAN_NOTE } from "../permissions/mode.js";
import type { CrashGuard } from "../process/crash.js";
import { note } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";
import { askInEditor, askPermitInEditor } from "./askInEditor.js";
import { editorCommands } from "./commands.js";
import { editorModes } from "./modes.js";
import { connectEditorServers } from "./servers.js";

/** Makes the agent of one session of an editor, with the settings of its directory. */
export async function openEditorSession(
  flags: SettingsFlags,
  request: OpenSessionRequest,
  guard: CrashGuard,
): Promise<HostSession> {
  const { cwd, resume, choose, ask, editorFiles } = request;
  // An editor sends ids. With a path, a file of the project could be opened and written as a session.
  if (resume !== undefined && !isSessionId(resume)) throw new Error(`there is no session ${quote(resume)}`);
  const loaded = await loadSettings({
    ...flags,
    cwd,
    addDir: [...(flags.addDir ?? []), ...request.additionalDirectories],
  });
  const assembled = await assembleAgent(loaded, {
    resume,
    record: true,
    mode: "ask",
    ask: askInEditor(choose),
    askPermit: askPermitInEditor(ask),
    forPacks: { ask, ...(editorFiles && { editorFiles }) },
    instructions: true,
    guard,
    onProblem: (message) => note(`agent: ${message}`),
  });
  const { agent, provider, recording, chosen, permissions, undo, dispose } = assembled;
  const happened: string[] = [];
  const ended = new AbortController();
  return {
    id: idOf(recording?.file ?? agent.context.sessionContextFilePath),
    agent,
    model: modelChoice(assembled),
    modes: editorModes(permissions),
    commands: editorCommands(assembled, (text) => happened.push(text)),
    get contextTokens() {
      return loaded.settings.contextTokens ?? provider.contextTokens;
    },
    problems: [
      ...assembled.problems,
      ...(chosen.kind === "offline" ? [`Answered by the ${chosen.description}`] : []),
    ],
    ready: connectEditorServers(agent, request, { projectFile: loaded.projectFile, signal: ended.signal }),
    beforeMessage: (content) => {
      undo()?.beginTurn(splitMessage(content).text);
      return withNotes(content, [...happened.splice(0), ...(permissions.mode === "plan" ? [PLAN_NOTE] : [])]);
    },
    afterMessage: () => undo()?.endTurn(),
    dispose: async () => {
      ended.abort();
      await dispose();
    },
  };
}

function modelChoice({ chosen, provider }: AssembledAgent): ModelChoice {
  const { withModel, listModels } = chosen;
  return {
    get current() {
      return provider.model;
    },
    available: [],
    ...(withModel &&
      listModels && { list: async (signal) => (await listModels(signal)).map(({ id }) => id) }),
    choose: async (model) => {
      if (withModel && model !== provider.model) provider.use(await withModel(model));
    },
  };
}
