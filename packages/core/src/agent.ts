import { type AgentOptions, checkAgentOptions, checkRules, loopLimits } from "./agentOptions.js";
import type { AnyChatOptions, ChatOptions, CompactOptions, RunOptions, RunResult } from "./chatOptions.js";
import type { Content } from "./conversation/content.js";
import { Conversation } from "./conversation/conversation.js";
import { AgentError, throwIfAborted } from "./errors.js";
import type { AgentEvent, ChildEvent, DoneEvent } from "./events.js";
import { type ApprovalDecisions, ApprovalGate, type Approve, type CallRules } from "./loop/approval.js";
import { Budget, limitsOf } from "./loop/budget.js";
import { CallSlots } from "./loop/callPath.js";
import { compactToFit } from "./loop/compact.js";
import { streamEvents } from "./loop/eventStream.js";
import type { CallHooks } from "./loop/hooks.js";
import {
  addTo,
  admitMessage,
  endSession,
  type HookSession,
  lifecycleOf,
  startSession,
} from "./loop/hooks.js";
import { createRun, runLoop } from "./loop/loop.js";
import {
  addMessage,
  addSteered,
  checkDecisions,
  checkMessage,
  checkNewId,
  findReplaced,
  SteeringQueue,
  steerWith,
} from "./loop/messages.js";
import { createOutputReader } from "./loop/output.js";
import { type Run, readPackPrompt } from "./loop/run.js";
import { RunLock } from "./loop/runLock.js";
import { DIRECT_STEPS } from "./loop/steps.js";
import { NO_TELEMETRY } from "./loop/telemetry.js";
import { UsageMeter } from "./loop/usage.js";
import type { ChatProvider, Effort } from "./providers/interface.js";
import { GrantedRules } from "./rules/grantedRules.js";
import { checkOptions, type OptionChecks } from "./toolkit/hostOptions/checkOptions.js";
import {
  checkBoolean,
  checkEffort,
  checkFunction,
  checkPositive,
  checkSignal,
  checkText,
  invalidArgument,
} from "./toolkit/hostOptions/checks.js";
import { type OutputValue, parseContext, type Schema } from "./toolkit/jsonSchema/standardSchema.js";
import { createToolRegistry, saveConversation } from "./tools/factory.js";
import { hostModel, hostModels } from "./tools/models.js";
import type { BackgroundAgent, PackEntry, RegisterOptions } from "./tools/pack.js";
import type { ToolRegistry } from "./tools/registry.js";
import type {
  ChatTool,
  ChildAgentAnswer,
  ChildAgentRequest,
  ExecutableTool,
  ToolContext,
  WithContext,
} from "./tools/tool.js";

const denyUnasked: Approve = ({ name }) => ({
  deny: `the rules ask about ${name}, and this agent has no approve() to ask.`,
});

const RUN_OPTIONS: OptionChecks<AnyChatOptions> = {
  signal: checkSignal,
  context: () => undefined,
  from: checkText,
  maxCost: checkPositive,
  maxTokens: checkPositive,
  replaces: checkText,
  id: checkText,
  output: () => undefined,
};

const CHAT_OPTIONS: OptionChecks<AnyChatOptions> = {
  ...RUN_OPTIONS,
  output: () => {
    throw new AgentError(
      "invalid_argument",
      "chat() resolves to text. For a value of a form, use run() with output.",
    );
  },
};

/** The input that starts a run: a message, or decisions about pending calls. */
type Opening = { readonly message: Content } | { readonly decisions: ApprovalDecisions };

/** Background child agents. They queue for slots as the children of one message do. */
interface Background {
  started: number;
  readonly running: Set<BackgroundAgent>;
  readonly shared: Pick<Run["allowance"], "running" | "exclusive">;
  readonly listeners: Set<(event: ChildEvent) => void>;
}

/**
 * A conversation with a model that has tools. It runs the loop and reports events; it never prints and has no built-in
 * tools. `Entries` is the type of its packs, with which the compiler checks options and tool names. `Context` is the
 * type of the `context` that its messages need. Every agent is assignable to the plain type `Agent`.
 */
