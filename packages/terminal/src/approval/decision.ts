import type { ApprovalRequest, PermitRequest } from "@agent/core";
import type { Mode, RuleOffer } from "@agent/core/host";

/** How long something stays allowed: until the chat ends, or in this project until it is revoked. */
export type GrantScope = "session" | "project";

/** A user's answer to a question about a call. `always` is a rule, `mode` a mode to switch to. */
export type PersonDecision =
  | "allow"
  | { readonly always: string; readonly scope: GrantScope }
  | { readonly mode: Mode }
  | { readonly deny: string };

/** What a user can choose instead of allowing one call: a rule, or another mode. */
export type AlwaysChoice = RuleOffer | { readonly mode: Mode; readonly label: string };

/**
 * Asks a user about a call. `always` is what they can allow permanently; `runsInAuto` resolves to whether the call would
 * run without a question in auto mode.
 */
export type AskPerson = (
  request: ApprovalRequest,
  always: readonly AlwaysChoice[],
  runsInAuto: () => Promise<boolean>,
) => Promise<PersonDecision | "suspend">;

/** How long the user allows a running call to do more than was approved: for the call that asks, or as a grant. */
export type PermitScope = "once" | GrantScope;

/** Asks the user. `undefined`: the question was closed without an answer. */
export type AskPermit = (request: PermitRequest) => Promise<PermitScope | "no" | undefined>;

/** The choices of a question, in the order in which they are shown. One careless Enter must not allow anything. */
export const PERMIT_CHOICES: readonly { readonly value: PermitScope | "no"; readonly label: string }[] = [
  { value: "no", label: "no, refuse" },
  { value: "once", label: "yes, for this call" },
  { value: "session", label: "yes, in this session" },
  { value: "project", label: "yes, in this project" },
];
