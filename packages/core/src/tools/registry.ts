import { isRecord, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import { nodePath } from "../toolkit/files/nodeModules.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  checkBoolean,
  checkFunction,
  checkNotNegative,
  checkObject,
  checkPositive,
  checkText,
  invalidArgument,
  textsOf,
} from "../toolkit/hostOptions/checks.js";
import { createRedactor } from "../toolkit/text/text.js";
import { titleOf } from "../toolkit/text/title.js";
import type { CallAbout, PermissionLanguage, ToolKind } from "./callDescription.js";
import type { CallOptions, ExecutionLimits, ToolResult } from "./execution.js";
import type {
  LoadTools,
  PackDirectories,
  PackHost,
  PackRegistry,
  PackServices,
  RegisterOptions,
} from "./pack.js";
import { type PreparedCall, type PrepareOptions, prepareCall } from "./preparedCall.js";
import { examineTool, isUsable, type RegisteredTool, titleNames } from "./registeredTool.js";
import { defaultSecrets, readVariables } from "./secrets.js";
import { PackServiceList } from "./services.js";
import type {
  ChatTool,
  ExecutableTool,
  FreeformInput,
  JsonSchema,
  ToolCall,
  ToolCapability,
} from "./tool.js";

const NONE: readonly string[] = [];
const DEFAULT_DEADLINE_MS = 10 * 60 * 1000;
const DEFAULT_ABORT_GRACE_MS = 5000;
const DEFAULT_MAX_RESULT_BYTES = 1024 * 1024;

export interface ToolRegistryOptions {
  /** Milliseconds a tool without its own `deadlineMs` may take. Default: ten minutes. */
  readonly deadlineMs?: number;
  /** Milliseconds an aborted tool has to return its own result. Default: five seconds. */
  readonly abortGraceMs?: number;
  /** The maximum size of one result in bytes of UTF-8; longer ones are shortened. Default: 1 MiB. */
  readonly maxResultBytes?: number;
  /**
   * Values that are redacted in every result and error, in addition to the packs' own secrets; called for every result.
   * Default: the values of the providers' key variables (`OPENAI_API_KEY`, `ANTHROPIC_API_KEY`, …).
   */
  readonly secrets?: () => readonly string[];
  /** Only tools with these names can run, including tools registered or enabled later. */
  readonly only?: readonly string[];
  /** If `true`, only read-only tools can run, including tools registered or enabled later. */
  readonly readOnly?: boolean;
  /** Returns the values of the variables that a pack declares in `secrets`. Default: from the environment. */
  readonly claimSecrets?: (pack: string, variables: readonly string[]) => Readonly<Record<string, string>>;
  /** An absolute path below which each pack may keep files in a directory with its name. Default: packs get none. */
  readonly directories?: PackDirectories;
}

/** The options of a registry; a caller with further options adds its checks to these. */
export const REGISTRY_OPTIONS: OptionChecks<ToolRegistryOptions> = {
  deadlineMs: checkPositive,
  abortGraceMs: checkNotNegative,
  maxResultBytes: checkPositive,
  secrets: checkFunction,
  only: textsOf("tool names"),
  readOnly: checkBoolean,
  claimSecrets: checkFunction,
  directories: checkObject,
};

/** One line of a listing: facts about a tool for the user. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  /** Whether it is switched on. */
  readonly enabled: boolean;
  /**
   * Why a call would not run although the tool is enabled: the reason of its pack, or the registry's `only` or
   * `readOnly`.
   */
  readonly withheld?: string;
  /** The model finds it by searching instead of seeing its schema in every request. */
  readonly deferred?: true;
  readonly capabilities: readonly ToolCapability[];
  /** The kind of work it does, for display. */
  readonly kind: ToolKind;
  /** The pack of the tool, if known. */
  readonly source?: string;
  /** The tool of the same pack that it replaces when it is offered. */
  readonly insteadOf?: string;
  /** The host knows that its pack is not one of `@agent`, whatever `source` contains. */
  readonly foreign?: true;
}

/** Facts about a tool that rules need. */
export interface RuleFacts {
  /** The tool's own pattern matcher, if it has one. */
  readonly language: PermissionLanguage | undefined;
  /** Whether the tool describes the targets of its calls. */
  readonly describes: boolean;
  /** The names of its arguments. */
  readonly arguments: readonly string[];
  /** The arguments that name a call. */
  readonly titleFrom: readonly string[];
  /** The tool that it replaces: rules that deny or ask about that one apply to it too. */
  readonly insteadOf?: string | undefined;
}