export class Agent<const Entries extends readonly unknown[] = readonly PackEntry[], Context = unknown> {
  readonly conversation: Conversation;
  readonly registry: ToolRegistry;
  readonly #provider: ChatProvider;
  readonly #options: AgentOptions;
  #effort: Effort | undefined;
  #gate: ApprovalGate | undefined;
  readonly #steering = new SteeringQueue();
  readonly #lock: RunLock;
  /** The spending limits of the conversation; `undefined` if there are none. */
  readonly #budget: Budget | undefined;
  /** The session, once its hooks have been called. */
  #session: HookSession | undefined;
  /** The run of the current message. */
  #answering: Run | undefined;
  // Created with the first background child: a program may hold thousands of idle agents.
  #background: Background | undefined;
  /** Events that arrived after an abort had rejected the caller's promise. */
  #lateEvents: AgentEvent[] = [];

  constructor(provider: ChatProvider, options?: AgentOptions<Entries, Context>);
  constructor(provider: ChatProvider, options: AgentOptions = {}) {
    if (typeof provider?.respond !== "function") {
      throw invalidArgument("provider", "a ChatProvider with respond()", provider);
    }
    checkAgentOptions(options);
    this.#provider = provider;
    this.#options = options;
    this.#effort = options.effort;
    this.conversation = options.conversation ?? new Conversation();
    const budget = limitsOf(options);
    this.#budget = budget && new Budget("agent", budget, options.onBudget, () => this.conversation.spending);
    this.#lock = new RunLock(this.conversation, () => this.#steering.close());
    if (options.systemPrompt !== undefined) this.conversation.setSystemPrompt(options.systemPrompt);
    const { registry, tools = options.packs, only, readOnly, enable, disable } = options;
    const { host, directories, resolveModel } = options;
    this.registry =
      registry ??
      createToolRegistry(this.conversation, tools, {
        ...(only && { only }),
        ...(readOnly !== undefined && { readOnly }),
        ...(enable && { enable }),
        ...(disable && { disable }),
        ...(directories && { directories }),
        host: {
          model: hostModel(provider, options.contextTokens),
          ...(resolveModel && { resolveModel: hostModels(resolveModel) }),
          ...(options.openWorktree && { worktrees: true }),
          ...host,
          ...(host?.wake && {
            startAgent: (request: ChildAgentRequest, onEvent?: (event: AgentEvent) => void) =>
              this.startAgent(request, onEvent),
          }),
        },
      });
    const { approve = options.rules && denyUnasked, rules = new GrantedRules(this.registry) } = options;
    this.#gate = approve && new ApprovalGate(approve, rules);
  }

  /** The agent's live state, as its tools see it. */
  get context(): ToolContext {
    return this.conversation;
  }

