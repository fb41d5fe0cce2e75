import { type AgentOptions, checkAgentOptions, loopLimits } from "./agentOptions.js";
import type {
  AnyChatOptions,
  ChatOptions,
  ChatResult,
  StreamOptions,
  StructuredChatOptions,
} from "./chatOptions.js";
import { compactToFit } from "./conversation/compact.js";
import { type Content, findContentProblem, wellFormed } from "./conversation/content.js";
import { Conversation } from "./conversation/conversation.js";
import { AgentError } from "./errors.js";
import type { AgentEvent, DoneEvent } from "./events.js";
import { type ApprovalDecisions, ApprovalGate } from "./loop/approval.js";
import { EventQueue } from "./loop/eventQueue.js";
import type { Exchange } from "./loop/exchange.js";
import { runLoop } from "./loop/loop.js";
import { createOutputReader } from "./loop/output.js";
import { SteeringQueue } from "./loop/steering.js";
import { DIRECT_STEPS } from "./loop/steps.js";
import { NO_TELEMETRY } from "./loop/telemetry.js";
import { UsageMeter } from "./loop/usage.js";
import type { ChatProvider } from "./providers/interface.js";
import { linkedController, orAborted } from "./toolkit/abort.js";
import { checkBoolean, checkObject, checkSignal, checkText, invalidArgument } from "./toolkit/checks.js";
import { quote } from "./toolkit/describe.js";
import { checkOptions, type OptionChecks } from "./toolkit/options.js";
import type { Schema, SchemaValue } from "./toolkit/standardSchema.js";
import { createToolRegistry } from "./tools/factory.js";
import type { ChatTool, ExecutableTool } from "./tools/interface.js";
import type { PackEntry } from "./tools/packTypes.js";
import type { ToolRegistry } from "./tools/registry.js";
import { saveConversation } from "./tools/sessionContext.js";
import type { RegisterOptions, ToolContext } from "./tools/types.js";

const CHAT_OPTIONS: OptionChecks<AnyChatOptions> = {
  signal: checkSignal,
  context: () => undefined,
  output: () => undefined,
  details: checkBoolean,
};

/** How an exchange begins: checked before the agent is taken, applied once it is. */
interface Beginning {
  check(): void;
  apply(): void;
}

const UNDECIDED = "Not run: the user sent another message instead of a decision.";

/**
 * A conversation with a model that has tools. It runs the loop and reports what happens; it never prints, and knows
 * no tool. `Entries` are the packs it was made with, by which the compiler checks their options and tools; every agent is
 * an `Agent`, whatever it was made with.
 */
export class Agent<const Entries extends readonly PackEntry[] = readonly PackEntry[]> {
  readonly conversation: Conversation;
  readonly registry: ToolRegistry;
  readonly #provider: ChatProvider;
  readonly #options: AgentOptions;
  readonly #gate: ApprovalGate | undefined;
  readonly #steering = new SteeringQueue();
  /** The exchange that runs, or has been aborted and still waits for its tools. Never rejects. */
  #running: Promise<unknown> | undefined;
  #isAborted = false;
  /** What happened after the caller was told of the abort. */
  #lateEvents: AgentEvent[] = [];

  constructor(provider: ChatProvider, options?: AgentOptions<Entries>);
  constructor(provider: ChatProvider, options: AgentOptions = {}) {
    if (typeof provider?.respond !== "function") {
      throw invalidArgument("provider", "a ChatProvider with respond()", provider);
    }
    checkAgentOptions(options);
    this.#provider = provider;
    this.#options = options;
    this.#gate = options.approve && new ApprovalGate(options.approve);
    this.conversation = options.conversation ?? new Conversation();
    if (options.systemPrompt !== undefined) this.conversation.setSystemPrompt(options.systemPrompt);
    const { registry, packs, enable, disable } = options;
    const contextTokens = options.contextTokens ?? provider.contextTokens;
    this.registry =
      registry ??
      createToolRegistry(this.conversation, packs, {
        ...(enable && { enable }),
        ...(disable && { disable }),
        ...(contextTokens !== undefined && { host: { contextTokens } }),
      });
  }

  /** The agent's live state, as its tools see it. */
  get context(): ToolContext {
    return this.conversation;
  }

  /**
   * Sends a message and resolves to the model's final answer, with `output` to a value of that form, or with `details`
   * to both and what they took. Rejects with an `AgentError`; on abort at once, while `settled` tells when the tools
   * have ended. Calls that wait for a decision are given up: the model is told that they have not run.
   */
  chat<S extends Schema>(
    message: Content,
    options: StructuredChatOptions<S> & { readonly details: true },
  ): Promise<ChatResult<SchemaValue<S>>>;
  chat(message: Content, options: ChatOptions & { readonly details: true }): Promise<ChatResult>;
  chat<S extends Schema>(message: Content, options: StructuredChatOptions<S>): Promise<SchemaValue<S>>;
  chat(message: Content, options?: ChatOptions): Promise<string>;
  chat(message: Content, options: AnyChatOptions = {}): Promise<unknown> {
    return this.#answer(this.#withMessage(message), options);
  }

