import { errorMessage } from "@agent/internal";
import type { ApprovalRequest, Approve, CallRules } from "../loop/approval.js";
import type { ToolInfo, ToolRegistry } from "../tools/registry.js";
import { decideCall, isConfirmed, type RuledCall, type RuleSet, type Ruling } from "./decide.js";
import { MODES, type Mode, onlyEdits, onlyReads } from "./mode.js";
import { offerRules, type RuleOffer } from "./offers.js";
import { formatRule, parseRule, type Rule } from "./rule.js";
import { absolutePattern } from "./targets.js";

/** The lifetime of a grant: until the conversation ends, or in this project until it is revoked. */
export type GrantScope = "session" | "project";

export interface Grant {
  readonly rule: Rule;
  readonly scope: GrantScope;
}

/** Where the grants of a user are kept. */
export interface Grants {
  list(): readonly Grant[];
  /** Rejects if a grant for the project cannot be stored; the grant is then valid for the session. */
  add(rule: Rule, scope: GrantScope): Promise<void>;
  /** Revokes a grant. Resolves to whether there was one. */
  revoke(grant: Grant): Promise<boolean>;
}

/** A user's answer to a question about a call. `always` is a rule, `mode` a mode to switch to. */
export type UserDecision =
  | "allow"
  | { readonly always: string; readonly scope: GrantScope }
  | { readonly mode: Mode }
  | { readonly deny: string };

/** An alternative to allowing one call: a rule, or another mode. */
export type AlwaysChoice = RuleOffer | { readonly mode: Mode; readonly label: string };

/**
 * Asks the user about a call. `always` lists what they can allow permanently; `runsInAuto` resolves to whether the call
 * would run without a question in auto mode.
 */
export type AskUser = (
  request: ApprovalRequest,
  always: readonly AlwaysChoice[],
  runsInAuto: () => Promise<boolean>,
) => Promise<UserDecision | "suspend">;

/** Keeps grants until the process ends. */
class SessionGrants implements Grants {
  #grants: Grant[] = [];

  list(): readonly Grant[] {
    return this.#grants;
  }

  async add(rule: Rule): Promise<void> {
    await this.revoke({ rule, scope: "session" });
    this.#grants.push({ rule, scope: "session" });
  }

  async revoke({ rule }: Grant): Promise<boolean> {
    const before = this.#grants.length;
    this.#grants = this.#grants.filter((one) => formatRule(one.rule) !== formatRule(rule));
    return this.#grants.length < before;
  }
}

const OWN_PACKS = /^@agent\//;
const SERVER_TOOL = /^mcp__/;

export interface PermissionsOptions {
  readonly registry: ToolRegistry;
  readonly mode: Mode;
  /** Whether the user cannot be asked: then sandboxed calls run without a question. */
  readonly unattended?: boolean;
  /** The rules of the configuration. Default: none. */
  readonly rules?: RuleSet;
  /** Default: grants are forgotten when the process ends. */
  readonly grants?: Grants;
  /** Tools whose calls are asked about in every mode. Default: none. */
  readonly confirm?: ReadonlySet<string>;
  /** The directory that relative file patterns start from. Default: the working directory. */
  readonly root?: string;
}

/** Where calls are decided about: the tools, and where patterns for files begin. */
export interface PermissionPlace {
  readonly registry: ToolRegistry;
  readonly root: string;
}

/** The current permissions: the mode, the rules of the configuration, and the user's permanent approvals. */
export class Permissions {
  readonly rules: RuleSet;
  readonly confirm: ReadonlySet<string>;
  readonly #options: PermissionsOptions;
  readonly #grants: Grants;
  #mode: Mode;
  /** Tools that plan mode turned off: they are restored when it ends. */
  #turnedOff: string[] = [];

