import { describeValue, errorMessage, isRecord } from "@agent/internal";
import { AgentError, isAgentError } from "../errors.js";
import type { Ruling } from "../rules/decide.js";
import { orAborted } from "../toolkit/abort.js";
import { type CallPreview, type DescribedCall, isWithinShown, stableJson } from "../tools/callDescription.js";
import type { ToolCapability } from "../tools/tool.js";

const ABORTED = "aborted before it was approved.";

/** A call that waits for approval, with the exact arguments the tool will get. */
export interface ApprovalRequest<Context = unknown> {
  /**
   * `""`, or the path of calls to the child agent that asks. Together with `turn` and `id` it is the key of the call's
   * step.
   */
  readonly scope: string;
  readonly turn: number;
  readonly id: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly capabilities: readonly ToolCapability[];
  /** The targets of the call, and the access it needs beyond the host's rules: allowing the call grants all `needs`. */
  readonly description: DescribedCall;
  /** A preview of the change, if the tool provides one. Absent while rules decide: creating it may take seconds. */
  readonly preview?: CallPreview;
  /** The label of the child agent that makes the call. */
  readonly label?: string;
  /** Where the child agent that makes the call works, if it has its own work tree. */
  readonly directory?: string;
  /** The id of the call that this one is nested in. */
  readonly parent?: string;
  /** Set if the call cannot wait for a later decision, because the call around it cannot run again. */
  readonly cannotWait?: true;
  /** The `context` that was passed to `chat`. */
  readonly context: Context;
  /** Aborts when the answer is no longer wanted. */
  readonly signal: AbortSignal;
}

/**
 * `"always"` allows this tool for the rest of the agent's life, `{ always }` whatever the rule covers, such as
 * `run_bash(npm test *)`. The reason of a denial is sent to the model.
 */
export type ApprovalDecision = "allow" | "always" | { readonly always: string } | { readonly deny: string };

/** Rules that decide about calls before `approve` is asked, including calls that a user approved earlier. */
export interface CallRules {
  /** A failure denies the call. */
  decide(request: ApprovalRequest): Ruling | Promise<Ruling>;
  /** Adds the rule that a user chose when asked. */
  allow(rule: string, request: ApprovalRequest): void | Promise<void>;
}

/** Decisions about pending calls, by call id. Each is valid only for what was shown with the call. */
export type ApprovalDecisions = Readonly<Record<string, ApprovalDecision>>;

/** The call is undecided and has not run. It stays pending in the conversation. */
export class SuspendedCall extends AgentError {
  readonly request: ApprovalRequest;

  constructor(request: ApprovalRequest, cause: unknown) {
    super("suspended", `${request.name} waits for a decision. Continue with agent.resume().`, { cause });
    this.request = request;
  }
}

/** The values `approve` may return. */
type Decided = ApprovalDecision | "suspend";

/**
 * Decides about a call. `suspend`, or a rejection with an `AgentError` of code `suspended`, ends the run: the call
 * stays pending in the conversation, which can be saved, until `resume` continues it. Any other failure denies the
 * call.
 */
export type Approve<Context = unknown> = (request: ApprovalRequest<Context>) => Decided | Promise<Decided>;

/**
 * `Approve` as accepted in an agent's options. TypeScript widens the result of `async () => "allow"` to `string`, so
 * any string is accepted; at run time a string that is not a decision denies the call.
 */
export type GivenApprove<Context = unknown> = (
  request: ApprovalRequest<Context>,
) => Decided | Promise<Decided | (string & Record<never, never>)>;

/** A decision about a pending call, and what was shown with the call. */
export interface LateDecision {
  readonly decision: ApprovalDecision;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly shown: DescribedCall | undefined;
  /** The token of the preview that was shown. */
  readonly basis: string | undefined;
}

/** `refuse` means that the tool itself would refuse the call. */
export type GateAnswer =
  | { readonly type: "run"; readonly basis?: string | undefined }
  | { readonly type: "deny"; readonly reason: string }
  | { readonly type: "refuse"; readonly reason: string };

