import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import {
  Agent,
  type ApprovalDecision,
  type ApprovalRequest,
  type ChatProvider,
  Conversation,
  isAgentError,
  loadSession,
  recordSession,
  type SessionRecorder,
} from "@agent/core";
import * as fs from "@agent/tools-fs";
import { EventLog } from "./eventLog.js";

/** One user's agent: a conversation that is kept on disk, files of the user's own, and questions that wait. */
export class UserSession {
  readonly events = new EventLog();
  readonly #agent: Agent;
  readonly #recorder: SessionRecorder;
  readonly #questions = new Map<string, (decision: ApprovalDecision) => void>();
  #stop: AbortController | undefined;

  /** Goes on with the user's conversation, if there is one. */
  static async open(directory: string, user: string, provider: ChatProvider): Promise<UserSession> {
    // A user's name must not become a path.
    const home = join(directory, encodeURIComponent(user).replaceAll(".", "%2E"));
    const files = join(home, "files");
    await mkdir(files, { recursive: true });
    const path = join(home, "conversation.jsonl");
    const conversation = new Conversation(existsSync(path) ? { session: await loadSession(path) } : {});
    return new UserSession(provider, conversation, recordSession(conversation, path), files);
  }

  private constructor(
    provider: ChatProvider,
    conversation: Conversation,
    recorder: SessionRecorder,
    files: string,
  ) {
    this.#recorder = recorder;
    this.#agent = new Agent(provider, {
      conversation,
      packs: [[fs, { root: files }]],
      disable: ["save_session_context"],
      systemPrompt: `You help a person with the files in ${files}.`,
      approve: (request) => this.#ask(request),
    });
  }

  get messages(): readonly unknown[] {
    return this.#agent.context.sessionContext;
  }

  get isBusy(): boolean {
    return this.#stop !== undefined;
  }

  /** Starts to answer a message. It goes on when the client is gone; `events` tells what happens. */
  start(text: string): void {
    this.#stop = new AbortController();
    this.events.open();
    void this.#answer(text, this.#stop.signal);
  }

  async #answer(text: string, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of this.#agent.streamChat(text, { signal })) this.events.append(event);
    } catch (error) {
      const code = isAgentError(error) ? error.code : "internal";
      this.events.append({
        type: "error",
        code,
        message: error instanceof Error ? error.message : String(error),
      });
      for (const event of await this.#agent.settled()) this.events.append(event);
    } finally {
      this.#stop = undefined;
      this.events.close();
    }
  }

  stop(): void {
    this.#stop?.abort();
  }

  /** Answers a question of the agent. Returns whether it was open. */
  decide(id: string, decision: ApprovalDecision): boolean {
    const answer = this.#questions.get(id);
    this.#questions.delete(id);
    answer?.(decision);
    return answer !== undefined;
  }

  /** Stops what runs and ends the tools. */
  async close(): Promise<void> {
    this.stop();
    await this.#agent.dispose();
    await this.#recorder.close();
  }

  #ask({
    id,
    name,
    args,
    capabilities,
    signal,
  }: ApprovalRequest): ApprovalDecision | Promise<ApprovalDecision> {
    const onlyReads = capabilities.length > 0 && capabilities.every((one) => one === "read");
    if (onlyReads) return "allow";
    return new Promise((resolve) => {
      this.#questions.set(id, resolve);
      signal.addEventListener("abort", () => this.decide(id, { deny: "stopped" }), { once: true });
      this.events.append({ type: "approval", id, name, args });
    });
  }
}
