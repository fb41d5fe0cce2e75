import {
  AgentError,
  type AgentErrorCode,
  type ChatResponse,
  isAgentError,
  type ToolResult,
} from "@agent/core";
import type { AnswerKey, CallKey, Steps } from "@agent/core/host";
import type { JournalEntry } from "../engine/engine.js";
import type { RunError } from "../engine/run.js";
import { StoppedError } from "../engine/stopped.js";
import type { JournalWriter } from "./journalWriter.js";
import { answerKey, callKey, exchangePrefix, MESSAGES_KEY } from "./keys.js";

const INTERRUPTED =
  "Interrupted: the worker that ran this call was lost before the call ended, so it may or may not have run, wholly or in part. What it had started in the background may have ended. Check before you repeat it.";

/** Decides when a model may be called, and what a failure means for the run. */
export interface ModelCallGate {
  /** Resolves when the model may be called; with `mayLeave` it may reject to suspend the run. */
  before(model: string | undefined, mayLeave: boolean): Promise<void>;
  succeeded(model: string | undefined): Promise<void>;
  /** Resolves to the error that the agent gets. */
  failed(error: unknown, model: string | undefined, mayLeave: boolean): Promise<unknown>;
  /** Called when a step was completed. */
  progressed(): void;
}

/** Delivers messages that were sent to the run to its agent, after the current answer. */
export interface MessageGate {
  /**
   * The number of messages delivered to the run. With `until`, delivers those up to that number, as in an earlier
   * claim.
   */
  deliver(until?: number): number;
}

export interface JournalOptions {
  readonly entries: readonly JournalEntry[];
  readonly writer: Pick<JournalWriter, "add" | "settle">;
  readonly models: ModelCallGate;
  readonly messages: MessageGate;
}

/**
 * The steps of a run, recorded in a journal. A step with a result is never run again; an interrupted call is run again
 * only if it is repeatable, and otherwise the model is informed once that it may or may not have run.
 */
export class JournalSteps implements Steps {
  readonly #entries = new Map<string, JournalEntry>();
  readonly #writer: JournalOptions["writer"];
  readonly #models: ModelCallGate;
  readonly #messages: MessageGate;
  #prefix = "";
  /** The running calls that cannot be repeated: leaving the run would lose them. */
  #openIntents = 0;
  #isClosed = false;
  #asked = 0;

  constructor({ entries, writer, models, messages }: JournalOptions) {
    for (const entry of entries) this.#entries.set(entry.key, entry);
    this.#writer = writer;
    this.#models = models;
    this.#messages = messages;
  }

  /**
   * Assigns the following steps to this exchange: 0 for the run's own message, then one for each message that continues
   * it.
   */
  startExchange(exchange: number): void {
    this.#prefix = exchangePrefix(exchange);
    const key = `${this.#prefix}start${MESSAGES_KEY}`;
    if (exchange === 0 || this.#entries.has(key)) return;
    this.#keep({ key, kind: "result", value: this.#messages.deliver(0) });
  }

  /** The number of answers, including recorded ones. */
  get asked(): number {
    return this.#asked;
  }

  /** Starts no further steps; running ones may finish and are recorded. */
  close(): void {
    this.#isClosed = true;
  }

  /** Whether the run can leave its worker without losing a call. */
  get mayLeave(): boolean {
    return this.#openIntents === 0;
  }

  async answer(key: AnswerKey, ask: () => Promise<ChatResponse>): Promise<ChatResponse> {
    const name = this.#prefix + answerKey(key);
    this.#asked++;
    const known = this.#entries.get(name);
    const isOwn = key.scope === "" && key.kind === "answer";
    if (known?.kind === "result") {
      if (isOwn && this.#entries.has(name + MESSAGES_KEY)) this.#exchangeMessages(name);
      return known.value as ChatResponse;
    }
    if (known?.kind === "error") throw recordedError(known.value as RunError);
    this.#checkOpen();
    await this.#models.before(key.model, this.mayLeave);
    let response: ChatResponse;
    try {
      response = await ask();
    } catch (thrown) {
      const error = await this.#models.failed(thrown, key.model, this.mayLeave);
      if (decidesTheRest(key, error)) {
        this.#keep({ key: name, kind: "error", value: { code: error.code, message: error.message } });
      }
      throw error;
    }
    this.#keep({ key: name, kind: "result", value: response });
    if (isOwn) this.#exchangeMessages(name);
    await this.#models.succeeded(key.model);
    return response;
  }

  /** Delivers messages at this point of the run: those that an earlier claim delivered here, or new ones. */
  #exchangeMessages(name: string): void {
    const key = name + MESSAGES_KEY;
    const known = this.#entries.get(key);
    const before = this.#messages.deliver(0);
    const count = this.#messages.deliver(known ? Number(known.value) : undefined);
    if (!known && count > before) this.#keep({ key, kind: "result", value: count });
  }

  async call(
    key: CallKey,
    run: (intent?: () => void | Promise<void>) => Promise<ToolResult>,
  ): Promise<ToolResult> {
    const name = this.#prefix + callKey(key);
    const known = this.#entries.get(name);
    if (known?.kind === "result") return known.value as ToolResult;
    this.#checkOpen();
    if (known?.kind === "intent" && !key.repeatable) {
      const told: ToolResult = { outcome: "interrupted", text: INTERRUPTED, durationMs: 0 };
      this.#keep({ key: name, kind: "result", value: told });
      return told;
    }
    let hasIntent = false;
    const result = await run(async () => {
      this.#checkOpen();
      // A repeatable call needs no intent: without a result it is run again in any case.
      if (key.repeatable) return;
      this.#keep({ key: name, kind: "intent", value: null });
      hasIntent = true;
      this.#openIntents++;
      // The only point where the run waits for its journal: the following call must not happen twice.
      await this.#writer.settle();
    }).finally(() => {
      if (hasIntent) this.#openIntents--;
    });
    if (result.outcome !== "aborted") this.#keep({ key: name, kind: "result", value: result });
    return result;
  }

  #keep(entry: JournalEntry): void {
    this.#entries.set(entry.key, entry);
    if (entry.kind === "result") this.#models.progressed();
    this.#writer.add(entry);
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new StoppedError("closing");
  }
}

/**
 * Whether the run continues after this failure, so that it must be recorded: a conversation that was too long is
 * compacted, a failed summary is skipped. Any other failure ends the run, and a retry of the run asks again.
 */
function decidesTheRest({ kind }: AnswerKey, error: unknown): error is AgentError {
  if (isAgentError(error, "context_overflow")) return true;
  return kind === "summary" && isAgentError(error, "provider_failed");
}

function recordedError({ code, message }: RunError): AgentError {
  return new AgentError(code as AgentErrorCode, message);
}
