import {
  Agent,
  type AgentEvent,
  type BudgetLimits,
  type CallHooks,
  type ChatProvider,
  type ChildAgentRequest,
  Conversation,
  type HostData,
  type OnBudget,
  type PackHost,
  type Telemetry,
} from "@agent/core";
import {
  type AskUser,
  DIRECT_STEPS,
  hostModel,
  hostModels,
  type Mode,
  type Permissions,
  type Steps,
  terminateOnSignals,
} from "@agent/core/host";
import { quote } from "@agent/core/toolkit";
import { escapeToLine, quotePath } from "@agent/internal";
import { type AskPermit, splitMessage } from "@agent/terminal/host";
import {
  findInstructions,
  formatInstructions,
  type Instruction,
  InstructionConsent,
  type InstructionUse,
  instructionHooks,
  instructionSize,
} from "../instructions/instructions.js";
import {
  describeSkills,
  INIT_COMMAND,
  type OwnCommand,
  packSkills,
  projectCommands,
  readOwnCommands,
} from "../instructions/ownCommands.js";
import { createSystemPrompt } from "../instructions/systemPrompt.js";
import { createPermissions } from "../permissions/createPermissions.js";
import { createGate } from "../permissions/gate.js";
import { createPermit } from "../permissions/permit.js";
import { canAsk } from "../process/ask.js";
import { noteRunning } from "../process/crash.js";
import { CliError } from "../process/errors.js";
import { configDirectory } from "../process/paths.js";
import { SessionNames } from "../sessions/sessionNames.js";
import { copyRelated, copySession, SessionRecording } from "../sessions/sessionRecording.js";
import { newSessionFile, type OpenSession, openSession, undoDirectory } from "../sessions/sessions.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { UndoLog } from "../undo/undoLog.js";
import {
  type AssembledTools,
  assembleTools,
  loadSelectedPacks,
  packProblems,
  SANDBOX_OPT_OUT,
} from "./assembleTools.js";
import { ChildWorktrees } from "./childWorktrees.js";
import { watchPacks } from "./packs/watchPacks.js";
import { offerPlan } from "./presentPlan.js";
import { type ChosenProvider, chooseProvider } from "./provider/choose.js";
import { SwitchableProvider } from "./provider/switchable.js";
import { offerTools } from "./requestTool.js";
import { SessionStates } from "./sessionState.js";

/** Options of a single run, set by the command rather than by the settings. */
export interface AssemblyOptions {
  /** The session to resume: its name, or `true` for the latest. */
  readonly resume: string | true | undefined;
  /** Continue in a copy of the resumed session; the original is unchanged. */
  readonly fork?: boolean | undefined;
  /** Whether the conversation is saved on disk. */
  readonly record: boolean;
  /** Asks the user about a call that needs approval. */
  readonly ask: AskUser;
  /** The mode if the settings name none. Default: accept edits. */
  readonly mode?: Mode;
  /** Whether the user cannot be asked while the agent works: then sandboxed calls need no approval. */
  readonly unattended?: boolean;
  /** Access to the user for packs: questions, the editor's files. */
  readonly forPacks?: Pick<PackHost, "ask" | "editorFiles" | "wake">;
  /** Lets the user edit a text in their own editor. Absent if that is not possible. */
  readonly edit?: (text: string) => Promise<string>;
  /** Asks the user whether a running call may do more than was approved. Absent: the user cannot be asked. */
  readonly askPermit?: AskPermit | undefined;
  /**
   * Whether a user sees the agent in a terminal: the model may request a disabled tool, a resumed session restores its
   * settings, and one that is open in another window continues in a copy.
   */
  readonly inTerminal?: boolean;
  /** Runs answers and calls as steps, for a run with a journal. */
  readonly steps?: Steps;
  readonly telemetry?: Telemetry;
  /** Limits of this run, which replace those of the settings. */
  readonly limits?: BudgetLimits;
  /** Decides whether work continues beyond a limit. Default: ask the user, if packs can ask. */
  readonly onBudget?: OnBudget;
  /** Receives warnings, such as a session file that cannot be written. */
  readonly onProblem: (message: string) => void;
  /** Receives informational lines, such as how commands run. Default: `onProblem`. */
  readonly onNotice?: ((message: string) => void) | undefined;
  /** Which AGENTS.md and similar files the model gets. */
  readonly instructions: InstructionUse;
  /** Aborts if the agent is no longer needed: then no pack is registered, which would start processes. */
  readonly signal?: AbortSignal;
}

