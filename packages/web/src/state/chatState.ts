import type {
  Content,
  ContentPart,
  ResultView,
  TokenUsage,
  ToolKind,
  ToolOutcome,
  ToolProgress,
} from "@agent/core";
import type { ChatAction, PendingApproval, PendingQuestion } from "../events.js";

/** The state of a conversation for a page. Plain JSON: it is sent to a page that connects. */
export interface ChatState {
  readonly messages: readonly ViewMessage[];
  readonly status: "idle" | "working" | "stopping";
  /** Calls that wait for a user, oldest first. */
  readonly approvals: readonly PendingApproval[];
  /** Questions of tools to the user, oldest first. */
  readonly questions: readonly PendingQuestion[];
  /** Messages cannot be edited or answered again: the conversation is a durable run. */
  readonly isFixed?: true;
  /** The actions that this client may take. Absent: all. */
  readonly actions?: readonly ChatAction["type"][];
  /** Why the last message failed. Removed when the next message is sent. */
  readonly error?: string;
  /** Set while the agent waits before it repeats a failed request to the provider. */
  readonly retry?: { readonly attempt: number; readonly delayMs: number; readonly reason: string };
  /** Tokens of the last message that was answered. */
  readonly usage?: TokenUsage;
  /** The tokens of the conversation, and its budget if known. */
  readonly context?: { readonly tokens: number; readonly limit?: number };
}

/** `id` is a key for lists, and editing needs the id of a user message. `at` is an ISO date. */
export type ViewMessage = { readonly id: string; readonly at?: string } & (
  | {
      readonly role: "user";
      readonly content: Content;
      /** The user did not write it: it is a summary, a correction or a notice, and cannot be edited or answered again. */
      readonly generated?: true;
      /** The sender, if it is not the user and is known: `job-1`. */
      readonly from?: string;
    }
  | { readonly role: "assistant"; readonly blocks: readonly Block[]; readonly stopped?: true }
);

/** The id of an answer, live or loaded: derived from the message that it answers. */
export function answerId(messages: readonly ViewMessage[]): string {
  return `answer-${messages.findLast(({ role }) => role === "user")?.id ?? "first"}`;
}

/** A part of an answer, in the order it came. */
export type Block = TextBlock | ReasoningBlock | NoticeBlock | CallBlock;

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ReasoningBlock {
  readonly type: "reasoning";
  readonly text: string;
}

/** A notice of the provider for the user, such as a schema that it simplified for the server. */
export interface NoticeBlock {
  readonly type: "notice";
  readonly text: string;
}

/**
 * `writing`: the model writes its arguments. `requested`: not started. `waiting`: the user must decide. `running`: it
 * runs. `ended`: it has finished, in a conversation whose file does not store the outcome. Otherwise the outcome.
 */
export type CallState = "writing" | "requested" | "waiting" | "running" | "ended" | ToolOutcome;

export interface CallBlock {
  readonly type: "call";
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly state: CallState;
  /** The targets of the call, on one line. */
  readonly title?: string;
  readonly kind?: ToolKind;
  /** The arguments' JSON as far as it was written, while `state` is `writing`. */
  readonly draft?: string;
  /** Live output: its last part. */
  readonly output: string;
  /** The result as the model read it, shortened. */
  readonly text?: string;
  readonly parts?: readonly ContentPart[];
  readonly summary?: string;
  /** How the result is rendered. Absent: render `text`. */
  readonly view?: ResultView;
  /** Its progress, while it runs. */
  readonly progress?: ToolProgress;
  readonly durationMs?: number;
  /** The id of the call that made this one: a script. Its block is earlier in the same answer. */
  readonly parent?: string;
  /** The blocks of its child agents. */
  readonly children?: readonly ChildBlocks[];
}

/** A child agent under its call. Its last block is its current work. */
export interface ChildBlocks {
  readonly label?: string;
  readonly blocks: readonly Block[];
  /** The tokens of its requests and answers so far, if the server reports them. */
  readonly tokens?: number;
  /** How long it had worked at its last event. */
  readonly elapsedMs?: number;
  /** Whether it has answered. */
  readonly isDone?: true;
}

export const EMPTY_CHAT: ChatState = { messages: [], status: "idle", approvals: [], questions: [] };

/** The text of a content, with the names of its images and files. */
export function contentText(content: Content): string {
  if (typeof content === "string") return content;
  return content
    .map((part) => (part.type === "text" ? part.text : `[${part.name ?? part.mediaType}]`))
    .join("\n");
}
