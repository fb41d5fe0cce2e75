import { readFileSync } from "node:fs";
import type {
  EffortChoice,
  HostSession,
  ModeChoice,
  ModelChoice,
  OpenSessionRequest,
  PermissionChoice,
  SessionChoices,
  SessionMode,
} from "@agent/acp";
import type { Agent } from "@agent/core";
import {
  type AlwaysChoice,
  type AskUser,
  EFFORTS,
  MODES,
  type Mode,
  type Permissions,
  type UserDecision,
} from "@agent/core/host";
import { errorMessage, isRecord, quote, writeFileAtomic } from "@agent/core/toolkit";
import { escapeToLine, spellOut } from "@agent/internal";
import {
  type AskPermit,
  MODE_HELP,
  PERMIT_CHOICES,
  PLAN_NOTE,
  splitMessage,
  withNotes,
} from "@agent/terminal/host";
import type * as Manage from "@agent/tools-mcp/manage";
import { type AssembledAgent, assembleAgent } from "../assembly/assembleAgent.js";
import { trustedDirectories } from "../assembly/packs/trustedDirectories.js";
import { loadOptional } from "../commands/optionalPackage.js";
import { note } from "../process/output.js";
import { choicesFile, idOf, isSessionId, sessionFile } from "../sessions/sessions.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";
import { KNOWN_PROVIDERS } from "../settings/providerCatalog.js";
import { editorCommands } from "./commands.js";

const KEYS = KNOWN_PROVIDERS.flatMap(({ keyVariables }) => keyVariables.slice(0, 1)).join(", ");
/** What a user without a model has to do. */
export const NO_MODEL = `No model can answer: there is no key and no provider is configured. Set one of ${KEYS} in the environment in which the editor starts agent acp (for Zed: "env" of the entry in agent_servers), or "provider" in agent.config.json, and try again. agent doctor shows what is found.`;

/** Creates the agent of one editor session, with the settings of its directory. */
export async function openEditorSession(
  flags: SettingsFlags,
  request: OpenSessionRequest,
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
    instructions: "all",
    onProblem: (message) => note(`agent: ${message}`),
  });
  const { agent, provider, recording, chosen, permissions, dispose } = assembled;
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
      assembled.beginTurn(splitMessage(content).text);
      return withNotes(content, [...happened.splice(0), ...(permissions.mode === "plan" ? [PLAN_NOTE] : [])]);
    },
    afterMessage: assembled.endTurn,
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

interface Answer extends PermissionChoice {
  readonly decision: UserDecision;
}

const ALLOW: Answer = { id: "allow", name: "Allow", kind: "allow_once", decision: "allow" };
const REJECT: Answer = {
  id: "reject",
  name: "Reject",
  kind: "reject_once",
  decision: { deny: "the user rejected it." },
};

/** Asks about a call in the editor. "Always" creates the same rules as in the chat, for this session or the project. */
function askInEditor(choose: OpenSessionRequest["choose"]): AskUser {
  return async (request, always) => {
    const answers = answersFor(always);
    const chosen = await choose(
      request,
      answers.map(({ decision: _, ...choice }) => choice),
    );
    const answer = answers.find(({ id }) => id === chosen);
    return answer?.decision ?? { deny: "the user closed the question." };
  };
}

/** Asks in the editor whether a running call may do more than was approved: a question with one choice. */
function askPermitInEditor(ask: OpenSessionRequest["ask"]): AskPermit {
  return async ({ source, message, signal }) => {
    const options = PERMIT_CHOICES.map(({ value, label }) => ({ value, title: label }));
    const field = { name: "answer", type: "choice", title: "Allow it?", required: true, options } as const;
    const result = await ask({ source, message, fields: [field], signal });
    if (result.answer !== "yes") return result.answer === "no" ? "no" : undefined;
    return PERMIT_CHOICES.find(({ value }) => value === result.values.answer)?.value;
  };
}

function answersFor(choices: readonly AlwaysChoice[]): Answer[] {
  const rules = choices.filter((choice) => "rule" in choice);
  const whole = rules.at(-1);
  const others = rules.slice(0, -1);
  // The narrowest rule that is useful again, such as the first words of a command; otherwise exactly this call.
  const narrow = others[1] ?? others[0];
  const always = (choice: typeof whole, scope: "session" | "project"): Answer[] =>
    choice
      ? [
          {
            id: `${scope}-${choice === whole ? "tool" : "rule"}`,
            name: escapeToLine(spellOut(`Always in this ${scope}: ${choice.label}`)),
            kind: "allow_always",
            decision: { always: choice.rule, scope },
          },
        ]
      : [];
  return [
    ALLOW,
    ...always(narrow, "session"),
    ...always(narrow, "project"),
    ...always(whole, "session"),
    REJECT,
  ];
}

/**
 * The settings the user of an editor chose in a saved session. A file that cannot be read counts as read-only: a
 * session that may have been read-only must not write after it is loaded.
 */
function readChoices(sessionFile: string): SessionChoices | undefined {
  let text: string;
  try {
    text = readFileSync(choicesFile(sessionFile), "utf8");
  } catch (error) {
    // The user changed no settings.
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    return { mode: "read-only" };
  }
  try {
    const value: unknown = JSON.parse(text);
    if (!isRecord(value)) return { mode: "read-only" };
    const { mode, model, effort } = value;
    return {
      mode: typeof mode === "string" ? mode : "read-only",
      ...(typeof model === "string" && { model }),
      ...(typeof effort === "string" && { effort }),
    };
  } catch {
    return { mode: "read-only" };
  }
}

async function saveChoices(sessionFile: string, choices: SessionChoices): Promise<void> {
  await writeFileAtomic(choicesFile(sessionFile), `${JSON.stringify(choices)}\n`, { follow: false });
}

const NAMES: Readonly<Record<Mode, Pick<SessionMode, "id" | "name">>> = {
  plan: { id: "read-only", name: "Read only" },
  ask: { id: "ask", name: "Ask" },
  edits: { id: "edits", name: "Accept edits" },
  auto: { id: "auto", name: "Auto" },
};

/** The command's modes as exposed to an editor. "Accept edits" is included for configurations that start in it. */
function editorModes(permissions: Permissions): ModeChoice {
  const offered: readonly Mode[] =
    permissions.mode === "edits" ? MODES : MODES.filter((mode) => mode !== "edits");
  return {
    get current() {
      return NAMES[offered.includes(permissions.mode) ? permissions.mode : "ask"].id;
    },
    available: offered.map((mode) => ({ ...NAMES[mode], description: capitalized(MODE_HELP[mode]) })),
    choose: (id) => {
      const chosen = offered.find((mode) => NAMES[mode].id === id);
      if (chosen) permissions.mode = chosen;
    },
  };
}

function capitalized(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/**
 * Connects the editor's own MCP servers through our pack, which may come from a trusted project. Resolves to their
 * problems, or, without the pack, to what to install.
 */
async function connectEditorServers(
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

/** A name that does not collide with a server of the config: otherwise the editor's tools would be set aside. */
function freeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let n = 2; isTaken(free); n++) free = `${name.slice(0, 28)}-${n}`;
  return free;
}