/** An agent with its tools, and the information commands need about them. */
export interface AssembledAgent {
  readonly agent: Agent;
  readonly tools: AssembledTools;
  readonly chosen: ChosenProvider;
  /** The provider; it can be replaced between two messages. */
  readonly provider: SwitchableProvider;
  /** Problems of single packs. */
  readonly problems: readonly string[];
  /** The conversation's file, if it is saved. */
  readonly recording: SessionRecording | undefined;
  readonly names: SessionNames;
  readonly permissions: Permissions;
  /** The instruction files (AGENTS.md and the like) read so far. */
  readonly instructions: readonly Instruction[];
  /** Changes which of them the model gets, from the next request on. */
  readonly useInstructions: (use: InstructionUse) => void;
  readonly ownCommands: readonly OwnCommand[];
  /** The file changes of each message; absent if the session is not saved. */
  readonly undo: () => UndoLog | undefined;
  /** What was restored from the resumed session, as lines for the user. */
  readonly restored: readonly string[];
  /** Applies the settings of a session that continues in this chat. Returns the changes as lines for the user. */
  readonly restoreState: (file: string) => Promise<readonly string[]>;
  /**
   * Prepares for a message: in plan mode the model can present its plan, and file changes are recorded for the message.
   */
  readonly beginTurn: (message: string) => void;
  /** Revokes what was allowed for one call, and saves the message's changes and the user's settings for `--resume`. */
  readonly endTurn: () => Promise<void>;
  /** Disposes of the packs and closes the session. */
  readonly dispose: () => Promise<void>;
}

