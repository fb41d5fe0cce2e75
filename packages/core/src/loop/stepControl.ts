import { isRecord } from "@agent/internal";
import type { ChatMessage, ChatProvider, Effort, TokenUsage, ToolChoice } from "../providers/interface.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  arrayOf,
  checkEffort,
  checkObject,
  invalidArgument,
  textsOf,
  type ValueCheck,
} from "../toolkit/hostOptions/checks.js";

/** The request that comes next, for `beforeRequest`. */
export interface NextRequest<Context = unknown> {
  /** How often the model has been asked for this message, this time included. */
  readonly turn: number;
  readonly messages: readonly ChatMessage[];
  /** The names of the tools that the model is offered. */
  readonly tools: readonly string[];
  /** The tokens of all requests for this message so far. */
  readonly usage: TokenUsage;
  readonly context?: Context;
}

/** What `beforeRequest` changes. It holds for this one request; the conversation stays as it is. */
export interface RequestChange {
  /** Another model. */
  readonly provider?: ChatProvider;
  /** The only tools of this request: others are not offered, and a call of one is refused. */
  readonly tools?: readonly string[];
  readonly toolChoice?: ToolChoice;
  /** The messages that are sent in place of the conversation. */
  readonly messages?: readonly ChatMessage[];
  readonly effort?: Effort;
}

/** A completed tool round, for `stopWhen`. */
export interface CompletedRound<Context = unknown> {
  readonly turn: number;
  /** The text beside the calls; often empty. */
  readonly text: string;
  /** The names of the tools that were called. */
  readonly calls: readonly string[];
  readonly usage: TokenUsage;
  readonly context?: Context;
}

/** Decides about the requests of one message. */
export interface StepControl<Context = unknown> {
  /**
   * Whether the model must call a tool. `required` and `{ tool }` hold for the first request of a message, so that it can
   * answer afterwards; `none` holds for all. Default: the model decides.
   */
  readonly toolChoice?: ToolChoice;
  /** Called before each request of this agent, not of its child agents. Changes that one request. A failure ends the message. */
  readonly beforeRequest?: (
    next: NextRequest<Context>,
  ) => RequestChange | undefined | Promise<RequestChange | undefined>;
  /**
   * Called after the tools of an answer have run. `true` ends the message there, with the `finishReason` `tool_calls`; the
   * next message continues after the results.
   */
  readonly stopWhen?: (round: CompletedRound<Context>) => boolean | Promise<boolean>;
}

const CHOICES = ["auto", "none", "required"];

export const checkToolChoice: ValueCheck = (name, value) => {
  if (CHOICES.some((choice) => choice === value)) return;
  if (isRecord(value) && typeof value.tool === "string") return;
  throw invalidArgument(name, '"auto", "none", "required" or { tool: name }', value);
};

const CHANGES: OptionChecks<RequestChange> = {
  provider: (name, value) => {
    if (typeof (value as Partial<ChatProvider> | null)?.respond === "function") return;
    throw invalidArgument(name, "a ChatProvider with respond()", value);
  },
  tools: textsOf("tool names"),
  toolChoice: checkToolChoice,
  messages: arrayOf("messages"),
  effort: checkEffort,
};

/** What `beforeRequest` returned. Throws `invalid_argument` for anything else than a change. */
export function readChange(change: unknown): RequestChange {
  if (change === undefined || change === null) return {};
  checkObject("The result of beforeRequest", change);
  checkOptions("beforeRequest", change as RequestChange, CHANGES);
  return change as RequestChange;
}

/** The choice for this request: one that forces a call holds for the first request of a message only. */
export function choiceFor(choice: ToolChoice | undefined, turn: number): ToolChoice | undefined {
  return turn === 1 || choice === "none" ? choice : undefined;
}
