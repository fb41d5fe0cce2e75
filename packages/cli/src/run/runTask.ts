import type {
  Agent,
  AgentEvent,
  ApprovalRequest,
  Content,
  ContentPart,
  JsonSchema,
  ToolRegistry,
} from "@agent/core";
import type { AskUser, Mode } from "@agent/core/host";
import { errorMessage, escapeInvisible } from "@agent/core/toolkit";
import { escapeToLine, withTimeout } from "@agent/internal";
import {
  type AskPermit,
  approvalLines,
  attach,
  composeMessage,
  denial,
  describeNeed,
  isImagePath,
  PLAIN_STYLE,
  questionText,
  readDecision,
  splitMessage,
} from "@agent/terminal/host";
import { assembleAgent } from "../assembly/assembleAgent.js";
import type { InstructionUse } from "../instructions/instructions.js";
import { ask, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";
import type { ExitCode } from "../process/exitCodes.js";
import { note } from "../process/output.js";
import { mentionPlace } from "../settings/access.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { watchInterruption } from "./interruption.js";
import { type Outcome, OutcomeWatcher } from "./outcome.js";
import type { Reporter, RunInfo } from "./reporters.js";
import { readTask, type Task } from "./task.js";

// How long the first request waits for tools that a server has to list first.
const LATE_TOOLS_MS = 3000;

export interface TaskOptions {
  readonly resume: string | true | undefined;
  /** Whether the conversation is kept on disk. */
  readonly record: boolean;
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
  /** Whether only errors and warnings go to standard error. */
  readonly quiet: boolean;
  /** Which AGENTS.md and similar files the model gets. */
  readonly instructions: InstructionUse;
  /** Files with images for the model. */
  readonly images: readonly string[];
  /** The JSON Schema of the answer. */
  readonly output?: JsonSchema | undefined;
}

/** One task, from the arguments or standard input. */
export async function runTask(
  words: readonly string[],
  loaded: LoadedSettings,
  { resume, record, reporter, timeoutMs, quiet, instructions, images, output }: TaskOptions,
): Promise<ExitCode> {
  const notice = (message: string): void => {
    if (reporter.notice) reporter.notice(message);
    else note(`agent: ${message}`);
  };
  const task = await compose(await readTask(words, quiet ? () => undefined : notice), images);
  /** Asks after the live rows are erased, so that the question does not mix with them. */
  const asking = <Answer>(work: () => Promise<Answer>, call?: ApprovalRequest): Promise<Answer> =>
    reporter.whileAsking ? reporter.whileAsking(work, call) : work();
  const { agent, chosen, permissions, problems, restored, recording, beginTurn, dispose } =
    await assembleAgent(loaded, {
      resume,
      record,
      instructions,
      unattended: !canAsk(),
      inTerminal: canAsk(),
      ask: canAsk()
        ? (request, ...choices) => asking(() => askOnTerminal(request, ...choices), request)
        : refuseWithoutTerminal,
      askPermit: canAsk() ? (request) => asking(() => askPermitOnTerminal(request)) : undefined,
      onProblem: notice,
      ...(quiet && { onNotice: () => undefined }),
    });
  for (const problem of problems) note(`agent: ${problem}`);
  if (!quiet) for (const line of [chosen.description, ...restored]) note(`agent: ${line}`);
  const waiting = await awaitLateTools(agent.registry.services);
  if (waiting.length > 0)
    notice(`Still loading: ${waiting.join("; ")}. The first request goes without these tools.`);
  beginTurn(splitMessage(task).text);
  return await runOnce(agent, task, {
    reporter,
    timeoutMs,
    output,
    mode: () => permissions.mode,
    info: { model: chosen.model, provider: chosen.kind, session: recording?.file },
    dispose,
  });
}

/**
 * The task with the files it mentions, standard input, and the images of the command line. Throws if one is missing. An
 * `@` in attached text is not a mention: a diff is full of them.
 */
async function compose({ text, attached }: Task, images: readonly string[]): Promise<Content> {
  const place = mentionPlace(process.cwd());
  try {
    const { content, missing } = await composeMessage(text, place);
    for (const name of missing) note(`agent: @${name} does not exist, so only its name is sent.`);
    const parts: ContentPart[] =
      typeof content === "string" ? [{ type: "text", text: content }] : [...content];
    if (attached !== undefined) parts.push({ type: "text", text: `Standard input:\n\n${attached}` });
    for (const path of images) {
      const attachment = isImagePath(path) ? await attach({ path }, place) : undefined;
      if (!attachment) throw new Error(`--image ${path}: there is no such image (png, jpg, gif or webp).`);
      parts.push(attachment.part);
    }
    return parts.length === 1 ? content : parts;
  } catch (error) {
    throw new CliError(errorMessage(error));
  }
}

/** Waits a short time for late tools, and returns what is still loading. Failures are reported elsewhere. */
async function awaitLateTools(services: ToolRegistry["services"]): Promise<readonly string[]> {
  const loading = () =>
    services.pending().flatMap(({ description, problem }) => (problem === undefined ? [description] : []));
  if (loading().length === 0) return [];
  await withTimeout(services.loaded(), LATE_TOOLS_MS, () => undefined);
  return loading();
}

/** Without a terminal, a call that needs approval is denied, and the model is informed why. */
const refuseWithoutTerminal: AskUser = async ({ name, description }, _, runsInAuto) => {
  const { needs, caution } = description;
  if (needs.length > 0) {
    return {
      deny: `${needs.map(describeNeed).join("; ")}. That needs approval, and there is no terminal to ask on. The user can allow it with --add-dir DIR or addDirs in the config.`,
    };
  }
  const warning = caution === undefined ? "" : `${escapeToLine(caution)}. `;
  const hint = (await runsInAuto())
    ? 'The user can allow it with --mode auto, or with a rule in "permissions" in the config.'
    : 'The user can take it out of "confirm", or allow it with a rule in "permissions" in the config.';
  return { deny: `${warning}${name} needs approval, and there is no terminal to ask on. ${hint}` };
};

/** Shows the call in full, invisible characters made visible, and asks. */
const askOnTerminal: AskUser = async (request) => {
  note(approvalLines(request, PLAIN_STYLE).join("\n"));
  const choices = "[y]es, [a]lways in this session, or no with a reason: ";
  const answer = await ask(`${questionText(request)} ${choices}`, request.signal);
  // Anything but a clear yes is a denial, with the typed text as its reason.
  return readDecision(answer, request.name) ?? { deny: denial(answer) };
};

/** Asks whether a running call may do more than was approved. Anything but a clear yes is a no. */
const askPermitOnTerminal: AskPermit = async ({ source, message, signal }) => {
  note(`${escapeToLine(source)} asks:\n${escapeInvisible(message)}`);
  const answer = await ask("Allow it? [o]nce, in this [s]ession, in this [p]roject, or no: ", signal);
  const scopes = ["once", "session", "project"] as const;
  const typed = answer.toLowerCase();
  return scopes.find((scope) => typed === scope || typed === scope[0]) ?? (signal.aborted ? undefined : "no");
};

interface OnceOptions {
  readonly reporter: Reporter;
  readonly timeoutMs: number | undefined;
  readonly info: Pick<RunInfo, "model" | "provider" | "session">;
  readonly mode: () => Mode;
  /** The JSON Schema of the answer. */
  readonly output?: JsonSchema | undefined;
  /** Stops what the tools left running, and closes the session. */
  readonly dispose: () => Promise<void>;
}

/** Runs one task: reports events, cleans up, and resolves to the exit code. */
async function runOnce(agent: Agent, task: Content, options: OnceOptions): Promise<ExitCode> {
  const { reporter } = options;
  const watcher = new OutcomeWatcher(options.mode);
  const see = (event: AgentEvent): void => {
    watcher.see(event);
    reporter.event(event);
  };
  const interruption = watchInterruption(options.timeoutMs);
  let outcome: Outcome;
  try {
    const tools = agent.getTools().map((tool) => tool.function.name);
    reporter.start({ ...options.info, cwd: process.cwd(), tools });
    const { signal } = interruption;
    const { output } = options;
    for await (const event of agent.streamChat(task, { signal, ...(output && { output }) })) see(event);
    outcome = watcher.finished();
  } catch (error) {
    // Interrupted tools return their own results after the run was aborted.
    for (const event of await agent.settled()) see(event);
    outcome = watcher.failed(error, interruption.stop);
  } finally {
    interruption.release();
    await options.dispose();
  }
  reporter.finish(outcome);
  return outcome.exitCode;
}
