import { linkedController } from "./abort.js";
import { ApprovalGate, type Approve } from "./approval.js";
import { AgentError } from "./errors.js";
import { EventQueue } from "./eventQueue.js";
import type { AgentEvent, DoneEvent } from "./events.js";
import { findHistoryProblem } from "./history.js";
import { type LoopLimits, runLoop } from "./loop.js";
import type { ChatMessage, ChatProvider } from "./providers/interface.js";
import type { Session } from "./session.js";
import {
  arrayOf,
  checkFunction,
  checkObject,
  checkPositive,
  checkSignal,
  checkText,
  invalidArgument,
  textsOf,
} from "./toolkit/checks.js";
import { checkOptions, type OptionChecks } from "./toolkit/options.js";
import { type CreateRegistryOptions, createToolRegistry, type PackEntry } from "./tools/factory.js";
import type { ChatTool, ExecutableTool } from "./tools/interface.js";
import type { ToolRegistry } from "./tools/registry.js";
import type { RegisterOptions, ToolContext } from "./tools/types.js";

const DEFAULTS = {
  maxTurns: 100,
  maxRepeats: 10,
  maxTurnOutputBytes: 512 * 1024,
  sessionContextFilePath: "agent-session.json",
};

export interface AgentOptions {
  readonly systemPrompt?: string;
  /** The packs whose tools the agent has: `[fs, [bash, { limits: { timeoutMs: 5000 } }]]`. */
  readonly packs?: readonly PackEntry[];
  /** Tools to turn on although their pack declares them disabled. */
  readonly enable?: readonly string[];
  /** Tools to turn off. */
  readonly disable?: readonly string[];
  /** Builds the registry instead of `packs`, `enable` and `disable`, for a host that composes its own. */
  readonly createRegistry?: (context: ToolContext) => ToolRegistry;
  /** A saved conversation to go on with. */
  readonly session?: Session;
  /** Where `save_session_context` writes. Default: `agent-session.json` in the working directory. */
  readonly sessionContextFilePath?: string;
  /** Asked before each tool call that could run. Without it nothing is asked. */
  readonly approve?: Approve;
  /** How often the model is asked for one message. Default 100. */
  readonly maxTurns?: number;
  /** How often the same calls may give the same results in a row. Default 10. */
  readonly maxRepeats?: number;
  /** What all tool results of one turn may hold together, in bytes. Default 512 KiB. */
  readonly maxTurnOutputBytes?: number;
  /** The conversation's budget in tokens, estimated. Default: none; a model that complains is asked again with less. */
  readonly contextTokens?: number;
}

const AGENT_OPTIONS: OptionChecks<AgentOptions> = {
  systemPrompt: checkText,
  packs: arrayOf("packs"),
  enable: textsOf("tool names"),
  disable: textsOf("tool names"),
  createRegistry: checkFunction,
  session: checkObject,
  sessionContextFilePath: checkText,
  approve: checkFunction,
  maxTurns: checkPositive,
  maxRepeats: checkPositive,
  maxTurnOutputBytes: checkPositive,
  contextTokens: checkPositive,
};

export interface ChatOptions {
  readonly signal?: AbortSignal;
}

const CHAT_OPTIONS: OptionChecks<ChatOptions> = { signal: checkSignal };

/**
 * A conversation with a model that has tools. It keeps the history, runs the loop and reports what happens;
 * it never prints, and knows no tool.
 */
export class Agent {
  /** The agent's live state, as its tools see it. */
  readonly context: ToolContext;
  readonly registry: ToolRegistry;
  readonly #provider: ChatProvider;
  readonly #messages: ChatMessage[] = [];
  readonly #limits: LoopLimits;
  readonly #approvals: ApprovalGate | undefined;
  #systemPrompt: string;
  #busy = false;

  constructor(provider: ChatProvider, options: AgentOptions = {}) {
    if (typeof provider?.respond !== "function") {
      throw invalidArgument("provider", "a ChatProvider with respond()", provider);
    }
    checkOptions("Agent", options, AGENT_OPTIONS);
    this.#provider = provider;
    this.#systemPrompt = options.systemPrompt ?? options.session?.systemPrompt ?? "";
    checkText("session.systemPrompt", this.#systemPrompt);
    this.#messages.push(...intactMessages(options.session));
    this.#approvals = options.approve === undefined ? undefined : new ApprovalGate(options.approve);
    this.#limits = {
      maxTurns: options.maxTurns ?? DEFAULTS.maxTurns,
      maxRepeats: options.maxRepeats ?? DEFAULTS.maxRepeats,
      maxTurnOutputBytes: options.maxTurnOutputBytes ?? DEFAULTS.maxTurnOutputBytes,
      contextTokens: options.contextTokens,
    };
    this.context = this.#createContext(options.sessionContextFilePath ?? DEFAULTS.sessionContextFilePath);
    this.registry =
      options.createRegistry === undefined
        ? createToolRegistry(this.context, options.packs, switches(options))
        : ownRegistry(options.createRegistry, this.context);
  }