/** A tool with the schemas of its arguments and of its result. */
export interface ToolDetails extends ToolInfo {
  /** Absent if it takes no arguments. */
  readonly parameters?: JsonSchema;
  /** The schema of `ToolResult.value`. Absent if the result is text. */
  readonly outputSchema?: JsonSchema;
}

/**
 * Holds tools, tracks which are enabled, and runs them. Registration throws for malformed tools; running never throws:
 * every failure is returned as text for the model, with an unambiguous outcome.
 */
export class ToolRegistry implements PackRegistry {
  /** The packs' services, and the tools that are still loading. */
  readonly services = new PackServiceList();
  /** Replaces known secrets in a text. */
  readonly redact: (text: string) => string;
  readonly #tools = new Map<string, RegisteredTool>();
  readonly #limits: ExecutionLimits;
  readonly #barred: ReturnType<typeof barring>;
  readonly #claim: (pack: string, variables: readonly string[]) => Readonly<Record<string, string>>;
  readonly #directories: PackDirectories | undefined;
  // Replaced, not extended: most agents have none.
  #packSecrets: readonly string[] = NONE;
  readonly secretVariables: string[] = [];
  #disposed = false;
  // Created with the first listener: a program may hold thousands of idle agents, and most have no listener.
  #onRegister: Set<(tool: ToolInfo) => void> | undefined;

