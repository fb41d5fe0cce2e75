import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { Agent, type Approve } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { canAsk } from "../ask.js";
import { CliError } from "../errors.js";
import { EXIT, type ExitCode } from "../exitCodes.js";
import type { SettingsFlags } from "../flags.js";
import { note } from "../output.js";
import { allJobs } from "../packs/jobs.js";
import type { LoadedPack } from "../packs/load.js";
import { stateDirectory } from "../paths.js";
import { type ChosenProvider, chooseProvider } from "../provider/choose.js";
import { SwitchableProvider } from "../provider/switchable.js";
import { askOnTerminal, refuseWithoutTerminal } from "../run/approval.js";
import { runOnce } from "../run/once.js";
import { createReporter, OUTPUT_FORMATS, type OutputFormat } from "../run/reporters.js";
import { readTask } from "../run/task.js";
import { keepSession, newSession, type OpenSession, openSession } from "../session/store.js";
import { createToolbox, loadSelectedPacks, loadSettings, packProblems, type Toolbox } from "../setup.js";
import { defaultSystemPrompt } from "../systemPrompt.js";

export interface RunFlags extends SettingsFlags {
  readonly print?: boolean;
  readonly output?: string;
  readonly timeout?: string;
  readonly resume?: string | true;
  readonly session?: boolean;
  readonly quiet?: boolean;
}

/** `agent`: a chat in a terminal, or one task from the arguments or standard input. */
export async function runCommand(words: readonly string[], flags: RunFlags): Promise<ExitCode> {
  const { resume, task: taskWords } = splitResume(flags.resume, words);
  const format = checkedFormat(flags.output);
  const timeoutMs = flags.timeout === undefined ? undefined : parseDuration(flags.timeout);
  const interactive = taskWords.length === 0 && !flags.print && process.stdin.isTTY === true;
  if (interactive && format !== "text")
    throw new CliError(`--output ${format} needs a task: agent --output ${format} "do this"`);
  const reporter = createReporter(format, flags.quiet ?? false);
  try {
    const loaded = await loadSettings(flags);
    const task = interactive ? undefined : await readTask(taskWords);
    const chosen = await chooseProvider(loaded.settings);
    const packs = await loadSelectedPacks(loaded);
    const session =
      resume === undefined ? newSession(process.cwd()) : await openSession(process.cwd(), resume);
    const composition = { settings: loaded.settings, packs, session, chosen };
    const keep = async (agent: Agent): Promise<void> => {
      if (flags.session !== false && agent.context.sessionContext.length > 0) {
        await keepSession(session.file, agent.context.systemPrompt, agent.context.sessionContext);
      }
    };
    if (task === undefined) return await chat(composition, keep);
    const { agent } = createAgent(
      composition,
      chosen.provider,
      canAsk() ? askOnTerminal() : refuseWithoutTerminal(),
    );
    for (const problem of packProblems(packs)) note(`agent: ${problem}`);
    return await runOnce(agent, task, {
      reporter,
      timeoutMs,
      info: {
        model: chosen.model,
        provider: chosen.kind,
        session: flags.session === false ? undefined : session.file,
      },
      jobs: allJobs(packs),
      keep,
    });
  } catch (error) {
    // A caller that reads JSON gets the reason as JSON too.
    if (format !== "text") {
      const exitCode = error instanceof CliError ? error.exitCode : EXIT.config;
      reporter.finish({ exitCode, error: errorMessage(error) });
    }
    throw error;
  }
}

interface Composition {
  readonly settings: Awaited<ReturnType<typeof loadSettings>>["settings"];
  readonly packs: readonly LoadedPack[];
  readonly session: OpenSession;
  readonly chosen: ChosenProvider;
}

function createAgent(
  { settings, packs, session }: Composition,
  provider: ChosenProvider["provider"],
  approve: Approve,
): { agent: Agent; toolbox: Toolbox } {
  mkdirSync(dirname(session.file), { recursive: true, mode: 0o700 });
  let toolbox: Toolbox | undefined;
  const agent = new Agent(provider, {
    systemPrompt:
      settings.systemPrompt ?? session.session?.systemPrompt ?? defaultSystemPrompt(process.cwd()),
    createRegistry: (context) => {
      toolbox = createToolbox(settings, packs, context);
      return toolbox.registry;
    },
    sessionContextFilePath: session.file,
    approve: (request) => (toolbox?.confirm.has(request.name) ? approve(request) : "allow"),
    ...(session.session && { session: session.session }),
    ...(settings.maxTurns !== undefined && { maxTurns: settings.maxTurns }),
    ...(settings.contextTokens !== undefined && { contextTokens: settings.contextTokens }),
  });
  if (!toolbox) throw new Error("The agent did not create its registry.");
  return { agent, toolbox };
}

async function chat(composition: Composition, keep: (agent: Agent) => Promise<void>): Promise<ExitCode> {
  const { packs, chosen } = composition;
  const { createChat } = await import("../chat/createChat.js");
  const provider = new SwitchableProvider(chosen.provider);
  // The agent comes first, so that the chat can tell what went wrong when its packs registered.
  const { agent, toolbox } = createAgent(composition, provider, (request) => view.approve(request));
  const jobs = allJobs(packs);
  const { withModel } = chosen;
  const view = createChat({
    // A sentence a line: a terminal would break them in the middle of a word.
    banner: [...chosen.description.split(/(?<=\.) /), ...packProblems(packs)],
    model: chosen.model,
    historyFile: join(stateDirectory(), "history"),
    confirm: toolbox.confirm,
    jobs,
    explain: ({ name }) => toolbox.reasons.get(name) ?? "",
    ...(withModel && {
      switchModel: async (model: string) => {
        provider.use(await withModel(model));
        return model;
      },
    }),
  });
  try {
    return await view.run(agent);
  } finally {
    await Promise.all(jobs.list().map(({ id }) => jobs.end(id)));
    await keep(agent);
  }
}

/** `--resume` takes an id or a file, but a sentence after it is the task. */
function splitResume(
  resume: RunFlags["resume"],
  words: readonly string[],
): { resume: string | true | undefined; task: readonly string[] } {
  if (typeof resume === "string" && /\s/.test(resume)) return { resume: true, task: [resume, ...words] };
  return { resume, task: words };
}

function checkedFormat(output: string | undefined): OutputFormat {
  const format = OUTPUT_FORMATS.find((one) => one === (output ?? "text"));
  if (format) return format;
  throw new CliError(`--output must be one of ${OUTPUT_FORMATS.join(", ")}, got "${output}".`);
}

const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function parseDuration(text: string): number {
  const [, amount = "", unit = "s"] = text.match(/^(\d+(?:\.\d+)?)(ms|s|m|h)?$/) ?? [];
  const milliseconds = Number(amount) * (UNITS[unit] ?? Number.NaN);
  if (milliseconds > 0) return milliseconds;
  throw new CliError(`--timeout must be a time such as 90s, 5m or 500ms, got "${text}".`, EXIT.config);
}
