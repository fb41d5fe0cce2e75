import type { Conversation } from "../conversation/conversation.js";
import { AgentError } from "../errors.js";
import { orAborted } from "../toolkit/abort.js";
import { onAbort } from "../toolkit/onAbort.js";

/**
 * Allows one active run at a time, in an agent and in its conversation. An abort rejects the caller's promise
 * immediately; the run itself continues until its tools have returned, and the next run waits for that.
 */
export class RunLock {
  readonly #conversation: Conversation;
  readonly #onStopped: () => void;
  /** The active run, or one that was aborted and still waits for its tools. Never rejects. */
  #running: Promise<unknown> | undefined;
  #isAborted = false;

  /** `onStopped` is called when a run has ended, or earlier when it is aborted. */
  constructor(conversation: Conversation, onStopped: () => void) {
    this.#conversation = conversation;
    this.#onStopped = onStopped;
  }

  /**
   * Runs `work` exclusively. Throws `busy` while another run is active here or in the conversation; waits for one that
   * was aborted.
   */
  async hold<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    if (this.#running && this.#isAborted) await orAborted(this.idle(), signal);
    this.checkIdle();
    const leave = this.#conversation.reserve();
    this.#isAborted = signal.aborted;
    const running = work();
    this.#running = running
      .catch(() => undefined)
      .then(() => {
        this.#onStopped();
        leave();
        this.#running = undefined;
      });
    const release = onAbort(signal, () => {
      this.#onStopped();
      this.#isAborted = true;
    });
    try {
      const result = await orAborted(running, signal);
      await this.#running;
      return result;
    } catch (error) {
      // After any failure other than an abort no tool is running, so the caller may send the next message immediately.
      if (!signal.aborted) await this.#running;
      throw error;
    } finally {
      release();
    }
  }

  /** Resolves once nothing is running. */
  async idle(): Promise<void> {
    while (this.#running) await this.#running;
  }

  checkIdle(): void {
    if (!this.#running) return;
    throw new AgentError(
      "busy",
      "This agent is answering another message. Wait for it, steer it, or use a second Agent with its own Conversation.",
    );
  }
}