  constructor(options: PermissionsOptions) {
    this.#options = options;
    this.rules = options.rules ?? { allow: [], ask: [], deny: [] };
    this.confirm = options.confirm ?? new Set();
    this.#grants = options.grants ?? new SessionGrants();
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
    this.mode = MODES[(MODES.indexOf(this.#mode) + 1) % MODES.length] ?? "ask";
    return this.#mode;
  }

  /** Remembers that the user turned a tool off: it stays off when plan mode ends. */
  leaveOff(name: string): void {
    this.#turnedOff = this.#turnedOff.filter((one) => one !== name);
  }

  get grants(): readonly Grant[] {
    return this.#grants.list();
  }

  /** Rejects if the grant cannot be stored for the project; it is then valid for the session. */
  async grant(one: Rule, scope: GrantScope): Promise<void> {
    await this.#grants.add(one, scope);
  }

  async revoke(grant: Grant): Promise<boolean> {
    return await this.#grants.revoke(grant);
  }

  /** `mode`: decide as if in this mode. `place`: for the tools of another directory. */
  async decide(call: RuledCall, mode = this.#mode, place = this.#place): Promise<Ruling> {
    const { confirm } = this;
    const { registry: tools, root } = place;
    const rules = root === this.#place.root ? this.rules : inCopyOf(this.#place.root, this.rules);
    const { unattended: allowsContained = false } = this.#options;
    const granted = this.grants.map((one) => one.rule);
    const isForeign = (name: string): boolean => isForeignTool(name, tools);
    const options = { tools, root, rules, granted, confirm, mode, isForeign, allowsContained };
    return await decideCall(call, options);
  }

  /** The user's choices for this call, narrowest first. */
  async alwaysChoices(
    call: Pick<ApprovalRequest, "name" | "args" | "capabilities" | "description">,
    { registry: tools, root } = this.#place,
  ) {
    const { root: project } = this.#place;
    const rules = await offerRules(call, { tools, root });
    // The same call does something else there, so the user must see that it is allowed there too.
    const offers: AlwaysChoice[] =
      root === project ? rules : rules.map((one) => ({ ...one, label: `${one.label}, also in ${project}` }));
    const isEdit = onlyEdits(call.capabilities) && !isConfirmed(call.name, this.confirm, tools);
    const wouldRun = this.#mode === "ask" && isEdit;
    if (wouldRun && offers.length > 0 && !isForeignTool(call.name, tools)) {
      offers.push({ mode: "edits", label: "accept edits from now on" });
    }
    return offers;
  }

  /**
   * Creates the `rules` and `approve` of an agent: the rules decide first, then `ask`. `onProblem` is called if a grant
   * cannot be stored. `place`: for a child agent in another directory, under the same mode, rules and grants.
   */
  approval(
    ask: AskUser,
    onProblem: (message: string) => void,
    place: PermissionPlace = this.#place,
  ): { readonly rules: CallRules; readonly approve: Approve } {
    const grant = (rule: string, scope: GrantScope): Promise<void> =>
      this.grant(parseRule(rule), scope).catch((error: unknown) => {
        onProblem(
          `this is allowed for the session only, because it cannot be stored: ${errorMessage(error)}`,
        );
      });
    return {
      rules: {
        decide: (request) => this.decide(request, this.#mode, place),
        allow: (rule) => grant(rule, "session"),
      },
      approve: async (request) => {
        const runsInAuto = async (): Promise<boolean> =>
          (await this.decide(request, "auto", place)).type === "allow";
        const decision = await ask(request, await this.alwaysChoices(request, place), runsInAuto);
        if (decision === "suspend" || decision === "allow" || "deny" in decision) return decision;
        if ("mode" in decision) this.mode = decision.mode;
        else await grant(decision.always, decision.scope);
        return "allow";
      },
    };
  }

  get #place(): PermissionPlace {
    const { registry, root = globalThis.process?.cwd?.() ?? "/" } = this.#options;
    return { registry, root };
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

/**
 * The rules for a copy of the project, such as a work tree: those that deny or ask about files of the project by their
 * absolute path hold for the same files of the copy.
 */
function inCopyOf(project: string, { allow, ask, deny }: RuleSet): RuleSet {
  const both = (rule: Rule): Rule[] => {
    const path = rule.pattern === undefined || rule.exact ? undefined : absolutePattern(rule.pattern);
    if (!path?.startsWith(`${project}/`)) return [rule];
    return [rule, { ...rule, pattern: path.slice(project.length + 1) }];
  };
  return { allow, ask: ask.flatMap(both), deny: deny.flatMap(both) };
}

/**
 * Whether a tool asks until it is allowed. The capabilities that a server or a third-party pack declares prove
 * nothing. The name that a pack declares is used only if the host does not know the installed one.
 */
function isForeignTool(name: string, registry: ToolRegistry): boolean {
  if (SERVER_TOOL.test(name)) return true;
  const tool = registry.describeTools().find((one) => one.name === name);
  const isOwn = OWN_PACKS.test(tool?.source ?? "") && !tool?.foreign;
  return !isOwn && !onlyReads(tool?.capabilities ?? []);
}
