/** What hosts need beyond `Agent`: programs that decide about calls and show them. `@agent/core/host`. */
export { findRuleProblem, watchRules } from "./rules/checkRule.js";
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
export { formatRule, isAbout, parseRule, RULE_HEADS, type Rule } from "./rules/rule.js";
export { isWithinShown } from "./tools/callDescription.js";
export { hostModel, hostModels } from "./tools/models.js";