  /** Sends a message and resolves to the model's final answer. Rejects with an `AgentError`. */
  async chat(message: string, options: ChatOptions = {}): Promise<string> {
    return await this.#exchange(message, false, signalOf(options), () => undefined);
  }

  /**
   * As `chat`, reporting what happens as it happens. Leaving the loop early aborts the request and the
   * running tools; the conversation stays valid.
   */
  async *streamChat(message: string, options: ChatOptions = {}): AsyncGenerator<AgentEvent, void, undefined> {
    const queue = new EventQueue<AgentEvent>();
    const { controller, release } = linkedController(signalOf(options));
    const exchange = this.#exchange(message, true, controller.signal, queue.push).finally(() => queue.end());
    // Rejections are thrown where the exchange is awaited below; this keeps Node from calling them unhandled.
    exchange.catch(() => undefined);
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
        await exchange.catch(() => undefined);
      }
    }
    await exchange;
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

  /** Saves the conversation through the `save_session_context` tool; resolves to its text, also on failure. */
  async saveContext(reason: string): Promise<string> {
    return await this.registry.execute("save_session_context", { reason });
  }

  /** Forgets the conversation; the system prompt and the tools stay. Throws while a message is answered. */
  clearContext(): void {
    this.#checkIdle();
    this.#messages.length = 0;
  }

  /** Takes effect with the next request to the model. */
  setSystemPrompt(prompt: string): void {
    checkText("prompt", prompt);
    this.#systemPrompt = prompt;
  }

  async #exchange(
    message: string,
    stream: boolean,
    signal: AbortSignal = new AbortController().signal,
    emit: (event: AgentEvent) => void,
  ): Promise<string> {
    if (typeof message !== "string" || message === "") {
      throw invalidArgument("message", "a non-empty string", message);
    }
    this.#checkIdle();
    this.#busy = true;
    let done: DoneEvent;
    try {
      this.#messages.push({ role: "user", content: message.toWellFormed() });
      const state = {
        provider: this.#provider,
        registry: this.registry,
        messages: this.#messages,
        systemPrompt: () => this.#systemPrompt,
        approvals: this.#approvals,
        limits: this.#limits,
      };
      done = await runLoop(state, { stream, signal, emit });
    } finally {
      this.#busy = false;
    }
    // Last of all: whoever hears it may send the next message at once.
    emit(done);
    return done.text;
  }

  #checkIdle(): void {
    if (!this.#busy) return;
    throw new AgentError(
      "busy",
      "This agent is answering another message. Wait for it, or use a second Agent.",
    );
  }

  #createContext(sessionContextFilePath: string): ToolContext {
    const systemPrompt = () => this.#systemPrompt;
    const messages = this.#messages;
    return {
      get systemPrompt() {
        return systemPrompt();
      },
      get sessionContext() {
        return messages;
      },
      sessionContextFilePath,
    };
  }
}

function signalOf(options: ChatOptions): AbortSignal | undefined {
  checkOptions("chat", options, CHAT_OPTIONS);
  return options.signal;
}

function switches({ enable, disable }: AgentOptions): CreateRegistryOptions {
  return { ...(enable && { enable }), ...(disable && { disable }) };
}

function ownRegistry(
  createRegistry: NonNullable<AgentOptions["createRegistry"]>,
  context: ToolContext,
): ToolRegistry {
  const registry = createRegistry(context);
  if (typeof registry?.run !== "function") {
    throw invalidArgument("what createRegistry returns", "a ToolRegistry", registry);
  }
  return registry;
}

function intactMessages(session: Session | undefined): readonly ChatMessage[] {
  if (session === undefined) return [];
  const problem = findHistoryProblem(session?.messages);
  if (problem === undefined) return session.messages;
  throw new AgentError("session_invalid", `The session cannot be continued: ${problem}.`);
}