/** Creates the agent from the settings: its provider, the conversation to continue, its packs. */
export async function assembleAgent(
  loaded: LoadedSettings,
  options: AssemblyOptions,
): Promise<AssembledAgent> {
  const { settings } = loaded;
  const { resume } = options;
  const cwd = process.cwd();
  // Load the packs while a local model server answers, which may take a while.
  const loading = await Promise.allSettled([
    chooseProvider(settings, {
      keys: loaded.keys,
      projectFile: loaded.projectFile,
      maxRetries: settings.maxRetries,
      // A run releases its worker while it waits.
      waitMs: options.steps ? undefined : settings.waitMs,
    }),
    loadSelectedPacks(loaded),
  ]);
  const [chosen, packs] = [fulfilled(loading[0]), fulfilled(loading[1])];
  const limits = { ...settings, ...options.limits };
  checkPriceKnown(limits.maxCost, settings, chosen.model, chosen.provider);
  const small = chosen.smallModel;
  if (small) checkPriceKnown(limits.maxCost, settings, small.model ?? settings.smallModel ?? "", small);
  const { session, isKept, ...opened }: OpenSession =
    resume === undefined ? { file: newSessionFile(cwd), isKept: true } : await openSession(cwd, resume);
  const file = options.fork ? newSessionFile(cwd) : opened.file;
  let use = options.instructions;
  const instructions = findInstructions(cwd, use);
  // The user's own commands come first, so that a project cannot replace a command they know.
  const usersCommands = readOwnCommands(configDirectory());
  const ownCommands = [...usersCommands, ...projectCommands(cwd)];
  const systemPrompt = (directory = cwd, found: readonly Instruction[] = instructions): string => {
    const skills = { all: ownCommands, own: usersCommands, none: [] }[use];
    const parts = [
      typeof settings.systemPrompt === "string"
        ? settings.systemPrompt
        : createSystemPrompt(directory, settings.systemPrompt),
      formatInstructions(found, directory),
      describeSkills(skills),
    ];
    return parts.filter((part) => part !== "").join("\n\n");
  };
  const conversation = new Conversation({
    // A resumed session already contains its instructions. Those in a file from elsewhere may be a stranger's.
    systemPrompt:
      settings.systemPrompt === undefined && session && isKept ? session.systemPrompt : systemPrompt(),
    sessionContextFilePath: file,
    ...(session && { session }),
  });
  const provider = new SwitchableProvider(chosen.provider);
  const resolveModel = chosen.withModel;
  options.signal?.throwIfAborted();
  const { ask, askPermit, onProblem } = options;
  const askPack = options.forPacks?.ask;
  const onBudget = options.onBudget ?? (askPack && askAboutBudget(askPack));
  // A tool asks when one of its calls runs, which is after the permissions were created.
  const permit = createPermit({ permissions: () => permissions, ask: askPermit, onProblem });
  const onNotice = options.onNotice ?? onProblem;
  const noticed = new Set<string>();
  const notice = (message: string): void => {
    noticed.add(message);
    onNotice(message);
  };
  // A run with a journal may continue on another machine, which does not have the work tree of a child.
  const worktrees = options.steps === undefined;
  const forPacks: HostData = {
    permit,
    containment: {
      wanted: () => settings.sandbox && (options.unattended === true || permissions.mode === "auto"),
      optOut: SANDBOX_OPT_OUT,
    },
    notice,
    usesInstructions: () => use === "all",
    model: hostModel(provider, settings.contextTokens),
    ...(resolveModel && { resolveModel: hostModels(resolveModel) }),
    ...(askPack && { ask: askPack }),
  };
  const tools = assembleTools(loaded, packs, conversation, {
    ...forPacks,
    ...options.forPacks,
    ...(worktrees && { worktrees }),
    // Without a way to start a turn, the result of a background agent would be lost.
    ...(options.forPacks?.wake && {
      startAgent: (request: ChildAgentRequest, onEvent?: (event: AgentEvent) => void) =>
        agent.startAgent(request, onEvent),
    }),
  });
  const skills = packSkills(tools.registry.services.skills, ownCommands);
  const permissions: Permissions = await createPermissions(loaded, tools, options);
  const isModeGiven = ["--mode", "AGENT_MODE"].includes(settings.origins.mode ?? "");
  const states = options.inTerminal ? new SessionStates({ tools, permissions, isModeGiven }) : undefined;
  const restored = session && isKept ? ((await states?.restore(opened.file)) ?? []) : [];
  const requests = options.inTerminal ? offerTools(tools, { permissions, permit }) : undefined;
  if (options.record && options.fork) copySession(opened.file, file, conversation);
  const recording = options.record
    ? new SessionRecording({ conversation, file, cwd, onProblem, marksOpen: options.inTerminal === true })
    : undefined;
  const names = new SessionNames({ conversation, model: chosen.smallModel });
  // Another window has the session open.
  if (recording && recording.file !== file) await copyRelated(file, recording.file, names, cwd);
  const syncPlan = askPack && offerPlan(tools, { permissions, ask: askPack, edit: options.edit });
  const undo = undoLogs(recording, cwd, options.forPacks?.editorFiles);
  const endTurn = async (): Promise<void> => {
    requests?.endTurn();
    syncPlan?.();
    await undo()?.endTurn();
    if (recording && conversation.sessionContext.length > 0) await states?.save(recording.file);
  };
  conversation.onChange((change) => {
    if (change.type !== "message" || change.message.role !== "user" || change.id === undefined) return;
    undo()?.noteMessage(change.id, splitMessage(change.message.content).text);
  });
  // Only packs given with --pack: those of a config run as they were trusted and approved.
  const own = new Set(settings.packs.filter(({ origin }) => origin === "--pack").map(({ name }) => name));
  const watched =
    settings.watch && options.inTerminal
      ? watchPacks(
          packs.filter(({ name }) => own.has(name)),
          tools.registry,
          tools.registerPack,
          options.onNotice ?? onProblem,
          (name, signal) => confirmReload(name, askPack, signal),
        )
      : undefined;
  const gate = createGate({ permissions, ask, undo, onProblem });
  const subdirectories = (directory: string, known: Instruction[]): CallHooks =>
    subdirectoryInstructions(directory, known, { project: cwd, use: () => use, onProblem });
  const trees = worktrees
    ? new ChildWorktrees({
        ...{ cwd, loaded, packs, context: conversation, permissions, ask, undo, onProblem, onNotice },
        // The tools of each tree would say the same about the sandbox.
        host: { ...forPacks, notice: (message) => void (noticed.has(message) || notice(message)) },
        systemPrompt: (directory) => systemPrompt(directory, findInstructions(directory, use)),
        instructions: (directory) => subdirectories(directory, findInstructions(directory, use)),
      })
    : undefined;
  if (trees) tools.registry.provide(trees.services, "@agent/cli");
  await trees?.reportLeftovers();
  const agent = new Agent(provider, {
    conversation,
    registry: tools.registry,
    rules: gate.rules,
    approve: gate.approve,
    hooks: [
      gate.hooks,
      ...(watched ? [watched.hooks] : []),
      ...(requests ? [requests.hooks] : []),
      subdirectories(cwd, instructions),
    ],
    steps: notedSteps(options.steps),
    ...(options.telemetry && { telemetry: options.telemetry }),
    ...(resolveModel && { resolveModel }),
    ...(trees && { openWorktree: (name, signal) => trees.open(name, signal) }),
    ...(chosen.smallModel && { smallModel: chosen.smallModel }),
    ...(limits.maxCost !== undefined && { maxCost: limits.maxCost }),
    ...(limits.maxTokens !== undefined && { maxTokens: limits.maxTokens }),
    ...(onBudget && { onBudget }),
    ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
    ...(settings.maxRepeats !== undefined && { maxRepeats: settings.maxRepeats }),
    ...(settings.contextTokens !== undefined && { contextTokens: settings.contextTokens }),
    ...(settings.effort !== undefined && { effort: settings.effort }),
  });
  // A second signal terminates the process immediately: kill the tools' processes first.
  const releaseSignals = terminateOnSignals(tools.registry.services);
  return {
    agent,
    tools,
    chosen,
    provider,
    problems: [...packProblems(packs), ...skills.problems, ...tools.registry.services.problems],
    recording,
    names,
    permissions,
    instructions,
    useInstructions: (wanted) => {
      use = wanted;
      instructions.splice(0, Number.POSITIVE_INFINITY, ...findInstructions(cwd, use));
      conversation.setSystemPrompt(systemPrompt());
    },
    ownCommands: [INIT_COMMAND, ...ownCommands, ...skills.found],
    undo,
    restored,
    restoreState: async (from) => (await states?.switchTo(from)) ?? [],
    beginTurn: (message) => {
      syncPlan?.();
      undo()?.beginTurn(message);
    },
    endTurn,
    dispose: async () => {
      names.close();
      watched?.close();
      await endTurn();
      await agent.dispose();
      releaseSignals();
      await recording?.close();
    },
  };
}