  /**
   * Goes on with a conversation whose calls wait for a decision, also one that another process saved. A call that
   * nobody decided about is asked about again. Resolves and rejects as `chat` does.
   */
  resume<S extends Schema>(
    decisions: ApprovalDecisions,
    options: StructuredChatOptions<S> & { readonly details: true },
  ): Promise<ChatResult<SchemaValue<S>>>;
  resume(
    decisions: ApprovalDecisions,
    options: ChatOptions & { readonly details: true },
  ): Promise<ChatResult>;
  resume<S extends Schema>(
    decisions: ApprovalDecisions,
    options: StructuredChatOptions<S>,
  ): Promise<SchemaValue<S>>;
  resume(decisions: ApprovalDecisions, options?: ChatOptions): Promise<string>;
  resume(decisions: ApprovalDecisions, options: AnyChatOptions = {}): Promise<unknown> {
    return this.#answer(this.#withDecisions(decisions), options, decisions);
  }

  /**
   * As `chat`, reporting what happens as it happens. Leaving the loop early aborts the request and the
   * running tools; the conversation stays valid.
   */
  streamChat(message: Content, options: StreamOptions = {}): AsyncGenerator<AgentEvent, void, undefined> {
    return this.#stream(this.#withMessage(message), options);
  }

  /** As `resume`, reporting what happens as it happens. */
  streamResume(
    decisions: ApprovalDecisions,
    options: StreamOptions = {},
  ): AsyncGenerator<AgentEvent, void, undefined> {
    return this.#stream(this.#withDecisions(decisions), options, decisions);
  }