  constructor(options: ToolRegistryOptions = {}) {
    checkOptions("ToolRegistry", options, REGISTRY_OPTIONS);
    const { secrets = defaultSecrets } = options;
    this.redact = createRedactor(() => [...secrets(), ...this.#packSecrets]);
    this.#directories = options.directories;
    this.#barred = barring(options);
    this.#claim = options.claimSecrets ?? claimFromEnvironment;
    this.#limits = {
      deadlineMs: options.deadlineMs ?? DEFAULT_DEADLINE_MS,
      abortGraceMs: options.abortGraceMs ?? DEFAULT_ABORT_GRACE_MS,
      maxResultBytes: options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES,
      redact: this.redact,
    };
  }

  /** Adds a tool, enabled unless `options.enabled` is `false`. Throws if the name is taken. */
  register(tool: ExecutableTool, options: RegisterOptions = {}): void {
    if (this.#disposed)
      throw new AgentError("tool_invalid", "The registry was disposed of: it takes no tools.");
    const entry = examineTool(tool, options);
    const existing = this.#tools.get(tool.name);
    if (existing) {
      throw new AgentError(
        "tool_duplicate",
        `Tool ${quote(tool.name)} is registered already${by(existing.source)}; a second one${by(entry.source)} was refused. Nothing was replaced.`,
      );
    }
    const barred = this.#barred?.(tool.name, this.#replacedBy(entry), entry.facts.capabilities);
    const registered = barred === undefined ? entry : { ...entry, barred };
    this.#tools.set(tool.name, registered);
    for (const listener of this.#onRegister ?? []) listener(this.#describe(tool.name, registered));
  }

  /** Calls `listener` for every tool registered from now on, before the tool can be used. */
  onRegister(listener: (tool: ToolInfo) => void): () => void {
    checkFunction("listener", listener);
    this.#onRegister ??= new Set();
    this.#onRegister.add(listener);
    return () => void this.#onRegister?.delete(listener);
  }

  /** Removes a tool. Does nothing for an unknown name. */
  unregister(name: string): void {
    this.#tools.delete(name);
  }

  /** Turns a tool on. Returns whether it exists. */
  enable(name: string): boolean {
    return this.#change(name, { enabled: true });
  }

  /** Turns a tool off; it stays registered. Returns whether it exists. */
  disable(name: string): boolean {
    return this.#change(name, { enabled: false });
  }

  /**
   * Makes a tool unavailable, whether it is enabled or not; a call is answered with the reason. Returns whether it
   * exists.
   */
  withhold(name: string, reason: string): boolean {
    checkText("reason", reason);
    return this.#change(name, { withheld: reason });
  }

  /** Makes a withheld tool available again. Returns whether it exists. */
  release(name: string): boolean {
    return this.#change(name, { withheld: undefined });
  }

  /** All names in registration order, enabled or not. */
  getToolNames(): string[] {
    return [...this.#tools.keys()];
  }

  hasTool(name: string): boolean {
    return this.#tools.has(name);
  }

  /** Whether a call of the tool would run: it is enabled, and its pack has not withheld it. */
  isToolEnabled(name: string): boolean {
    const entry = this.#tools.get(name);
    return entry !== undefined && isUsable(entry);
  }

  /**
   * The schemas sent to the model: those of the enabled tools in registration order, as fresh copies. Deferred ones are
   * omitted.
   */
  getEnabledSchemas(): ChatTool[] {
    const schemas: ChatTool[] = [];
    for (const entry of this.#tools.values()) {
      if (isOffered(entry)) schemas.push(JSON.parse(entry.facts.schema.text));
    }
    return schemas;
  }

  /** Like `getEnabledSchemas`, without the copies: frozen, for a caller that reads them in every turn. */
  getSharedSchemas(): readonly ChatTool[] {
    return [...this.#tools.values()].filter(isOffered).map((entry) => entry.facts.schema.schema);
  }

  /** The offered tools whose argument a model may write as plain text; `undefined` if there are none. */
  getFreeform(): Readonly<Record<string, FreeformInput>> | undefined {
    let found: Record<string, FreeformInput> | undefined;
    for (const [name, entry] of this.#tools) {
      const { freeform } = entry.tool;
      if (freeform && isOffered(entry)) found = { ...found, [name]: freeform };
    }
    return found;
  }

  /** Facts about every tool for the user, in registration order. */
  describeTools(): ToolInfo[] {
    return [...this.#tools].map(([name, entry]) => this.#describe(name, entry));
  }

  describeTool(name: string): ToolDetails | undefined {
    const entry = this.#tools.get(name);
    if (!entry) return undefined;
    const { parameters } = entry.facts.schema.schema.function;
    const { outputSchema } = entry.tool;
    return {
      ...this.#describe(name, entry),
      ...(parameters && { parameters }),
      ...(outputSchema && { outputSchema }),
    };
  }

  /** The capability labels of a tool; empty for an unknown one. */
  getCapabilities(name: string): readonly ToolCapability[] {
    return this.#tools.get(name)?.facts.capabilities ?? [];
  }

  /** Whether an interrupted call of this tool may be run again; `false` for an unknown tool. */
  isRepeatable(name: string): boolean {
    return this.#tools.get(name)?.facts.repeatable ?? false;
  }

  /** The title and kind of a call that is not validated yet, for displays of requests and old sessions. */
  aboutCall(name: string, args: Readonly<Record<string, unknown>>): Pick<CallAbout, "title" | "kind"> {
    const entry = this.#tools.get(name);
    if (!entry) return { title: "", kind: "other" };
    const { kind } = entry.facts;
    return { title: this.redact(titleOf(titleNames(entry), args, kind)), kind };
  }

  /** The arguments that name a call of this tool. */
  titleFrom(name: string): readonly string[] {
    const entry = this.#tools.get(name);
    return entry ? titleNames(entry) : [];
  }

  /** Facts about a tool that rules need; `undefined` for an unknown one. */
  ruleFacts(name: string): RuleFacts | undefined {
    const entry = this.#tools.get(name);
    if (!entry) return undefined;
    const { properties } = entry.facts.schema.schema.function.parameters ?? {};
    return {
      language: entry.tool.permissions,
      describes: entry.tool.describeCall !== undefined,
      arguments: isRecord(properties) ? Object.keys(properties) : [],
      titleFrom: titleNames(entry),
      insteadOf: this.#replacedBy(entry),
    };
  }

  #describe(name: string, entry: RegisteredTool): ToolInfo {
    const insteadOf = this.#replacedBy(entry);
    return { ...describe(name, entry), ...(insteadOf !== undefined && { insteadOf }) };
  }

  /** The tool that another one replaces. A pack can only replace its own tools. */
  #replacedBy({ tool: { insteadOf }, source }: RegisteredTool): string | undefined {
    if (insteadOf === undefined) return undefined;
    const replaced = this.#tools.get(insteadOf);
    return replaced && replaced.source === source ? insteadOf : undefined;
  }

  claimSecrets(pack: string, variables: readonly string[]): Readonly<Record<string, string>> {
    checkText("pack", pack);
    if (!Array.isArray(variables) || !variables.every((name) => typeof name === "string")) {
      throw invalidArgument("variables", "an array of names of variables", variables);
    }
    const claimed = this.#claim(pack, variables);
    this.secretVariables.push(...variables);
    this.#packSecrets = [...this.#packSecrets, ...Object.values(claimed)];
    return claimed;
  }

  hostFor(pack: string): Pick<PackHost, "directories" | "agents"> {
    checkText("pack", pack);
    const directories = packDirectories(this.#directories, pack);
    return { agents: () => this.services.agents, ...(directories && { directories }) };
  }

  provide(services: PackServices, source?: string): void {
    this.services.add(services, source);
  }

  registerLater(description: string, load: LoadTools): void {
    checkText("description", description);
    checkFunction("load", load);
    this.services.load(description, (signal) => load(this, signal));
  }

  onRefresh(refresh: (registry: PackRegistry) => void): void {
    checkFunction("refresh", refresh);
    this.services.onRefresh(() => refresh(this));
  }

  /**
   * Looks up a call and validates its arguments. Has no side effects and never rejects: resolves to the call, or to the
   * result of a call that cannot run (it has an `outcome`). With `repair`, invalid arguments are repaired if there is
   * exactly one way.
   */
  async prepare(
    name: string,
    args?: Record<string, unknown>,
    options?: PrepareOptions,
  ): Promise<PreparedCall | ToolResult> {
    return await prepareCall(name, args, (wanted) => this.#tools.get(wanted), this.#limits, options);
  }

  /** Runs a tool and resolves to the text for the model. Never rejects. */
  async execute(name: string, args?: Record<string, unknown>, call?: Partial<ToolCall>): Promise<string> {
    return (await this.run(name, args, call)).text;
  }

  /** Like `execute`, with the outcome and the duration. Never rejects. */
  async run(name: string, args?: Record<string, unknown>, options: CallOptions = {}): Promise<ToolResult> {
    const prepared = await this.prepare(name, args);
    return "outcome" in prepared ? prepared : await prepared.run(options);
  }

  /** Disposes of the packs' services. The registry must not be used afterwards. */
  async dispose(): Promise<void> {
    this.#disposed = true;
    this.#tools.clear();
    await this.services.dispose();
  }

  #change(name: string, change: Partial<Pick<RegisteredTool, "enabled" | "withheld">>): boolean {
    const entry = this.#tools.get(name);
    if (!entry) return false;
    Object.assign(entry, change);
    return true;
  }
}

function claimFromEnvironment(_pack: string, variables: readonly string[]): Readonly<Record<string, string>> {
  return readVariables(variables);
}

function describe(name: string, entry: RegisteredTool): ToolInfo {
  const { facts, enabled, deferred, source, foreign } = entry;
  const { schema, capabilities, kind } = facts;
  const { description = "" } = schema.schema.function;
  const withheld = entry.barred ?? entry.withheld;
  return {
    name,
    description,
    enabled,
    ...(withheld !== undefined && { withheld }),
    ...(deferred && { deferred }),
    capabilities: [...capabilities],
    kind,
    ...(source !== undefined && { source }),
    ...(foreign && { foreign }),
  };
}

/** The directories of one pack. Its name may contain any character, and must not escape the parent directory. */
function packDirectories(base: PackDirectories | undefined, pack: string): PackDirectories | undefined {
  if (!base) return undefined;
  const name = encodeURIComponent(pack).replace(/^\./, "%2E");
  const below = (directory: string): string => nodePath.join(directory, name);
  return {
    ...(base.project !== undefined && { project: below(base.project) }),
    ...(base.user !== undefined && { user: below(base.user) }),
  };
}

/** Why a tool never runs in a registry with these options, or `undefined`. */
function barring({ only, readOnly = false }: ToolRegistryOptions) {
  if (only === undefined && !readOnly) return undefined;
  const names = only && new Set(only);
  return (
    name: string,
    insteadOf: string | undefined,
    capabilities: readonly ToolCapability[],
  ): string | undefined => {
    if (names && !names.has(name) && !names.has(insteadOf ?? name)) return "this agent has other tools only";
    if (!readOnly || (capabilities.length > 0 && capabilities.every((one) => one === "read")))
      return undefined;
    const beyond = capabilities.filter((one) => one !== "read");
    const why =
      beyond.length === 0 ? "the tool does not say what it does" : `the tool can ${beyond.join(", ")}`;
    return `this agent is read-only, and ${why}`;
  };
}

function isOffered(entry: RegisteredTool): boolean {
  return isUsable(entry) && !entry.deferred;
}

function by(source: string | undefined): string {
  return source === undefined ? "" : ` by ${source}`;
}