/** Throws if the cost is limited and cannot be known. */
function checkPriceKnown(
  maxCost: number | undefined,
  { origins }: LoadedSettings["settings"],
  model: string,
  { price }: ChatProvider,
): void {
  if (maxCost === undefined || price) return;
  throw new CliError(
    `maxCost (${origins.maxCost ?? "of the run"}): the price of ${quote(model)} is not known. Add it to "prices" in the config (0 for a model that costs nothing), or limit tokens with --max-tokens.`,
  );
}

/** Asks whether to run code that a call of the model could have changed. Refuses if the user cannot be asked. */
async function confirmReload(name: string, ask: PackHost["ask"], signal: AbortSignal): Promise<boolean> {
  const message = `The pack ${quote(name)} has changed, and the model has written files or run commands meanwhile. The code of the pack runs with your rights. Load it again?`;
  const answer = await ask?.({ source: "agent", message, fields: [], signal });
  return answer?.answer === "yes";
}

/** Asks the user whether to double the limit, as often as the next request needs. */
function askAboutBudget(ask: NonNullable<PackHost["ask"]>): OnBudget {
  return async ({ limits, initial, spent, next: request, message, signal }) => {
    const { maxCost, maxTokens } = limits;
    const raised = (limit: number, first = limit, needed = 0): number =>
      Math.max(limit + first, first * Math.ceil(needed / first));
    const more: BudgetLimits = {
      ...(maxCost !== undefined && { maxCost: raised(maxCost, initial.maxCost, spent.cost + request.cost) }),
      ...(maxTokens !== undefined && {
        maxTokens: raised(maxTokens, initial.maxTokens, spent.tokens + request.tokens),
      }),
    };
    const next = [
      ...(more.maxCost === undefined ? [] : [`$${more.maxCost.toFixed(2)}`]),
      ...(more.maxTokens === undefined ? [] : [`${more.maxTokens} tokens`]),
    ].join(" and ");
    const question = `${message}\nContinue up to ${next}?`;
    const { answer } = await ask({ source: "the limit", message: question, fields: [], signal });
    return answer === "yes" ? more : undefined;
  };
}

