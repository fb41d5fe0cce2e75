import { quote } from "@agent/internal";
import { type Content, findContentProblem, wellFormed } from "../conversation/content.js";
import type { Conversation } from "../conversation/conversation.js";
import { AgentError, isAgentError } from "../errors.js";
import { checkObject, invalidArgument } from "../toolkit/hostOptions/checks.js";
import type { ApprovalDecisions } from "./approval.js";
import { admitMessage, lifecycleOf } from "./hooks.js";
import type { Run } from "./run.js";

const UNDECIDED = "Not run: the user sent another message instead of a decision.";

/** Throws `invalid_argument` for a value that is not a message. */
export function checkMessage(message: unknown): void {
  if ((typeof message !== "string" && !Array.isArray(message)) || message.length === 0) {
    throw invalidArgument("message", "a non-empty string or an array of parts", message);
  }
  const problem = findContentProblem(message);
  if (problem === undefined) return;
  throw new AgentError("invalid_argument", `message ${problem}.`);
}

/** Throws `invalid_argument` unless every decision is about a pending call. */
export function checkDecisions(decisions: ApprovalDecisions, { pending }: Conversation): void {
  checkObject("decisions", decisions);
  if (!pending) {
    throw new AgentError("invalid_argument", "No tool call in this conversation is waiting for approval.");
  }
  const waiting = pending.calls.map(({ id }) => id);
  const unknown = Object.keys(decisions).find((id) => !waiting.includes(id));
  if (unknown === undefined) return;
  throw new AgentError(
    "invalid_argument",
    `The call ${quote(unknown)} is not waiting for approval. Waiting: ${waiting.join(", ")}.`,
  );
}

/** The index of a user message. Throws `invalid_argument` if no user message has this id. */
export function findReplaced(conversation: Conversation, id: string): number {
  const index = conversation.indexOf(id);
  if (conversation.sessionContext[index]?.role === "user") return index;
  throw invalidArgument("replaces", "the id of a message of the user in this conversation", id);
}

/** Throws `invalid_argument` if another message has this id already. */
export function checkNewId(conversation: Conversation, id: string | undefined, replaces?: string): void {
  if (id === undefined || id === replaces) return;
  if (id === "" || conversation.indexOf(id) !== -1) {
    throw invalidArgument("id", "an id that no message of this conversation has", id);
  }
}

/**
 * Adds the message that starts a run. Pending calls get a result saying that they did not run. With `replaces`, that
 * message and everything after it is removed first.
 */
export function addMessage(
  conversation: Conversation,
  content: Content,
  { from, replaces, id }: Partial<Record<"from" | "replaces" | "id", string | undefined>>,
): void {
  conversation.settlePending(UNDECIDED);
  if (replaces !== undefined) {
    const start = findReplaced(conversation, replaces);
    conversation.replace(start, conversation.sessionContext.length - start, []);
  }
  const said = {
    role: "user" as const,
    content: wellFormed(content),
    ...(from !== undefined && { from: from.toWellFormed() }),
  };
  conversation.append(said, id);
}

/** The queue of messages given to `steer`. The loop takes them between two model requests. */
export class SteeringQueue {
  #waiting: Content[] = [];
  #isOpen = false;

  open(): void {
    this.#isOpen = true;
  }

  close(): void {
    this.#isOpen = false;
  }

  /** Returns whether the message will be delivered. After the last answer it will not. */
  add(content: Content): boolean {
    if (this.#isOpen) this.#waiting.push(wellFormed(content));
    return this.#isOpen;
  }

  /** Returns the undelivered messages. With `last`, closes the queue if there are none. */
  take({ last = false } = {}): readonly Content[] {
    if (last && this.#waiting.length === 0) this.close();
    return this.#waiting.splice(0);
  }
}

/** Adds messages given to `steer`, unless a hook refuses them. Resolves to whether any was added. */
export async function steerWith(given: readonly Content[], run: Run): Promise<boolean> {
  const { emit, context, signal } = run;
  let isAdded = false;
  for (const content of given) {
    try {
      addSteered(run, content, await admitMessage({ content, context, signal }, lifecycleOf(run)));
      isAdded = true;
    } catch (error) {
      if (!isAgentError(error, "message_denied")) throw error;
      emit({ type: "notice", text: error.message });
    }
  }
  return isAdded;
}

/** Adds a message given to `steer`, as hooks changed it. */
export function addSteered({ conversation, emit }: Run, content: Content, admitted = content): void {
  const message = { role: "user" as const, content: admitted };
  conversation.append(message);
  emit({ type: "steered", id: conversation.infoOf(message).id, content });
}
