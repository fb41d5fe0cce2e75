import { describeValue, errorMessage } from "@agent/internal";
import { AgentError, isAgentError } from "../errors.js";
import { orAborted } from "../toolkit/abort.js";
import type { CallContext } from "../tools/callContext.js";
import type { AccessNeed, ToolCapability } from "../tools/types.js";

const ABORTED = "aborted before it was approved.";

/** A call that waits for permission, with the very arguments the tool will get. */
export interface ApprovalRequest {
  /** `""`, or the calls that led to the child agent that asks: with `turn` and `id` the key of the call's step. */
  readonly scope: string;
  readonly turn: number;
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** The accesses beyond the host's access rules that the call needs; allowing the call grants all of them. */
  readonly needs: readonly AccessNeed[];
  /** What the caller of `chat` passed as `context`. */
  readonly context?: CallContext;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/** `always` allows this tool for the rest of the agent's life; the reason of a denial goes to the model. */
export type ApprovalDecision = "allow" | "always" | { readonly deny: string };

/** Decisions about calls that waited for one, by the calls' ids. */
export type ApprovalDecisions = Readonly<Record<string, ApprovalDecision>>;

/** The call has not been decided and has not run. It waits in the conversation. */
export class SuspendedCall extends AgentError {
  readonly request: ApprovalRequest;

  constructor(request: ApprovalRequest, cause: unknown) {
    super("suspended", `${request.name} waits for a decision. Go on with agent.resume().`, { cause });
    this.request = request;
  }
}

/**
 * Decides about a call. `suspend`, or a rejection with an `AgentError` of code `suspended`, ends the message there: the
 * call waits in the conversation, which can be saved, until `resume` goes on with it. Any other failure denies the call.
 */
export type Approve = (
  request: ApprovalRequest,
) => ApprovalDecision | "suspend" | Promise<ApprovalDecision | "suspend">;

/** Asks for permission, one question at a time, and remembers each "always". */
export class ApprovalGate {
  readonly #approve: Approve;
  readonly #always = new Set<string>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(approve: Approve) {
    this.#approve = approve;
  }

  /** Resolves to the reason for a refusal, or to `undefined` if the call may run. */
  check(request: ApprovalRequest, given?: ApprovalDecision): Promise<string | undefined> {
    // Queued, so that parallel calls never ask over each other and an "always" holds for those still waiting.
    const answer = this.#last.then(() => this.#decide(request, given));
    this.#last = answer.catch(() => undefined);
    return answer;
  }

  async #decide(request: ApprovalRequest, given?: ApprovalDecision): Promise<string | undefined> {
    if (request.signal.aborted) return ABORTED;
    // "Always" covers calls within the access rules. A call that needs more is asked about each time.
    if (given === undefined && this.#always.has(request.name) && request.needs.length === 0) return undefined;
    try {
      // `approve` gets its own copy of the arguments: changing it cannot change what runs.
      const shown = { ...request, args: structuredClone(request.args) };
      const decision = given ?? (await orAborted(Promise.resolve(this.#approve(shown)), request.signal));
      if (decision === "allow") return undefined;
      if (decision === "always") {
        this.#always.add(request.name);
        return undefined;
      }
      if (decision === "suspend") throw new SuspendedCall(request, undefined);
      if (typeof decision?.deny === "string") return decision.deny || "no reason was given.";
      return `approve() returned ${describeValue(decision)}, which is not a decision.`;
    } catch (error) {
      if (error instanceof SuspendedCall) throw error;
      if (isAgentError(error, "suspended")) throw new SuspendedCall(request, error);
      if (isAgentError(error, "aborted")) return ABORTED;
      return `the approval failed: ${errorMessage(error)}`;
    }
  }
}
