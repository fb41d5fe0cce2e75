import { coversCall, type RuledCall, type RuleTools, type Ruling } from "./decide.js";
import { formatRule, parseRule, type Rule } from "./rule.js";

/**
 * The rules of an agent without its own: ask about everything except what the user always allowed, for the agent's
 * lifetime. A call that needs access beyond the access rules asks each time.
 */
export class GrantedRules {
  readonly #tools: RuleTools;
  readonly #root: string | undefined;
  readonly #granted: Rule[] = [];

  /** `root` is the directory that relative file patterns start from. Default: the working directory. */
  constructor(tools: RuleTools, root?: string) {
    this.#tools = tools;
    this.#root = root;
  }

  async decide(call: RuledCall): Promise<Ruling> {
    if (this.#granted.length === 0 || call.description.needs.length > 0) return { type: "ask" };
    const root = this.#root ?? globalThis.process?.cwd?.() ?? "/";
    return (await coversCall(this.#granted, call, { tools: this.#tools, root }))
      ? { type: "allow" }
      : { type: "ask" };
  }

  /** Throws if the text is not a rule. */
  allow(text: string): void {
    const rule = parseRule(text);
    if (!this.#granted.some((one) => formatRule(one) === formatRule(rule))) this.#granted.push(rule);
  }
}
