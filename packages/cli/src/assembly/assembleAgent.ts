import { Agent, type Approve, Conversation, type Steps, terminateOnSignals } from "@agent/core";
import type { CrashGuard } from "../process/crash.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { type AssembledTools, assembleTools, loadSelectedPacks, packProblems } from "./assembleTools.js";
import { type ChosenProvider, chooseProvider } from "./provider/choose.js";
import { SwitchableProvider } from "./provider/switchable.js";
import { notedSteps } from "./runningCalls.js";
import { SessionRecording } from "./sessionRecording.js";
import { newSessionFile, openSession } from "./sessions.js";
import { defaultSystemPrompt } from "./systemPrompt.js";

/** What is decided by the command line rather than by the settings. */
export interface AssemblyOptions {
  /** The session to go on with: its name, or `true` for the latest. */
  readonly resume: string | true | undefined;
  /** Whether the conversation is kept on disk. */
  readonly record: boolean;
  /** Asked about calls that need a person's yes. */
  readonly approve: Approve;
  /** Asks `approve` about every call, also those that need no yes under the settings. */
  readonly approveAll?: boolean;
  /** Where answers and calls go through, for a run that is kept in a journal. */
  readonly steps?: Steps;
  readonly guard: CrashGuard;
  /** Told what went wrong beside the work, such as a session that cannot be kept. */
  readonly onProblem: (message: string) => void;
}

/** An agent with its tools, and what a command needs to know about them. */
export interface AssembledAgent {
  readonly agent: Agent;
  readonly tools: AssembledTools;
  readonly chosen: ChosenProvider;
  /** Who answers, exchangeable between two messages. */
  readonly provider: SwitchableProvider;
  /** What is wrong with single packs. */
  readonly problems: readonly string[];
  /** The conversation's file, where it is kept. */
  readonly recording: SessionRecording | undefined;
  /** Ends what the packs started, and closes the session. */
  readonly dispose: () => Promise<void>;
}

/** Settings → agent: who answers, the conversation to go on with, the packs. */
export async function assembleAgent(
  loaded: LoadedSettings,
  options: AssemblyOptions,
): Promise<AssembledAgent> {
  const { settings } = loaded;
  const { resume, guard } = options;
  const cwd = process.cwd();
  // A server on this machine may take a while to answer: the packs are loaded meanwhile.
  const loading = await Promise.allSettled([
    chooseProvider(settings, { env: loaded.keys.env, projectFile: loaded.projectFile }),
    loadSelectedPacks(loaded),
  ]);
  const [chosen, packs] = [fulfilled(loading[0]), fulfilled(loading[1])];
  const { file, session } =
    resume === undefined ? { file: newSessionFile(cwd) } : await openSession(cwd, resume);
  const conversation = new Conversation({
    systemPrompt: settings.systemPrompt ?? session?.systemPrompt ?? defaultSystemPrompt(cwd),
    sessionContextFilePath: file,
    ...(session && { session }),
  });
  const tools = assembleTools(loaded, packs, conversation);
  const provider = new SwitchableProvider(chosen.provider);
  const agent = new Agent(provider, {
    conversation,
    registry: tools.registry,
    approve: (request) =>
      options.approveAll || tools.confirm.has(request.name) || request.needs.length > 0
        ? options.approve(request)
        : "allow",
    steps: notedSteps(guard, options.steps),
    ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
    ...(settings.maxRepeats !== undefined && { maxRepeats: settings.maxRepeats }),
    ...(settings.contextTokens !== undefined && { contextTokens: settings.contextTokens }),
  });
  // A second signal ends the process at once: nothing that a tool started may outlive it.
  const releaseSignals = terminateOnSignals(tools.registry.services);
  const recording = options.record
    ? new SessionRecording({ conversation, file, cwd, onProblem: options.onProblem })
    : undefined;
  return {
    agent,
    tools,
    chosen,
    provider,
    problems: packProblems(packs),
    recording,
    dispose: async () => {
      await agent.dispose();
      releaseSignals();
      await recording?.close();
    },
  };
}

function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