const RUN: GateAnswer = { type: "run" };

/** Decides about calls by the rules, then by asking, one question at a time. */
export class ApprovalGate {
  readonly #approve: GivenApprove;
  readonly #rules: CallRules;
  /** The calls that are not decided about yet, and a promise that resolves when they are. */
  readonly #queue: { size: number; last: Promise<void> };

  /** With `queue`, questions wait for those of another gate. */
  constructor(approve: GivenApprove, rules: CallRules, queue?: ApprovalGate) {
    this.#approve = approve;
    this.#rules = rules;
    this.#queue = queue ? queue.#queue : { size: 0, last: Promise.resolve() };
  }

  /** Decides about a call. Rejects only with a `SuspendedCall`. `preview` is called only before a question. */
  check(
    request: ApprovalRequest,
    preview: () => Promise<CallPreview | undefined>,
    late?: LateDecision,
  ): Promise<GateAnswer> {
    const queue = this.#queue;
    const earlier = queue.size === 0 ? undefined : queue.last;
    const answer = this.#decide(request, preview, late, earlier);
    queue.size++;
    queue.last = Promise.allSettled([earlier, answer]).then(() => {
      queue.size--;
    });
    return answer;
  }

  async #decide(
    request: ApprovalRequest,
    preview: () => Promise<CallPreview | undefined>,
    late: LateDecision | undefined,
    earlier: Promise<void> | undefined,
  ): Promise<GateAnswer> {
    const { signal } = request;
    if (signal.aborted) return deny(ABORTED);
    let shown = request;
    try {
      const rule = () => orAborted(Promise.resolve(this.#rules.decide(request)), signal);
      let ruling = await rule();
      if (ruling.type === "ask" && earlier) {
        // Parallel calls never ask at the same time, and the "always" of one applies to those still waiting.
        await orAborted(earlier, signal);
        ruling = await rule();
      }
      if (ruling.type === "deny") return ruling;
      if (ruling.type === "allow") return RUN;
      if (late && counts(late, request)) {
        return await this.#apply(late.decision, request, late.basis);
      }
      const change = await preview();
      if (change?.refusal !== undefined) return { type: "refuse", reason: change.refusal };
      // `approve` gets its own copy of the arguments, so changing it cannot change what runs.
      shown = { ...request, args: structuredClone(request.args), ...(change && { preview: change }) };
      const decision = await orAborted(Promise.resolve(this.#approve(shown)), signal);
      if (decision === "suspend") throw new SuspendedCall(shown, undefined);
      return await this.#apply(decision, request, change?.basis);
    } catch (error) {
      if (error instanceof SuspendedCall) throw error;
      if (isAgentError(error, "suspended")) throw new SuspendedCall(shown, error);
      if (isAgentError(error, "aborted")) return deny(ABORTED);
      return deny(`the approval failed: ${errorMessage(error)}`);
    }
  }

  async #apply(given: unknown, request: ApprovalRequest, basis: string | undefined): Promise<GateAnswer> {
    if (given === "always") await this.#rules.allow(request.name, request);
    else if (isRecord(given) && typeof given.always === "string") {
      await this.#rules.allow(given.always, request);
    } else if (isRecord(given) && typeof given.deny === "string") {
      return deny(given.deny || "no reason was given.");
    } else if (given !== "allow") {
      return deny(`approve() returned ${describeValue(given)}, which is not a decision.`);
    }
    return { type: "run", basis };
  }
}

function deny(reason: string): GateAnswer {
  return { type: "deny", reason };
}

/** A denial is always valid. An approval is valid only for what was shown when it was given. */
function counts({ decision, name, args, shown }: LateDecision, request: ApprovalRequest): boolean {
  if (isRecord(decision) && "deny" in decision) return true;
  return (
    request.name === name &&
    stableJson(request.args) === stableJson(args) &&
    isWithinShown(request.description, shown)
  );
}
