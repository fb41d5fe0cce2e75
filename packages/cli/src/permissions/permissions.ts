import type { ToolInfo, ToolRegistry } from "@agent/core";
import { type AlwaysChoice, alwaysChoices } from "./alwaysChoices.js";
import type { Grant, GrantScope, Grants } from "./grants.js";
import { type Mode, nextMode, onlyReads } from "./mode.js";
import { type PolicyCall, type RuleSet, type Ruling, rule } from "./policy.js";
import type { Rule } from "./rule.js";

/** A person's answer to a question about a call. */
export type PersonDecision =
  | "allow"
  | { readonly always: Rule; readonly scope: GrantScope }
  | { readonly deny: string };

export interface PermissionsOptions {
  readonly registry: ToolRegistry;
  readonly rules: RuleSet;
  readonly grants: Grants;
  readonly confirm: ReadonlySet<string>;
  readonly mode: Mode;
  readonly root: string;
  readonly cwd: string;
}

/** What the agent may do now: the mode, the rules of the configuration, and what the person allowed for good. */
export class Permissions {
  readonly rules: RuleSet;
  readonly #options: PermissionsOptions;
  #mode: Mode;
  /** Tools that plan mode turned off: they come back when it ends. */
  #turnedOff: string[] = [];

  constructor(options: PermissionsOptions) {
    this.#options = options;
    this.rules = options.rules;
    this.#mode = options.mode;
    if (options.mode === "plan") this.#turnOff();
    const { registry } = options;
    registry.onRegister((tool) => {
      if (this.#mode === "plan" && registry.isToolEnabled(tool.name)) this.#turnOffUnlessItReads(tool);
    });
  }

  get mode(): Mode {
    return this.#mode;
  }

  set mode(mode: Mode) {
    const { registry } = this.#options;
    this.#mode = mode;
    for (const name of this.#turnedOff.splice(0)) registry.enable(name);
    if (mode === "plan") this.#turnOff();
  }

  /** Switches to the next mode and returns it. */
  cycle(): Mode {
    this.mode = nextMode(this.#mode);
    return this.#mode;
  }

  /** The person turned a tool off: it stays off when plan mode ends. */
  leaveOff(name: string): void {
    this.#turnedOff = this.#turnedOff.filter((one) => one !== name);
  }

  get grants(): readonly Grant[] {
    return this.#options.grants.list();
  }

  /** Rejects if the grant cannot be stored for the project; it then holds for the session. */
  async grant(one: Rule, scope: GrantScope): Promise<void> {
    await this.#options.grants.add(one, scope);
  }

  async revoke(grant: Grant): Promise<boolean> {
    return await this.#options.grants.revoke(grant);
  }

  decide(call: PolicyCall): Ruling {
    const { registry, rules, confirm, root, cwd } = this.#options;
    const granted = this.grants.map((one) => one.rule);
    const { services } = registry;
    return rule(call, {
      rules,
      granted,
      confirm,
      mode: this.#mode,
      root,
      cwd,
      runsOnly: (words, command) => services.runsOnly(words, command),
      mayRun: (words, command) => services.mayRun(words, command),
    });
  }

  /** What a person can allow for good when asked about this call. */
  alwaysChoices(call: PolicyCall): AlwaysChoice[] {
    const { registry, root, cwd } = this.#options;
    const { services } = registry;
    return alwaysChoices(call, {
      root,
      cwd,
      runsOnly: (words, command) => services.runsOnly(words, command),
      ruleWords: (command) => services.ruleWords(command),
    });
  }

  #turnOff(): void {
    for (const tool of this.#options.registry.describeTools()) {
      if (tool.enabled) this.#turnOffUnlessItReads(tool);
    }
  }

  #turnOffUnlessItReads({ name, capabilities }: ToolInfo): void {
    if (onlyReads(capabilities) || name === "save_session_context") return;
    this.#options.registry.disable(name);
    this.#turnedOff.push(name);
  }
}
