import { dirname } from "node:path";
import { Agent, type Approve, type BackgroundJobs } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { note } from "../process/output.js";
import { ensurePrivateDirectory } from "../process/paths.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { createToolbox, loadSelectedPacks, packProblems, type Toolbox } from "./assembleTools.js";
import { allJobs } from "./packs/jobs.js";
import { type ChosenProvider, chooseProvider } from "./provider/choose.js";
import { SwitchableProvider } from "./provider/switchable.js";
import { keepSession, newSession, openSession } from "./sessions.js";
import { defaultSystemPrompt } from "./systemPrompt.js";

/** An agent with its tools, and what a command needs to know about them. */
export interface Composition {
  readonly agent: Agent;
  readonly toolbox: Toolbox;
  readonly chosen: ChosenProvider;
  /** Who answers, exchangeable between two messages. */
  readonly provider: SwitchableProvider;
  readonly jobs: BackgroundJobs;
  /** What is wrong with single packs. */
  readonly problems: readonly string[];
  readonly sessionFile: string;
  /** Keeps the conversation for `--resume`, if there is one. Never rejects: a failure is told. */
  readonly keep: () => Promise<void>;
}

/** Puts together who answers, the packs and the conversation to go on with. */
export async function compose(
  loaded: LoadedSettings,
  resume: string | true | undefined,
  approve: Approve,
): Promise<Composition> {
  const { settings } = loaded;
  // A server on this machine may take a while to answer: the packs are loaded meanwhile.
  const loading = await Promise.allSettled([
    chooseProvider(settings, loaded.keys.env),
    loadSelectedPacks(loaded),
  ]);
  const [chosen, packs] = [fulfilled(loading[0]), fulfilled(loading[1])];
  const { file, session } =
    resume === undefined ? newSession(process.cwd()) : await openSession(process.cwd(), resume);
  try {
    ensurePrivateDirectory(dirname(file));
  } catch {
    // A home that cannot be written must not stop the work; whoever saves finds out and says so.
  }
  const provider = new SwitchableProvider(chosen.provider);
  let toolbox: Toolbox | undefined;
  const agent = new Agent(provider, {
    systemPrompt: settings.systemPrompt ?? session?.systemPrompt ?? defaultSystemPrompt(process.cwd()),
    createRegistry: (context) => {
      toolbox = createToolbox(loaded, packs, context);
      return toolbox.registry;
    },
    sessionContextFilePath: file,
    approve: (request) =>
      toolbox?.confirm.has(request.name) || request.needs.length > 0 ? approve(request) : "allow",
    ...(session && { session }),
    ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
    ...(settings.contextTokens !== undefined && { contextTokens: settings.contextTokens }),
  });
  if (!toolbox) throw new Error("The agent did not create its registry.");
  const keep = async (): Promise<void> => {
    const { systemPrompt, sessionContext } = agent.context;
    if (sessionContext.length === 0) return;
    try {
      await keepSession(file, systemPrompt, sessionContext);
    } catch (error) {
      note(`agent: the session was not kept: ${errorMessage(error)}`);
    }
  };
  return {
    agent,
    toolbox,
    chosen,
    provider,
    jobs: allJobs(packs),
    problems: packProblems(packs),
    sessionFile: file,
    keep,
  };
}

function fulfilled<T>(result: PromiseSettledResult<T>): T {
  if (result.status === "rejected") throw result.reason;
  return result.value;
}
