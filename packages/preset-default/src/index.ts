import {
  type AgentOptions,
  type AgentToolNames,
  type ChatProvider,
  Agent as CoreAgent,
  type CreateRegistryOptions,
  createToolRegistry,
  defineTool,
  type PackEntry,
  type PackHost,
  type PackRegistry,
  registerPack,
  type ToolContext,
  type ToolRegistry,
} from "@agent/core";
import { check, isRecord, packOptions } from "@agent/core/toolkit";
import * as bash from "@agent/tools-bash";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";

export const packName = "@agent/preset-default";
export const packApiVersion = 1;
export const followsDirectory = true;

/** A root for the file and search tools, and options for each pack. */
export interface PresetOptions {
  /**
   * Confines the file and search tools to this directory, after resolving symlinks. A pack's own `root` takes
   * precedence.
   */
  readonly root?: string;
  readonly fs?: fs.FsOptions;
  readonly search?: search.SearchOptions;
  readonly bash?: bash.BashOptions;
}

/** The names of the tools of the three packs, and of the question tool. */
export type PresetToolName = fs.FsToolName | search.SearchToolName | bash.BashToolName | "ask_user";

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/preset-default": { register: typeof register };
  }
}

const PACKS = { fs, search, bash };
const OPTIONS = {
  root: { type: "string", minLength: 1 },
  fs: { type: "object" },
  search: { type: "object" },
  bash: { type: "object" },
};

/** Registers the three built-in packs: files, search and shell, and the question tool if the host can ask the user. */
export function register(registry: PackRegistry<PresetToolName>, host?: PackHost<PresetOptions>): void {
  check.registry(registry);
  const { root, ...blocks } = packOptions<PresetOptions>(packName, host?.options, OPTIONS);
  const confined = root === undefined ? {} : { root };
  const options = {
    fs: { ...confined, ...blocks.fs },
    search: { ...confined, ...blocks.search },
    bash: blocks.bash,
  };
  for (const key of ["fs", "search", "bash"] as const) {
    registerPack(registry, PACKS[key], host && { ...host, options: options[key] });
  }
  if (host?.ask) registry.register(askUser(host.ask));
}

const MOST_CHOICES = 8;

/** `ask_user`: a question of the model with choices, asked by the host. */
function askUser(ask: NonNullable<PackHost["ask"]>) {
  return defineTool({
    name: "ask_user",
    description:
      "Ask the user a question when the task depends on a decision only they can make. Offer the likely answers as choices. Do not ask what you can find out yourself.",
    input: {
      type: "object",
      properties: {
        question: {
          type: "string",
          minLength: 1,
          description: "One question, with what the user needs to decide",
        },
        choices: {
          type: "array",
          items: { type: "string", minLength: 1 },
          maxItems: MOST_CHOICES,
          description: "Short answers to choose from; the user can also write another one",
        },
      },
      required: ["question"],
      additionalProperties: false,
    },
    capabilities: ["read"],
    kind: "other",
    titleFrom: "question",
    // Users take their time.
    deadlineMs: Number.POSITIVE_INFINITY,
    execute: async ({ question, choices = [] }, call) => {
      const options = [...new Set(choices)].map((value) => ({ value }));
      const answer = await ask({
        source: "The model",
        message: question,
        fields: [
          options.length === 0
            ? { name: "answer", type: "text", title: "Your answer", required: true }
            : { name: "answer", type: "choice", title: "Your answer", required: true, other: true, options },
        ],
        immediate: true,
        signal: call.signal,
      });
      if (answer.answer === "yes") return `The user answered: ${String(answer.values.answer)}`;
      call.report({ ok: true, summary: answer.answer === "no" ? "refused" : "not answered" });
      return answer.answer === "no"
        ? "The user does not want to answer. Continue without the answer, or stop and say what you need."
        : "No one answered. Decide yourself, and say in your answer what you assumed.";
    },
  });
}

const PRESET = { packName, packApiVersion, followsDirectory, register };

/** Creates a registry with all built-in tools. `remove` and `run_bash` stay disabled until `enable` names them. */
export function createDefaultToolRegistry(
  context: ToolContext,
  options?: CreateRegistryOptions<readonly [typeof PRESET]>,
): ToolRegistry {
  return createToolRegistry(context, [PRESET], options);
}

/** The options of an agent with the built-in tools besides those of `tools`. */
export interface PresetAgentOptions<
  Entries extends readonly PackEntry[] = readonly PackEntry[],
  Context = unknown,
> extends Omit<AgentOptions<Entries, Context>, "only" | "enable" | "disable"> {
  /** Only these tools can run, including tools registered later. */
  readonly only?: readonly (AgentToolNames<Entries> | PresetToolName)[];
  /** Tools to enable although their pack disables them by default: `["run_bash"]`. */
  readonly enable?: readonly (AgentToolNames<Entries> | PresetToolName)[];
  /** Tools to disable. */
  readonly disable?: readonly (AgentToolNames<Entries> | PresetToolName)[];
}

/** Creates an agent with the built-in tools; `options.tools` adds to them. */
export class Agent<
  const Entries extends readonly PackEntry[] = readonly [],
  Context = unknown,
> extends CoreAgent<readonly PackEntry[], Context> {
  constructor(provider: ChatProvider, options?: PresetAgentOptions<Entries, Context>);
  constructor(provider: ChatProvider, options: AgentOptions<readonly PackEntry[], Context> = {}) {
    super(provider, startingWithPreset(options));
  }
}

function startingWithPreset<Context>(
  options: AgentOptions<readonly PackEntry[], Context>,
): AgentOptions<readonly PackEntry[], Context> {
  const { tools = options?.packs ?? [], registry } = options ?? {};
  // A registry has its own tools, and core reports invalid options.
  if (!isRecord(options) || !Array.isArray(tools) || registry !== undefined) return options;
  // Both were given: core refuses that.
  if (options.tools !== undefined && options.packs !== undefined) return options;
  const { packs: _, ...rest } = options;
  return { ...rest, tools: [PRESET, ...tools] };
}