  async #answer(
    begin: Beginning,
    options: AnyChatOptions,
    decisions: ApprovalDecisions = {},
  ): Promise<unknown> {
    checkOptions("chat", options, CHAT_OPTIONS);
    const { signal = new AbortController().signal } = options;
    const done = await this.#start(begin, decisions, options, signal, false, () => undefined);
    const { type: _, ...result } = done;
    if (options.details) return result;
    return options.output === undefined ? done.text : done.output;
  }

  async *#stream(
    begin: Beginning,
    options: StreamOptions,
    decisions: ApprovalDecisions = {},
  ): AsyncGenerator<AgentEvent, void, undefined> {
    checkOptions("chat", options, CHAT_OPTIONS);
    const queue = new EventQueue<AgentEvent>();
    const { controller, release } = linkedController(options.signal);
    const emit = (event: AgentEvent): void => {
      if (queue.isEnded) this.#lateEvents.push(event);
      else queue.push(event);
    };
    const answer = this.#start(begin, decisions, options, controller.signal, true, emit);
    // Rejections are thrown where the answer is awaited below; this keeps Node from calling them unhandled.
    answer.finally(() => queue.end()).catch(() => undefined);
    let complete = false;
    try {
      for (let events = await queue.take(); events; events = await queue.take()) {
        for (const event of events) yield event;
      }
      complete = true;
    } finally {
      release();
      if (!complete) {
        controller.abort();
        await answer.catch(() => undefined);
      }
    }
    await answer;
  }

  /**
   * Adds to what the agent works on: the message is delivered after the tools that run now, before the model is asked
   * again. Returns `false`, and keeps nothing, if no message is being answered: send it with `chat` then.
   */
  steer(message: Content): boolean {
    checkMessage(message);
    return this.#steering.add(message);
  }

  /**
   * Takes back what was given to `steer` and not delivered, because the message failed or was stopped first. What is
   * not taken back is delivered before the next message.
   */
  takeSteering(): readonly Content[] {
    return this.#steering.isOpen ? [] : this.#steering.take();
  }

  /**
   * Resolves once nothing runs any more: after an abort, when every tool has returned or was given up. Resolves to
   * the events that came after `streamChat` had ended, such as the results of tools that were stopped. They are
   * kept until the next message.
   */
  async settled(): Promise<readonly AgentEvent[]> {
    await this.#idle();
    return this.#lateEvents.splice(0);
  }

  /** The schemas the model is offered now. */
  getTools(): ChatTool[] {
    return this.registry.getEnabledSchemas();
  }

  addTool(tool: ExecutableTool, options?: RegisterOptions): void {
    this.registry.register(tool, options);
  }

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
   * Saves the conversation through the `save_session_context` tool; resolves to its text, also on failure. With
   * `reject` it rejects instead, and saves also where the model does not have that tool.
   */
  async saveContext(reason: string, options: { readonly reject?: boolean } = {}): Promise<string> {
    checkOptions("saveContext", options, { reject: checkBoolean });
    if (!options.reject) return await this.registry.execute("save_session_context", { reason });
    checkText("reason", reason);
    return await saveConversation(this.conversation, reason);
  }

  /** Forgets the conversation; the system prompt and the tools stay. Throws while a message is answered. */
  clearContext(): void {
    this.#checkIdle();
    this.conversation.clear();
  }

  /** Takes effect with the next request to the model. */
  setSystemPrompt(prompt: string): void {
    this.conversation.setSystemPrompt(prompt);
  }

  /** Replaces older turns by a summary the model writes. Returns whether there was anything to replace. */
  async compact(options: Pick<ChatOptions, "signal"> = {}): Promise<boolean> {
    checkOptions("compact", options, { signal: checkSignal });
    const { signal = new AbortController().signal } = options;
    const exchange = this.#createExchange(options, {}, signal, false, () => undefined);
    return await this.#occupy(signal, () => compactToFit(exchange, 0, "now"));
  }

  /** Ends what the packs started. The agent is not to be used afterwards. */
  async dispose(): Promise<void> {
    await this.settled();
    await this.registry.dispose();
  }

  async #start(
    begin: Beginning,
    decisions: ApprovalDecisions,
    options: AnyChatOptions,
    signal: AbortSignal,
    stream: boolean,
    emit: (event: AgentEvent) => void,
  ): Promise<DoneEvent> {
    begin.check();
    const exchange = this.#createExchange(options, decisions, signal, stream, emit);
    const done = await this.#occupy(signal, async () => {
      for (const content of this.#steering.take()) {
        this.conversation.append({ role: "user", content });
        emit({ type: "steered", content });
      }
      begin.apply();
      this.#steering.open();
      return await runLoop(exchange);
    });
    // Emitted once the agent is free: a listener may send the next message at once.
    emit(done);
    return done;
  }

  #withMessage(message: Content): Beginning {
    return {
      check: () => checkMessage(message),
      apply: () => {
        this.conversation.settlePending(UNDECIDED);
        this.conversation.append({ role: "user", content: wellFormed(message) });
      },
    };
  }

  #withDecisions(decisions: ApprovalDecisions): Beginning {
    return { check: () => checkDecisions(decisions, this.conversation), apply: () => undefined };
  }

  #createExchange(
    { context, output }: AnyChatOptions,
    decisions: ApprovalDecisions,
    signal: AbortSignal,
    stream: boolean,
    emit: (event: AgentEvent) => void,
  ): Exchange {
    const limits = loopLimits(this.#options, this.#provider);
    return {
      provider: this.#provider,
      tools: this.registry,
      conversation: this.conversation,
      limits,
      gate: this.#gate,
      hooks: this.#options.hooks ?? [],
      packHooks: () => this.registry.services.hooks,
      steps: this.#options.steps ?? DIRECT_STEPS,
      telemetry: this.#options.telemetry ?? NO_TELEMETRY,
      takeSteering: (taking) => this.#steering.take(taking),
      output: output === undefined ? undefined : createOutputReader(output),
      decisions,
      context,
      stream,
      signal,
      emit,
      scope: "",
      label: undefined,
      depth: 0,
      meter: new UsageMeter(),
      allowance: { turns: limits.maxTurns, children: limits.maxChildAgents },
    };
  }

  /**
   * Runs one exchange at a time. The caller is told of an abort at once; the exchange itself goes on until its tools
   * have returned, and the next one waits for that.
   */
  async #occupy<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#running && this.#isAborted) await orAborted(this.#idle(), signal);
    this.#checkIdle();
    this.#lateEvents = [];
    this.#isAborted = signal.aborted;
    const exchange = work();
    this.#running = exchange
      .catch(() => undefined)
      .then(() => {
        this.#steering.close();
        this.#running = undefined;
      });
    const onAborted = (): void => {
      this.#steering.close();
      this.#isAborted = true;
    };
    signal.addEventListener("abort", onAborted, { once: true });
    try {
      const result = await orAborted(exchange, signal);
      await this.#running;
      return result;
    } catch (error) {
      // On any failure but an abort nothing runs any more, and the caller may send the next message at once.
      if (!signal.aborted) await this.#running;
      throw error;
    } finally {
      signal.removeEventListener("abort", onAborted);
    }
  }

  async #idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  #checkIdle(): void {
    if (!this.#running) return;
    throw new AgentError(
      "busy",
      "This agent is answering another message. Wait for it, steer it, or use a second Agent.",
    );
  }
}

function checkMessage(message: unknown): void {
  if ((typeof message !== "string" && !Array.isArray(message)) || message.length === 0) {
    throw invalidArgument("message", "a non-empty string or an array of parts", message);
  }
  const problem = findContentProblem(message);
  if (problem === undefined) return;
  throw new AgentError("invalid_argument", `message ${problem}.`);
}

function checkDecisions(decisions: ApprovalDecisions, { pending }: Conversation): void {
  checkObject("decisions", decisions);
  if (!pending) {
    throw new AgentError("invalid_argument", "No call of this conversation waits for a decision.");
  }
  const waiting = pending.calls.map(({ id }) => id);
  const unknown = Object.keys(decisions).find((id) => !waiting.includes(id));
  if (unknown === undefined) return;
  throw new AgentError(
    "invalid_argument",
    `The call ${quote(unknown)} does not wait for a decision. Waiting: ${waiting.join(", ")}.`,
  );
}
