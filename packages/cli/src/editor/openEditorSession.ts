import type { EffortChoice, HostSession, ModelChoice, OpenSessionRequest } from "@agent/acp";
import { EFFORTS } from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import { PLAN_NOTE, splitMessage, withNotes } from "@agent/terminal/host";
import { type AssembledAgent, assembleAgent } from "../assembly/assembleAgent.js";
import { idOf, isSessionId, sessionFile } from "../assembly/sessions.js";
import type { CrashGuard } from "../process/crash.js";
import { note } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";
import { KNOWN_PROVIDERS } from "../settings/providerCatalog.js";
import { askInEditor, askPermitInEditor } from "./askInEditor.js";
import { readChoices, saveChoices } from "./choices.js";
import { editorCommands } from "./commands.js";
import { editorModes } from "./modes.js";
import { connectEditorServers } from "./servers.js";

const KEYS = KNOWN_PROVIDERS.flatMap(({ keyVariables }) => keyVariables.slice(0, 1)).join(", ");
/** What a user without a model has to do. */
export const NO_MODEL = `No model can answer: there is no key and no provider is configured. Set one of ${KEYS} in the environment in which the editor starts agent acp (for Zed: "env" of the entry in agent_servers), or "provider" in agent.config.json, and try again. agent doctor shows what is found.`;

/** Makes the agent of one session of an editor, with the settings of its directory. */
export async function openEditorSession(
  flags: SettingsFlags,
  request: OpenSessionRequest,
  guard: CrashGuard,
): Promise<HostSession> {
  const { cwd, resume, fork, choose, ask, editorFiles } = request;
  // An editor sends ids. With a path, a file of the project could be opened and written as a session.
  if (resume !== undefined && !isSessionId(resume)) throw new Error(`there is no session ${quote(resume)}`);
  const loaded = await loadSettings({
    ...flags,
    cwd,
    addDir: [...(flags.addDir ?? []), ...request.additionalDirectories],
  });
  const assembled = await assembleAgent(loaded, {
    resume,
    fork,
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
  if (chosen.kind === "offline" && loaded.settings.provider !== "offline") {
    await dispose();
    throw Object.assign(new Error(NO_MODEL), { code: "auth_required" });
  }
  const happened: string[] = [];
  const file = recording?.file ?? agent.context.sessionContextFilePath;
  const { commands, see } = editorCommands(assembled, loaded, (text) => happened.push(text));
  const ended = new AbortController();
  return {
    id: idOf(file),
    agent,
    model: modelChoice(assembled),
    effort: effortChoice(assembled),
    modes: editorModes(permissions),
    commands,
    onEvent: see,
    ...(resume !== undefined && { choices: readChoices(sessionFile(cwd, resume)) }),
    ...(recording && { saveChoices: (choices) => saveChoices(file, choices) }),
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

function effortChoice({ agent, provider }: AssembledAgent): EffortChoice {
  return {
    get current() {
      return agent.effort ?? "default";
    },
    get available() {
      const efforts = provider.efforts ?? [];
      return efforts.length === 0 ? [] : ["default", ...efforts];
    },
    choose: (name) => agent.setEffort(EFFORTS.find((effort) => effort === name)),
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
