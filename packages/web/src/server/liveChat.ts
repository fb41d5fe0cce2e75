import {
  type Agent,
  type AgentEvent,
  type ApprovalDecision,
  type ApprovalRequest,
  type Approve,
  type ChatMessage,
  type Content,
  type Conversation,
  isAgentError,
  type PackEntry,
  type PendingCall,
  type UserAnswer,
  type UserQuestion,
} from "@agent/core";
import { withTimeout } from "@agent/internal";
import type { ChatAction, ChatEvent, PendingQuestion } from "../events.js";
import type { ChatState } from "../state/chatState.js";
import { chatStateOf } from "../state/fromMessages.js";
import { reduceChat } from "../state/reduce.js";
import { ActionError, answerValues, messageForPage } from "./actions.js";
import { RunChat } from "./runChat.js";

/** Receives the events of a conversation, then `end` when it is closed in this process. */
export interface Follower {
  event(event: ChatEvent): void;
  end(): void;
}

/** The agent of a conversation, with its context and cleanup. An agent that declares a context needs one. */
export type OpenedChat<Context = unknown> = {
  readonly agent: Agent<readonly PackEntry[], Context>;
  /** Called once the conversation is closed: for example to close its recorder. */
  readonly close?: () => void | Promise<void>;
} & (unknown extends Context ? { readonly context?: unknown } : GivenContext<Context>);

interface GivenContext<Context> {
  /** Passed to every tool, hook and `approve`, like the option `context` of `chat`: for example the owner's id. */
  readonly context: Context;
}

export interface LiveChatOptions {
  readonly idleMs: number;
  /** Called when the chat becomes idle, which means that no page is connected and nothing runs, and when it is no longer. */
  readonly onIdleChange: (isIdle: boolean) => void;
  /** Called when the chat has been idle for `idleMs`: the owner then closes it. */
  readonly onExpired: () => void;
  /** Called with the error of a message that failed, and with one of closing. */
  readonly onError: (error: unknown) => void;
}

/** How a chat asks its user: about calls, and questions of tools. */
export interface ChatQuestions {
  readonly approve: Approve;
  readonly ask: (question: UserQuestion) => Promise<UserAnswer>;
}

// How long closing waits for the calls that need a decision to be recorded.
const SUSPEND_MS = 3000;

/**
 * A conversation that is open in this process: an agent, its state for pages, and the connected pages. The agent
 * continues when all pages are closed; a page that reconnects gets the state first.
 */
