import type { ApprovalRequest, ToolInfo, ToolRegistry } from "@agent/core";
import {
  decideCall,
  type Mode,
  offerRules,
  onlyEdits,
  onlyReads,
  type Rule,
  type RuledCall,
  type RuleSet,
  type Ruling,
} from "@agent/core/host";
import { type AlwaysChoice, type GrantScope, nextMode } from "@agent/terminal/host";
import type { Grant, Grants } from "./grants.js";

const OWN_PACKS = /^@agent\//;
const SERVER_TOOL = /^mcp__/;

export interface PermissionsOptions {
  readonly registry: ToolRegistry;
  readonly rules: RuleSet;
  readonly grants: Grants;
  readonly confirm: ReadonlySet<string>;
  readonly mode: Mode;
  /** Whether no one can be asked: then calls inside a sandbox run without a question. */
  readonly unattended?: boolean;
  /** Where patterns for files begin. */
  readonly root: string;
}

/** What the agent may do now: the mode, the rules of the configuration, and what the user allowed permanently. */
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

  /** The user turned a tool off: it stays off when plan mode ends. */
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

  /** `mode`: the decision in another mode than the current one. */
  async decide(call: RuledCall, mode = this.#mode): Promise<Ruling> {
    const { registry: tools, rules, confirm, root, unattended: allowsContained = false } = this.#options;
    const granted = this.grants.map((one) => one.rule);
    const isForeign = (name: string): boolean => this.#isForeign(name);
    return await decideCall(call, {
      tools,
      root,
      rules,
      granted,
      confirm,
      mode,
      isForeign,
      allowsContained,
    });
  }

  /** What the user can choose when asked about this call, the narrowest first. */
  async alwaysChoices(call: Pick<ApprovalRequest, "name" | "args" | "capabilities" | "description">) {
    const { registry: tools, root, confirm } = this.#options;
    const offers: AlwaysChoice[] = await offerRules(call, { tools, root });
    const wouldRun = this.#mode === "ask" && onlyEdits(call.capabilities) && !confirm.has(call.name);
    if (wouldRun && offers.length > 0 && !this.#isForeign(call.name)) {
      offers.push({ mode: "edits", label: "accept edits from now on" });
    }
    return offers;
  }

  /**
   * Whether a tool asks until it is allowed: what a server says about its tools proves nothing, and a pack of others has
   * its own idea of an edit.
   */
  #isForeign(name: string): boolean {
    if (SERVER_TOOL.test(name)) return true;
    const tool = this.#options.registry.describeTools().find((one) => one.name === name);
    return !OWN_PACKS.test(tool?.source ?? "") && !onlyReads(tool?.capabilities ?? []);
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
