import { quote } from "@agent/internal";
import { type Content, findContentProblem, wellFormed } from "../conversation/content.js";
import type { Conversation } from "../conversation/conversation.js";
import { AgentError } from "../errors.js";
import { checkObject, invalidArgument } from "../toolkit/hostOptions/checks.js";
import type { ApprovalDecisions } from "./approval.js";

const UNDECIDED = "Not run: the user sent another message instead of a decision.";

/**
 * What opens an exchange: a message, or decisions about calls that wait. `check` runs before the exchange takes the
 * agent's lock, `apply` after it.
 */
export interface Opening {
  readonly decisions: ApprovalDecisions;
  /** The message, if there is one: hooks may add to it or refuse it. */
  readonly message?: Content;
  check(): void;
  apply(message: Content, from: string | undefined): void;
}

export function openWithMessage(message: Content, conversation: Conversation, replaces?: string): Opening {
  return {
    decisions: {},
    message,
    check: () => {
      checkMessage(message);
      if (replaces !== undefined) findReplaced(conversation, replaces);
    },
    apply: (content, from) => {
      conversation.settlePending(UNDECIDED);
      if (replaces !== undefined) {
        const start = findReplaced(conversation, replaces);
        conversation.replace(start, conversation.sessionContext.length - start, []);
      }
      conversation.append({
        role: "user",
        content: wellFormed(content),
        ...(from !== undefined && { from: from.toWellFormed() }),
      });
    },
  };
}

export function openWithDecisions(decisions: ApprovalDecisions, conversation: Conversation): Opening {
  return { decisions, check: () => checkDecisions(decisions, conversation), apply: () => undefined };
}

/** The position of a message of the user. Throws `invalid_argument` if there is no such message. */
function findReplaced(conversation: Conversation, id: string): number {
  const index = conversation.indexOf(id);
  if (conversation.sessionContext[index]?.role === "user") return index;
  throw invalidArgument("replaces", "the id of a message of the user in this conversation", id);
}

/** Throws `invalid_argument` for a value that is not a message. */
export function checkMessage(message: unknown): void {
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