export class LiveChat {
  /** Tells a page whether its actions reach the conversation that it shows. Not the id, which may be a secret. */
  readonly name = crypto.randomUUID();
  readonly #followers = new Set<Follower>();
  readonly #waiting = new Map<string, (decision: ApprovalDecision | "suspend") => void>();
  readonly #asked = new Map<
    string,
    { readonly question: PendingQuestion; readonly resolve: (answer: UserAnswer) => void }
  >();
  /** The pending calls as they are stored: if the process is killed meanwhile, the next one asks again. */
  readonly #noted = new Map<string, PendingCall>();
  readonly #options: LiveChatOptions;
  readonly #opened: OpenedChat;
  readonly #agent: Agent;
  #state: ChatState;
  #turn: AbortController | undefined;
  /** Resolves when the current message has ended. */
  #answering: Promise<void> = Promise.resolve();
  #idleTimer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  private constructor(opened: OpenedChat, options: LiveChatOptions) {
    const { agent } = opened;
    this.#opened = opened;
    this.#agent = agent;
    this.#options = options;
    this.#state = chatStateOf(agent.conversation);
    this.#restartIdleTimer();
  }

  static async open(
    open: (questions: ChatQuestions) => Promise<OpenedChat | RunChat>,
    options: LiveChatOptions,
  ): Promise<LiveChat | RunChat> {
    let chat: LiveChat | undefined;
    const approve: Approve = (request) => {
      if (chat) return chat.#ask(request);
      return { deny: "no one can be asked yet: the conversation is being opened." };
    };
    const ask: ChatQuestions["ask"] = async (question) =>
      chat ? await chat.#askUser(question) : { answer: "dismissed" };
    const opened = await open({ approve, ask });
    if (opened instanceof RunChat) return await opened.begin(options);
    chat = new LiveChat(opened, options);
    // The saved conversation has pending calls: resuming asks about them again.
    if (chat.#agent.conversation.pending) {
      chat.#start({ type: "resumed" }, (signal) => chat.#agent.streamResume({}, chat.#callOptions(signal)));
    }
    return chat;
  }

  get conversation(): Conversation {
    return this.#agent.conversation;
  }

  get state(): ChatState {
    return this.#state;
  }

  /** Passes every event from now on to `follower`, until the returned function is called. */
  follow(follower: Follower): () => void {
    this.#followers.add(follower);
    this.#restartIdleTimer();
    return () => {
      this.#followers.delete(follower);
      this.#restartIdleTimer();
    };
  }

  /** Performs an action of a client with this context. Throws an `ActionError` if it is not possible now. */
  act(action: ChatAction, context?: unknown): void {
    if (this.#closed) throw new ActionError(503, "The server is closing this conversation. Try again.");
    if (action.type === "send") this.#send(action, context);
    else if (action.type === "decide") this.#decide(action.id, action.decision);
    else if (action.type === "answer") this.#answerQuestion(action.id, action.answer);
    else if (action.type === "regenerate") this.#regenerate(action.id, context);
    else this.#stop();
  }

  /** Stops the agent. Pending calls stay in the conversation: opening it again asks again. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    for (const follower of [...this.#followers]) follower.end();
    const isAsking = this.#waiting.size + this.#noted.size > 0;
    for (const suspend of this.#waiting.values()) suspend("suspend");
    for (const { resolve } of this.#asked.values()) resolve({ answer: "dismissed" });
    // An abort would end the pending calls. The agent may still preview others, and run tools beside them.
    if (isAsking) await withTimeout(this.#answering, SUSPEND_MS, () => undefined);
    this.#turn?.abort();
    try {
      await this.#agent.dispose();
    } finally {
      await this.#opened.close?.();
    }
  }

  #send({ content, replaces }: Extract<ChatAction, { type: "send" }>, context: unknown): void {
    if (replaces !== undefined) {
      this.#find(replaces);
      this.#answer(content, { id: crypto.randomUUID(), replaces }, context);
      return;
    }
    if (this.#turn) {
      if (!this.#turn.signal.aborted && this.#agent.steer(content)) return;
      throw new ActionError(409, "The agent is finishing its answer. Send the message again in a moment.");
    }
    this.#answer(content, { id: crypto.randomUUID() }, context);
  }

  /** Answers a message again under the same id. */
  #regenerate(wanted: string | undefined, context: unknown): void {
    const { conversation } = this.#agent;
    const newest = conversation.sessionContext.findLast(isOfUser);
    const id = wanted ?? (newest && conversation.infoOf(newest).id);
    if (id === undefined) throw new ActionError(409, "There is no message to answer again.");
    this.#answer(this.#find(id), { id, replaces: id }, context);
  }

  /** The content of the user message with this id. */
  #find(id: string): Content {
    if (this.#turn) throw new ActionError(409, "The agent is answering. Stop it first.");
    const message = this.#message(id);
    if (message && isOfUser(message)) return message.content;
    throw new ActionError(409, "This message of the user is not in the conversation any more.");
  }

  #message(id: string): ChatMessage | undefined {
    const { conversation } = this.#agent;
    return conversation.sessionContext[conversation.indexOf(id)];
  }

  #answer(
    content: Content,
    message: { readonly id: string; readonly replaces?: string },
    context: unknown,
  ): void {
    this.#start({ type: "sent", content, ...message }, (signal) =>
      this.#agent.streamChat(content, { ...this.#callOptions(signal, context), ...message }),
    );
  }

  #callOptions(
    signal: AbortSignal,
    context = this.#opened.context,
  ): { signal: AbortSignal; context?: unknown } {
    return { signal, ...(context !== undefined && { context }) };
  }

  #start(opening: ChatEvent, stream: (signal: AbortSignal) => AsyncIterable<AgentEvent>): void {
    const turn = new AbortController();
    this.#turn = turn;
    this.#restartIdleTimer();
    this.#tell(opening);
    const replaces = opening.type === "sent" ? opening.replaces : undefined;
    const replaced = replaces === undefined ? undefined : this.#message(replaces);
    this.#answering = this.#tellAll(stream(turn.signal), turn.signal, replaced);
  }

  async #tellAll(
    events: AsyncIterable<AgentEvent>,
    signal: AbortSignal,
    replaced: ChatMessage | undefined,
  ): Promise<void> {
    let end: ChatEvent | undefined;
    try {
      for await (const event of events) {
        if (event.type === "done") end = event;
        else this.#tell(event);
      }
    } catch (error) {
      // After an abort the tools return partial results; send these before "stopped".
      for (const event of await this.#agent.settled()) this.#tell(event);
      const isStopped = signal.aborted || (this.#closed && isAgentError(error, "suspended"));
      end = isStopped ? { type: "stopped" } : { type: "failed", message: messageForPage(error) };
      if (!isStopped) this.#options.onError(error);
    }
    // Accept the next message before a page is notified that this one is done.
    this.#turn = undefined;
    this.#tell(end ?? { type: "stopped" });
    // The new message was refused, so the one that it should replace is still there, with its answer: show both again.
    const { conversation } = this.#agent;
    if (replaced && conversation.sessionContext.includes(replaced)) {
      const { messages } = chatStateOf(conversation);
      this.#tell({ type: "snapshot", state: { ...this.#state, messages } });
    }
    this.#restartIdleTimer();
    // No page learns that its messages are not stored, so the server's log must say it.
    conversation.flush().catch(this.#options.onError);
  }

  #stop(): void {
    if (!this.#turn) return;
    this.#turn.abort();
    this.#tell({ type: "stopping" });
  }

  async #ask(request: ApprovalRequest): Promise<ApprovalDecision | "suspend"> {
    if (this.#closed) return "suspend";
    const { id: callId, name, args, capabilities, description, preview, label, directory, signal } = request;
    const id = crypto.randomUUID();
    // A question of a child agent or a nested call is asked again by the call that contains it.
    if (request.scope === "" && request.parent === undefined) {
      this.#noted.set(callId, {
        id: callId,
        name,
        args,
        capabilities,
        description,
        ...(preview && { preview }),
      });
      this.#agent.conversation.noteWaiting([...this.#noted.values()]);
      // A question that pages have seen must survive a crash. If it cannot be stored, it is asked anyway.
      await this.#agent.conversation.flush().catch(this.#options.onError);
    }
    const decision = await new Promise<ApprovalDecision | "suspend">((resolve) => {
      if (this.#closed) return resolve("suspend");
      if (signal.aborted) return resolve({ deny: "the user stopped the agent." });
      this.#waiting.set(id, resolve);
      signal.addEventListener("abort", () => resolve({ deny: "the user stopped the agent." }), {
        once: true,
      });
      this.#tell({
        type: "approval",
        request: {
          id,
          callId,
          name,
          args,
          capabilities,
          description,
          ...(preview && { preview }),
          ...(label !== undefined && { label }),
          ...(directory !== undefined && { directory }),
        },
      });
    });
    this.#waiting.delete(id);
    // A suspended call stays recorded: the agent stores the whole tool round.
    if (this.#noted.delete(callId) && decision !== "suspend") {
      this.#agent.conversation.noteWaiting([...this.#noted.values()]);
    }
    this.#tell({ type: "decided", id });
    return decision;
  }

  #decide(id: string, decision: ApprovalDecision): void {
    const resolve = this.#waiting.get(id);
    if (!resolve) throw new ActionError(409, "This call does not wait for a decision any more.");
    resolve(decision);
  }

  /** Shows a question of a tool on the pages until one of them answers it, or its answer is no longer needed. */
  async #askUser({ signal, ...asked }: UserQuestion): Promise<UserAnswer> {
    if (this.#closed || signal.aborted) return { answer: "dismissed" };
    const question: PendingQuestion = { ...asked, id: crypto.randomUUID() };
    const answer = await new Promise<UserAnswer>((resolve) => {
      this.#asked.set(question.id, { question, resolve });
      signal.addEventListener("abort", () => resolve({ answer: "dismissed" }), { once: true });
      this.#tell({ type: "question", question });
    });
    this.#asked.delete(question.id);
    this.#tell({ type: "answered", id: question.id });
    return answer;
  }

  #answerQuestion(id: string, answer: UserAnswer): void {
    const asked = this.#asked.get(id);
    if (!asked) throw new ActionError(409, "This question does not wait for an answer any more.");
    const { question, resolve } = asked;
    resolve(
      answer.answer === "yes"
        ? { answer: "yes", values: answerValues(question.fields, answer.values) }
        : answer,
    );
  }

  #tell(given: ChatEvent): void {
    const begins =
      given.type === "sent" || given.type === "steered" || this.#state.messages.at(-1)?.role === "user";
    const event = begins ? { ...given, at: new Date().toISOString() } : given;
    this.#state = reduceChat(this.#state, event);
    for (const follower of this.#followers) follower.event(event);
  }

  #restartIdleTimer(): void {
    const { idleMs, onIdleChange, onExpired } = this.#options;
    clearTimeout(this.#idleTimer);
    const isIdle = this.#followers.size === 0 && !this.#turn && !this.#closed;
    onIdleChange(isIdle);
    if (!isIdle) return;
    this.#idleTimer = setTimeout(onExpired, idleMs);
    // The timer must not keep the process alive. In edge runtimes a timer is a number, without `unref`.
    if (typeof this.#idleTimer === "object") this.#idleTimer.unref();
  }
}

/** Whether the user wrote it: not a summary, a correction or a notice. */
function isOfUser(message: ChatMessage): message is Extract<ChatMessage, { role: "user" }> {
  return message.role === "user" && !message.generated && message.from === undefined;
}
