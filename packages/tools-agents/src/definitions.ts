import { join } from "node:path";
import type { Effort, PackAgent, PackRegistry, ToolDetails } from "@agent/core";
import { didYouMean, quote } from "@agent/core/toolkit";
import { readDefinitions } from "./definitionFiles.js";

/** An agent that can be started. Its tools are a subset of its parent's. */
export interface AgentDefinition {
  readonly name: string;
  /** When to use it, for the model. */
  readonly description: string;
  readonly prompt: string;
  /**
   * The tools it may use; `"read"` means all read-only ones. Default: all of its parent, except those that start
   * agents.
   */
  readonly tools?: readonly string[] | "read";
  /** Those of `tools` that need not exist. */
  readonly optionalTools?: readonly string[];
  /** The tools it may not use. A name may end with `*`, or be that of an MCP server: `mcp__github`. */
  readonly withoutTools?: readonly string[];
  readonly model?: string;
  /** Whether it uses the small model of its parent, if there is one. */
  readonly small?: true;
  readonly effort?: Effort;
  readonly maxTurns?: number;
  /** `"worktree"`: it works in its own git work tree. */
  readonly isolation?: "worktree";
  /** Where it was defined, for messages. */
  readonly place: string;
}

/** A definition that cannot be used, and why. */
export interface DefinitionProblem {
  readonly place: string;
  readonly problem: string;
}

/** The directories where projects define agents, in order of precedence. */
const DIRECTORIES = [".agents/agents", ".agent/agents", ".claude/agents"];

const BUILT_IN: readonly AgentDefinition[] = [
  {
    name: "explore",
    description: "Finds things out in the project and reports. It reads and changes nothing.",
    prompt:
      "You find out what you are asked and report it. You can only read. Search broadly first, then read what matters. Answer with the findings themselves, naming files with line numbers, and say what you did not find. Your answer is all that is passed on.",
    tools: "read",
    place: "built in",
  },
  {
    name: "worker",
    description: "Does one task from start to end, changes included, and reports what it did.",
    prompt:
      "You do one task that you are given, and only that. When it is done, answer with what you changed and what you checked, naming files. If you cannot finish it, say what is missing. Your answer is all that is passed on.",
    place: "built in",
  },
];

/** Where agents are defined, besides the config. */
interface DefinitionPlaces {
  /** The user's own directories. */
  readonly own?: readonly string[];
  /** The project, if its files may define agents. */
  readonly project?: string | undefined;
  readonly ofPacks?: (() => readonly PackAgent[]) | undefined;
  readonly usesProject?: (() => boolean) | undefined;
}

/**
 * The agents of one registration: of the user, of files in the project if `usesProject`, of packs, and built-in ones.
 */
export class Definitions {
  readonly #ofUser: readonly AgentDefinition[];
  readonly #ofProject: readonly AgentDefinition[];
  readonly #ofPacks: () => readonly PackAgent[];
  readonly #usesProject: () => boolean;
  readonly problems: readonly DefinitionProblem[];

  constructor(
    inConfig: readonly AgentDefinition[],
    { own = [], project, ofPacks = () => [], usesProject = () => true }: DefinitionPlaces,
  ) {
    const places = project === undefined ? [] : DIRECTORIES.map((one) => join(project, one));
    const ofUser = own.map(readDefinitions);
    const read = [...ofUser, ...places.map(readDefinitions)];
    const problems = read.flatMap((one) => one.problems);
    const found = new Map(inConfig.map((one) => [one.name, one]));
    const reserved = new Set(BUILT_IN.map(({ name }) => name));
    for (const one of read.flatMap(({ definitions }) => definitions)) {
      const first = found.get(one.name);
      if (first)
        problems.push({
          place: one.place,
          problem: `${quote(one.name)} is defined by ${first.place} already`,
        });
      // Users and models expect `explore` to change nothing; only the config may override it.
      else if (reserved.has(one.name)) {
        problems.push({ place: one.place, problem: `${quote(one.name)} is built in. Choose another name` });
      } else found.set(one.name, one);
    }
    const users = new Set([...inConfig, ...ofUser.flatMap(({ definitions }) => definitions)]);
    const all = [...found.values()];
    this.#ofUser = all.filter((one) => users.has(one));
    this.#ofProject = all.filter((one) => !users.has(one));
    this.#ofPacks = ofPacks;
    this.#usesProject = usesProject;
    this.problems = problems;
  }

  /** All agents; the first of a name wins. */
  list(): AgentDefinition[] {
    const packs = this.#ofPacks().map(
      ({ systemPrompt, ...rest }): AgentDefinition => ({ ...rest, prompt: systemPrompt, place: "a pack" }),
    );
    const ofProject = this.#usesProject() ? this.#ofProject : [];
    const all = [...this.#ofUser, ...ofProject, ...BUILT_IN, ...packs];
    const byName = new Map<string, AgentDefinition>();
    for (const one of all) if (!byName.has(one.name)) byName.set(one.name, one);
    return [...byName.values()];
  }

  /** Throws for an unknown name, listing the known ones. */
  get(name: string): AgentDefinition {
    const all = this.list();
    const found = all.find((one) => one.name === name);
    if (found) return found;
    const names = all.map((one) => one.name);
    throw new Error(
      `there is no agent ${quote(name)}. ${didYouMean(name, names)} There are: ${names.join(", ")}.`,
    );
  }
}

/** The tools of a child. */
export interface ChildTools {
  readonly names: readonly string[];
  /** Whether one of them may change files. */
  readonly mayWrite: boolean;
}

/**
 * The tools of a child: those of its definition among the enabled ones, without `own`, which start agents. Throws for
 * an unknown tool.
 */
export function toolsOf(
  { name, tools, optionalTools = [], withoutTools = [], place }: AgentDefinition,
  registry: PackRegistry,
  own: readonly string[],
): ChildTools {
  const known = registry.getToolNames().filter((tool) => !own.includes(tool));
  const isUnknown = (tool: string): boolean => !registry.hasTool(tool) && !optionalTools.includes(tool);
  const unknown = Array.isArray(tools) ? tools.find(isUnknown) : undefined;
  if (unknown !== undefined) {
    throw new Error(
      `the agent ${quote(name)} (${place}) names the tool ${quote(unknown)}, which does not exist. ${didYouMean(unknown, known)}`,
    );
  }
  const usable = known
    .filter((tool) => registry.isToolEnabled(tool) && !withoutTools.some((one) => covers(one, tool)))
    .map((tool): Pick<ToolDetails, "name" | "capabilities"> => {
      return registry.describeTool?.(tool) ?? { name: tool, capabilities: [] };
    });
  const chosen = usable.filter((tool) =>
    tools === undefined ? true : tools === "read" ? onlyReads(tool) : tools.includes(tool.name),
  );
  if (chosen.length === 0) throw new Error(`the agent ${quote(name)} (${place}) has no tool that is on.`);
  return { names: chosen.map((tool) => tool.name), mayWrite: chosen.some(mayWrite) };
}

function covers(name: string, tool: string): boolean {
  if (name.endsWith("*")) return tool.startsWith(name.slice(0, -1));
  return tool === name || tool.startsWith(`${name}__`);
}

function mayWrite({ capabilities }: Pick<ToolDetails, "capabilities">): boolean {
  return capabilities.length === 0 || capabilities.some((one) => one !== "read" && one !== "network");
}

function onlyReads({ capabilities }: Pick<ToolDetails, "capabilities">): boolean {
  return capabilities.length > 0 && capabilities.every((one) => one === "read");
}