  /**
   * Sends a message and resolves to the text of the model's final answer. Rejects with an `AgentError`. On abort it
   * rejects immediately; `settled` resolves once the tools have stopped. Pending calls of an earlier message are
   * dropped: the model gets a result saying that they did not run.
   */
  async chat(message: Content, ...[options = {}]: WithContext<ChatOptions, Context>): Promise<string> {
    return (await this.#run("chat", { message }, options, CHAT_OPTIONS)).text;
  }

  /** Like `chat`, but resolves to the answer as text, as a value that matches `output`, and to the usage. */
  async run<const S extends Schema | undefined = undefined>(
    message: Content,
    ...[options = {}]: WithContext<RunOptions<S>, Context>
  ): Promise<RunResult<OutputValue<S>>> {
    return (await this.#run("run", { message }, options)) as RunResult<OutputValue<S>>;
  }

  /**
   * Continues a conversation with pending calls, including one that another process saved. A call without a decision is
   * asked about again. Resolves and rejects like `run`.
   */
  async resume<const S extends Schema | undefined = undefined>(
    decisions: ApprovalDecisions,
    ...[options = {}]: WithContext<RunOptions<S>, Context>
  ): Promise<RunResult<OutputValue<S>>> {
    return (await this.#run("resume", { decisions }, options)) as RunResult<OutputValue<S>>;
  }

  /**
   * Like `run`, but yields events as they happen. Leaving the loop early aborts the request and the running tools; the
   * conversation stays valid.
   */
  streamChat(
    message: Content,
    ...[options = {}]: WithContext<RunOptions, Context>
  ): AsyncGenerator<AgentEvent, void, undefined> {
    return this.#stream("streamChat", { message }, options);
  }

  /**
   * Removes the answer to the newest user message and asks the model again. The message keeps its id and sender.
   * Resolves like `run`.
   */
  async retry<const S extends Schema | undefined = undefined>(
    ...[options = {}]: WithContext<RunOptions<S>, Context>
  ): Promise<RunResult<OutputValue<S>>> {
    const again = this.#newestMessage("retry", options);
    return (await this.#run("retry", again, again.options)) as RunResult<OutputValue<S>>;
  }

  /** Like `retry`, but yields events as they happen. */
  streamRetry(
    ...[options = {}]: WithContext<RunOptions, Context>
  ): AsyncGenerator<AgentEvent, void, undefined> {
    const again = this.#newestMessage("streamRetry", options);
    return this.#stream("streamRetry", again, again.options);
  }

  #newestMessage(owner: string, options: AnyChatOptions): { message: Content; options: AnyChatOptions } {
    checkOptions(owner, options, RUN_OPTIONS);
    const { conversation } = this;
    const last = conversation.sessionContext.findLast(
      (message) => message.role === "user" && message.generated === undefined,
    );
    if (last?.role === "user") {
      const { id } = conversation.infoOf(last);
      const { content: message, from } = last;
      return { message, options: { ...options, id, replaces: id, ...(from !== undefined && { from }) } };
    }
    throw new AgentError("invalid_argument", "There is no message to answer again.");
  }

  /** Like `resume`, but yields events as they happen. */
  streamResume(
    decisions: ApprovalDecisions,
    ...[options = {}]: WithContext<RunOptions, Context>
  ): AsyncGenerator<AgentEvent, void, undefined> {
    return this.#stream("streamResume", { decisions }, options);
  }

  async #run(
    owner: string,
    opening: Opening,
    options: AnyChatOptions,
    checks = RUN_OPTIONS,
  ): Promise<RunResult<unknown>> {
    checkOptions(owner, options, checks);
    const { signal = new AbortController().signal } = options;
    const done = await this.#start(opening, options, signal, false, () => undefined);
    const { text, output, usage, turns, finishReason } = done;
    const { cost } = usage;
    return { text, output, usage, ...(cost !== undefined && { cost }), turns, finishReason };
  }

  // Returns the generator itself: one around it would cost every event three turns of the microtask queue.
  #stream(
    owner: string,
    opening: Opening,
    options: AnyChatOptions,
  ): AsyncGenerator<AgentEvent, void, undefined> {
    return streamEvents({
      open: () => {
        checkOptions(owner, options, RUN_OPTIONS);
        return options.signal;
      },
      start: (signal, emit) => this.#start(opening, options, signal, true, emit),
      onLate: (event) => this.#lateEvents.push(event),
    });
  }

  /**
   * Adds a message to the current run. It is delivered after the running tools, before the next model request. Returns
   * `false` and discards the message if no run is active: send it with `chat` then.
   */
  steer(message: Content): boolean {
    checkMessage(message);
    return this.#steering.add(message);
  }

  /**
   * Withdraws messages given to `steer` that have not been delivered, for example because the user edits them or the
   * run failed first. Messages that are not withdrawn are delivered before the next message.
   */
  takeSteering(): readonly Content[] {
    return this.#steering.take();
  }

  /**
   * Resolves once nothing is running: after an abort, when every tool has returned or was abandoned. Resolves to the
   * events that arrived after `streamChat` had ended, such as the results of stopped tools. They are kept until the
   * next message.
   */
  async settled(): Promise<readonly AgentEvent[]> {
    await this.#lock.idle();
    return this.#lateEvents.splice(0);
  }

  /** The schemas the model is offered now. */
  getTools(): ChatTool[] {
    return this.registry.getEnabledSchemas();
  }

  /** Adds a tool; the model is offered it with its next request. */
  addTool(tool: ExecutableTool, options?: RegisterOptions): void {
    this.registry.register(tool, options);
  }

  /** Removes a tool. Nothing happens if there is none with this name. */
  removeTool(name: string): void {
    this.registry.unregister(name);
  }

  /** Turns a tool on. Returns whether it exists. */
  enableTool(name: string): boolean {
    return this.registry.enable(name);
  }

  /** Turns a tool off. Returns whether it exists. */
  disableTool(name: string): boolean {
    return this.registry.disable(name);
  }

  /**
   * Saves the conversation with the `save_session_context` tool and resolves to its text, including on failure. With
   * `reject` it rejects instead, and also saves if the tool is disabled.
   */
  async saveContext(reason: string, options: { readonly reject?: boolean } = {}): Promise<string> {
    checkOptions("saveContext", options, { reject: checkBoolean });
    if (!options.reject) return await this.registry.execute("save_session_context", { reason });
    checkText("reason", reason);
    return await saveConversation(this.conversation, reason);
  }

  /** Clears the conversation; the system prompt and the tools stay. Throws while a message is being answered. */
  clearContext(): void {
    this.#lock.checkIdle();
    // Throws if another agent is answering in it.
    const leave = this.conversation.reserve();
    this.conversation.clear();
    leave();
  }

  /** Takes effect with the next request to the model. */
  setSystemPrompt(prompt: string): void {
    this.conversation.setSystemPrompt(prompt);
  }

  /** The model's reasoning effort; `undefined` if the server decides. */
  get effort(): Effort | undefined {
    return this.#effort;
  }

  /** Takes effect with the next message; `undefined` lets the server decide. */
  setEffort(effort: Effort | undefined): void {
    if (effort !== undefined) checkEffort("effort", effort);
    this.#effort = effort;
  }

  /**
   * Lets a host decide about the calls of an agent that it did not create: replaces `approve` and `rules` from the next
   * message on. Returns a function that restores the previous ones.
   */
  setApproval({ approve, rules }: { readonly approve: Approve; readonly rules: CallRules }): () => void {
    checkFunction("approve", approve);
    checkRules("rules", rules);
    const before = this.#gate;
    this.#gate = new ApprovalGate(approve, rules);
    return () => {
      this.#gate = before;
    };
  }

  /**
   * Replaces older turns with a summary written by the model. Returns whether there was anything to replace. Rejects
   * and leaves the conversation unchanged if the model request fails.
   */
  async compact(options: CompactOptions = {}): Promise<boolean> {
    checkOptions("compact", options, { signal: checkSignal, onEvent: checkFunction, focus: checkText });
    const { signal = new AbortController().signal, onEvent = () => undefined, focus } = options;
    const run = this.#createRun({}, { signal }, signal, false, onEvent);
    return await this.#lock.hold(signal, () => compactToFit(run, 0, "now", focus));
  }

  /**
   * Starts a background child agent with the same rules, limits and approvals. During a run, its `context`, `maxCost`
   * and `maxTokens` also apply to the child, even after the run has ended. `onEvent` receives its events. `dispose`
   * stops it.
   */
  startAgent<const S extends Schema | undefined = undefined>(
    request: ChildAgentRequest<S>,
    onEvent?: (event: AgentEvent) => void,
  ): BackgroundAgent<OutputValue<S>>;
  startAgent(
    request: ChildAgentRequest,
    onEvent: (event: AgentEvent) => void = () => undefined,
  ): BackgroundAgent {
    checkFunction("onEvent", onEvent);
    const { shared, running } = this.#backgroundAgents;
    const stop = new AbortController();
    const emit = (event: AgentEvent): void => {
      if (event.type !== "child") return;
      onEvent(event.event);
      for (const listener of this.#backgroundAgents.listeners) listener(event);
    };
    const { context, budgets } = this.#answering ?? {};
    const parent = this.#createRun({}, { context }, stop.signal, true, emit, shared, budgets);
    const start = async (): Promise<ChildAgentAnswer> => {
      if (running.size >= parent.limits.maxChildAgents) {
        throw new AgentError(
          "child_limit",
          `At most ${parent.limits.maxChildAgents} agents may work in the background. Wait for one to end, or raise maxChildAgents.`,
        );
      }
      const callId = `background-${++this.#backgroundAgents.started}`;
      return await parent.startAgent({ turn: 0, callId }, request, stop.signal, new CallSlots());
    };
    const agent = { done: start(), stop: () => stop.abort() };
    running.add(agent);
    const end = (): void => void running.delete(agent);
    agent.done.then(end, end);
    return agent;
  }

  /** Calls `listener` with the events of all background child agents. Returns a function that unsubscribes. */
  onBackgroundEvent(listener: (event: ChildEvent) => void): () => void {
    checkFunction("listener", listener);
    const { listeners } = this.#backgroundAgents;
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Stops everything that the packs started, and background child agents. The agent must not be used afterwards. */
  async dispose(): Promise<void> {
    const running = [...(this.#background?.running ?? [])];
    for (const agent of running) agent.stop();
    await Promise.allSettled(running.map(({ done }) => done));
    await this.settled();
    if (this.#session) await endSession(this.#session, this.#hooks);
    this.#session = undefined;
    await this.registry.dispose();
  }

  async #start(
    opening: Opening,
    options: AnyChatOptions,
    signal: AbortSignal,
    stream: boolean,
    emit: (event: AgentEvent) => void,
  ): Promise<DoneEvent> {
    if ("decisions" in opening) checkDecisions(opening.decisions, this.conversation);
    else {
      checkMessage(opening.message);
      const { id, replaces } = options;
      if (replaces !== undefined) findReplaced(this.conversation, replaces);
      checkNewId(this.conversation, id, replaces);
    }
    const { context: schema } = this.#options;
    const given = schema ? { ...options, context: await parseContext(schema, options.context) } : options;
    const done = await this.#lock.hold(signal, async () => {
      this.#lateEvents = [];
      const decisions = "decisions" in opening ? opening.decisions : {};
      const run = this.#createRun(decisions, given, signal, stream, emit);
      this.#answering = run;
      const undelivered = this.#steering.take();
      this.#steering.open();
      try {
        const opened = this.#open(opening, options, run, undelivered);
        // Without hooks nothing is awaited, so a caller that reads the conversation next sees the message.
        if (opened) await opened;
        return await runLoop(run);
      } finally {
        this.#answering = undefined;
      }
    });
    // Emitted once the agent is free: a listener may send the next message immediately.
    emit(done);
    return done;
  }

  /** Adds the messages that start the run. Returns a promise only if hooks have to check them. */
  #open(
    opening: Opening,
    options: AnyChatOptions,
    run: Run,
    undelivered: readonly Content[],
  ): Promise<void> | undefined {
    const { from, id, replaces, context } = options;
    const message = "message" in opening ? opening.message : undefined;
    if (!this.#hooks.some((hooks) => hooks.onSessionStart ?? hooks.onSessionEnd ?? hooks.onMessage)) {
      for (const content of undelivered) addSteered(run, content);
      if (message !== undefined) addMessage(this.conversation, message, { from, replaces, id });
      return undefined;
    }
    const lifecycle = lifecycleOf(run);
    const { signal } = run;
    return (async () => {
      const isFirst = !this.#session || this.conversation.sessionContext.length === 0;
      this.#session ??= { resumed: this.conversation.sessionContext.length > 0 };
      const added = isFirst ? await startSession(this.#session, lifecycle) : [];
      const about = { context, signal };
      const content =
        message === undefined
          ? undefined
          : await admitMessage(
              { ...about, content: message, ...(from !== undefined && { from }) },
              lifecycle,
            );
      await steerWith(undelivered, run);
      throwIfAborted(signal);
      if (content !== undefined)
        addMessage(this.conversation, added.reduce(addTo, content), { from, replaces, id });
    })();
  }

  get #backgroundAgents(): Background {
    this.#background ??= {
      started: 0,
      running: new Set(),
      shared: { running: [], exclusive: [] },
      listeners: new Set(),
    };
    return this.#background;
  }

  get #hooks(): readonly CallHooks[] {
    return [...this.registry.services.hooks, ...(this.#options.hooks ?? [])];
  }

  #createRun(
    decisions: ApprovalDecisions,
    { context, output, maxCost, maxTokens }: AnyChatOptions,
    signal: AbortSignal,
    stream: boolean,
    emit: (event: AgentEvent) => void,
    slots: Pick<Run["allowance"], "running" | "exclusive"> = { running: [], exclusive: [] },
    inherited?: Run["budgets"],
  ): Run {
    const options = this.#options;
    const limits = loopLimits(options, this.#provider);
    const budget = limitsOf({
      ...(maxCost !== undefined && { maxCost }),
      ...(maxTokens !== undefined && { maxTokens }),
    });
    const own = budget && new Budget("message", budget, options.onBudget);
    return createRun({
      budgets: inherited ?? [this.#budget, own].filter((one) => one !== undefined),
      smallModel: options.smallModel,
      openWorktree: options.openWorktree,
      provider: this.#provider,
      tools: this.registry,
      conversation: this.conversation,
      gate: this.#gate,
      packs: this.registry.services,
      packPrompt: readPackPrompt(this.registry, emit),
      session: this.conversation,
      takeSteering: (taking) => this.#steering.take(taking),
      output: output === undefined ? undefined : createOutputReader(output),
      decisions,
      context,
      effort: this.#effort,
      stream,
      signal,
      emit,
      limits,
      hooks: options.hooks ?? [],
      resolveModel: options.resolveModel,
      steps: options.steps ?? DIRECT_STEPS,
      telemetry: options.telemetry ?? NO_TELEMETRY,
      control: (options.toolChoice ?? options.beforeRequest ?? options.stopWhen) ? options : undefined,
      scope: "",
      label: undefined,
      directory: undefined,
      depth: 0,
      meter: new UsageMeter(),
      allowance: {
        turns: limits.maxTurns,
        children: limits.maxChildAgents,
        nestedCalls: limits.maxNestedCalls,
        ...slots,
      },
    });
  }
}
