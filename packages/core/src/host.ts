/** The API for hosts beyond `Agent`: programs that decide about calls and display them. `@agent/core/host`. */

export type { Recording } from "./conversation/conversation.js";
export type { CallRules } from "./loop/approval.js";
export { type AnswerKey, type CallKey, DIRECT_STEPS, type Steps } from "./loop/steps.js";
export type { SetAttributes, TelemetryAttributes, TelemetrySpan } from "./loop/telemetry.js";
export { findRuleProblem, watchRules } from "./rules/checkRule.js";
export type { Ruling } from "./rules/decide.js";
export {
  coversCall,
  type DecideOptions,
  decideCall,
  type RuledCall,
  type RuleOptions,
  type RuleSet,
  type RuleTools,
} from "./rules/decide.js";
export { matchesGlob } from "./rules/glob.js";
export { GrantedRules } from "./rules/grantedRules.js";
export { MODES, type Mode, onlyEdits, onlyReads } from "./rules/mode.js";
export { offerRules, type RuleOffer } from "./rules/offers.js";
export {
  type AlwaysChoice,
  type AskUser,
  type Grant,
  type GrantScope,
  type Grants,
  type PermissionPlace,
  Permissions,
  type PermissionsOptions,
  type UserDecision,
} from "./rules/permissions.js";
export { formatRule, parseRule, type Rule } from "./rules/rule.js";
export { EFFORTS } from "./toolkit/hostOptions/checks.js";
export { isWithinShown, readDescription, readPreview, TOOL_KINDS } from "./tools/callDescription.js";
export type { CallOptions } from "./tools/execution.js";
export { hostModel, hostModels } from "./tools/models.js";
export type { AnyText } from "./tools/pack.js";
export type { PreparedCall, PrepareOptions } from "./tools/preparedCall.js";
export { readValue, readView } from "./tools/resultView.js";
export { type PendingTools, serviceNames } from "./tools/services.js";
export { type Terminable, terminateOnSignals } from "./tools/terminateOnSignals.js";
