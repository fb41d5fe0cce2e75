import { AgentError } from "../errors.js";
import { checkPositive, textsOf } from "../toolkit/checks.js";
import { quote } from "../toolkit/describe.js";
import { checkOptions, type OptionChecks } from "../toolkit/options.js";
import { truncateUtf8 } from "../toolkit/truncate.js";
import { escapeToLine } from "../toolkit/visible.js";
import { createEntry, type ToolEntry } from "./entry.js";
import {
  type ExecutionLimits,
  type RunOptions,
  runTool,
  type ToolEnding,
  type ToolResult,
} from "./execution.js";
import type { ChatTool, ExecutableTool } from "./interface.js";
import type { PackRegistry, RegisterOptions, ToolCall, ToolCapability } from "./types.js";

const DEFAULT_DEADLINE_MS = 10 * 60 * 1000;
const DEFAULT_MAX_RESULT_BYTES = 1024 * 1024;
const MAX_SHOWN_NAME = 200;

export interface ToolRegistryOptions {
  /** How long a tool that sets no deadline of its own may take. Default: ten minutes. */
  readonly deadlineMs?: number;
  /** What one result may hold before it is shortened, in bytes of UTF-8. Default: 1 MiB. */
  readonly maxResultBytes?: number;
  /** Values that never appear in an error text. Default: the value of `OPENAI_API_KEY`, if set. */
  readonly secrets?: readonly string[];
}

/** What a registry takes; a caller with options of its own adds its checks to these. */
export const REGISTRY_OPTIONS: OptionChecks<ToolRegistryOptions> = {
  deadlineMs: checkPositive,
  maxResultBytes: checkPositive,
  secrets: textsOf("strings"),
};

/** One line of a listing: what a person wants to know about a tool. */
export interface ToolInfo {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
  readonly capabilities: readonly ToolCapability[];
  /** Who brought it, where that is known. */
  readonly source?: string;
}

/**
 * Holds tools, says which are on, and runs them. Registration throws on anything malformed; running never
 * throws: every failure comes back as text for the model, with an outcome that cannot be mistaken.
 */
export class ToolRegistry implements PackRegistry {
  readonly #tools = new Map<string, ToolEntry>();
  readonly #limits: ExecutionLimits;

  constructor(options: ToolRegistryOptions = {}) {
    checkOptions("ToolRegistry", options, REGISTRY_OPTIONS);
    this.#limits = {
      deadlineMs: options.deadlineMs ?? DEFAULT_DEADLINE_MS,
      maxResultBytes: options.maxResultBytes ?? DEFAULT_MAX_RESULT_BYTES,
      secrets: () => options.secrets ?? [process.env.OPENAI_API_KEY ?? ""],
    };
  }

  /** Adds a tool, enabled unless `options.enabled` is `false`. Throws rather than replace one. */
  register(tool: ExecutableTool, options: RegisterOptions = {}): void {
    const entry = createEntry(tool, options);
    const existing = this.#tools.get(tool.name);
    if (existing) {
      throw new AgentError(
        "tool_duplicate",
        `Tool ${quote(tool.name)} is registered already${by(existing.source)}; a second one${by(entry.source)} was refused. Nothing was replaced.`,
      );
    }
    this.#tools.set(tool.name, entry);
  }

  /** Removes a tool. An unknown name does nothing. */
  unregister(name: string): void {
    this.#tools.delete(name);
  }

  /** Turns a tool on. Returns whether it exists. */
  enable(name: string): boolean {
    return this.#setEnabled(name, true);
  }

  /** Turns a tool off; it stays registered. Returns whether it exists. */
  disable(name: string): boolean {
    return this.#setEnabled(name, false);
  }

  /** All names in registration order, enabled or not. */
  getToolNames(): string[] {
    return [...this.#tools.keys()];
  }

  hasTool(name: string): boolean {
    return this.#tools.has(name);
  }

  isToolEnabled(name: string): boolean {
    return this.#tools.get(name)?.enabled ?? false;
  }

  /** What the model may use now: schemas of the enabled tools in registration order, as fresh copies. */
  getEnabledSchemas(): ChatTool[] {
    const schemas: ChatTool[] = [];
    for (const entry of this.#tools.values()) {
      if (entry.enabled) schemas.push(JSON.parse(entry.schemaText));
    }
    return schemas;
  }

  /** As `getEnabledSchemas`, without the copies: frozen, for a caller that asks in every turn and only reads. */
  getSharedSchemas(): readonly ChatTool[] {
    return [...this.#tools.values()].filter((entry) => entry.enabled).map((entry) => entry.schema);
  }

  /** What a person may want to know about every tool, in registration order. */
  describeTools(): ToolInfo[] {
    return [...this.#tools].map(([name, entry]) => ({
      name,
      description: entry.description,
      enabled: entry.enabled,
      capabilities: [...entry.capabilities],
      ...(entry.source !== undefined && { source: entry.source }),
    }));
  }

  /** The capability labels of a tool; none for an unknown one. */
  getCapabilities(name: string): readonly ToolCapability[] {
    return this.#tools.get(name)?.capabilities ?? [];
  }

  /** Runs a tool and resolves to the text for the model. Never rejects. */
  async execute(name: string, args?: Record<string, unknown>, call?: Partial<ToolCall>): Promise<string> {
    return (await this.run(name, args, call)).text;
  }

  /** As `execute`, with the outcome and the duration. Never rejects. */
  async run(name: string, args?: Record<string, unknown>, options: RunOptions = {}): Promise<ToolResult> {
    const started = performance.now();
    const found = this.#find(name);
    const ending =
      "outcome" in found
        ? found
        : await runTool(found, args, options, this.#limits, () => {
            const now = this.#find(name);
            if (now === found) return undefined;
            return "outcome" in now ? now : unavailable("not_available", name);
          });
    return { durationMs: performance.now() - started, ...ending };
  }

  /** The tool if it may run now, or how a call of it ends. */
  #find(name: string): ToolEntry | ToolEnding {
    const entry = this.#tools.get(name);
    if (entry?.enabled) return entry;
    return unavailable(entry ? "not_available" : "not_found", name);
  }

  #setEnabled(name: string, enabled: boolean): boolean {
    const entry = this.#tools.get(name);
    if (!entry) return false;
    entry.enabled = enabled;
    return true;
  }
}

function unavailable(outcome: "not_found" | "not_available", name: string): ToolEnding {
  // The name is the model's own text: it may be anything, and as long as it likes.
  const shown = escapeToLine(truncateUtf8(String(name), MAX_SHOWN_NAME));
  return { outcome, text: `Tool ${outcome === "not_found" ? "not found" : "not available"}: ${shown}` };
}

function by(source: string | undefined): string {
  return source === undefined ? "" : ` by ${source}`;
}