/** The user may not have been asked yet: a project may have instructions only in subdirectories. */
function subdirectoryInstructions(
  cwd: string,
  instructions: Instruction[],
  {
    project,
    use,
    onProblem,
  }: {
    /** The directory whose instructions the user was asked about. */
    readonly project: string;
    readonly use: () => InstructionUse;
    readonly onProblem: (message: string) => void;
  },
): CallHooks {
  const consent = new InstructionConsent(project);
  return instructionHooks(cwd, instructions, {
    isAgreed: () => use() === "all" && (consent.answer ?? !canAsk()),
    onFound: (one) => {
      instructions.push(one);
      onProblem(`Follows ${escapeToLine(quotePath(one.file))} (${instructionSize(one)}).`);
    },
    onLeftOut: ({ file }) => {
      if (consent.answer === false || use() === "none") return;
      onProblem(
        `${escapeToLine(quotePath(file))} holds instructions for agents. They are not used: the next start asks about them, and /instructions on uses them.`,
      );
      void consent.rememberLeftOut(file);
    },
  });
}

/** The undo log of the current session: a new session starts a new one. */
function undoLogs(
  recording: SessionRecording | undefined,
  cwd: string,
  editorFiles: PackHost["editorFiles"],
): () => UndoLog | undefined {
  let current: { readonly file: string; readonly log: UndoLog } | undefined;
  return () => {
    if (!recording) return undefined;
    const { file } = recording;
    if (current?.file !== file) current = { file, log: new UndoLog(undoDirectory(file), cwd, editorFiles) };
    return current.log;
  };
}

function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}

/** Wraps `steps` to note which tools are running, for the message of a crash. */
function notedSteps(steps: Steps = DIRECT_STEPS): Steps {
  return {
    answer: (key, ask) => steps.answer(key, ask),
    call: (key, run) =>
      steps.call(key, async (intent) => {
        let finished: (() => void) | undefined;
        try {
          return await run(async () => {
            await intent?.();
            finished = noteRunning(key.name);
          });
        } finally {
          finished?.();
        }
      }),
  };
}
