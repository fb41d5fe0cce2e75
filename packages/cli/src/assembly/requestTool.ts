import { type CallHooks, defineTool, type PackHost, registerPack, type ToolInfo } from "@agent/core";
import { formatRule, type Permissions, parseRule } from "@agent/core/host";
import { escapeToLine, firstSentence } from "@agent/internal";

import type { AssembledTools } from "./assembleTools.js";
import { BY_DEFAULT } from "./packs/switches.js";

const NAME = "request_tool";
const LONGEST_REASON = 500;

interface RequestOptions {
  readonly permissions: Permissions;
  readonly permit: NonNullable<PackHost["permit"]>;
}

/** The disabled tools that the user has not decided about. */
export function undecidedTools({
  registry,
  reasons,
}: Pick<AssembledTools, "registry" | "reasons">): ToolInfo[] {
  return registry.describeTools().filter(({ name, enabled }) => !enabled && reasons.get(name) === BY_DEFAULT);
}

/** The tools that the model may request. */
export interface OfferedTools {
  /** Disables a tool that was allowed for one call after that call, and refuses a second one. */
  readonly hooks: CallHooks;
  /** Disables tools that were allowed for one call that did not happen. Called at the end of each turn. */
  endTurn(): void;
}

/**
 * Lets the model request a disabled tool: the user decides for one call, this session or this project. Enables what the
 * user allowed in this project before. Returns `undefined` if no tool is disabled.
 */
export function offerTools(
  tools: AssembledTools,
  { permissions, permit }: RequestOptions,
): OfferedTools | undefined {
  const { registry } = tools;
  const isGranted = (name: string): boolean =>
    permissions.grants.some(({ rule }) => formatRule(rule) === ruleFor(name));
  for (const { name } of undecidedTools(tools)) {
    if (isGranted(name)) registry.enable(name);
  }
  const off = undecidedTools(tools);
  if (off.length === 0) return undefined;
  const names = new Set(off.map(({ name }) => name));
  /** The tools that are enabled for one call, and whether that call has happened. */
  const once = new Map<string, "open" | "used">();
  const turnOff = (name: string): void => {
    const { mode } = permissions;
    // Plan mode re-enables what it disabled, so this tool must not be on its list.
    if (mode === "plan") permissions.mode = "ask";
    registry.disable(name);
    if (mode === "plan") permissions.mode = mode;
  };
  const tool = defineTool({
    name: NAME,
    description: `Ask the user to turn on a tool that is off. Use it when the task needs one, before you say that something cannot be done. Off: ${off.map(({ name, description }) => `${name} (${purpose(description)})`).join("; ")}.`,
    input: {
      type: "object",
      properties: {
        name: { type: "string", enum: [...names] },
        reason: { type: "string", description: "What it is needed for, in one sentence" },
      },
      required: ["name", "reason"],
      additionalProperties: false,
    },
    capabilities: ["read"],
    kind: "other",
    titleFrom: "name",
    deadlineMs: Number.POSITIVE_INFINITY,
    execute: async ({ name, reason }, { signal }) => {
      if (registry.isToolEnabled(name) && once.get(name) !== "used") return `${name} is on already.`;
      if (permissions.mode === "plan")
        return `${name} stays off in plan mode. Describe what you would do with it.`;
      const what = purpose(off.find((one) => one.name === name)?.description ?? "");
      const answer = await permit({
        source: "The model",
        permission: ruleFor(name),
        message: `May I use ${name}? (${what})\nReason: ${escapeToLine(reason.slice(0, LONGEST_REASON).toWellFormed())}`,
        signal,
      });
      if (answer !== "allowed") {
        return `${name} stays off: ${answer === "refused" ? "the user does not want it" : "the user did not answer"}. Work without it, or say what is left to do.`;
      }
      registry.enable(name);
      if (isGranted(name)) {
        once.delete(name);
        return `${name} is on.`;
      }
      once.set(name, "open");
      return `${name} is on for one call.`;
    },
  });
  registerPack(registry, {
    packName: "@agent/cli",
    packApiVersion: 1,
    register: (to) => to.register(tool),
  });
  return {
    hooks: {
      name: NAME,
      beforeCall: ({ name }) => {
        const isSpent = once.get(name) === "used" || (names.has(name) && !registry.isToolEnabled(name));
        if (isSpent) return { deny: `${name} was on for one call. Ask for it again with ${NAME}.` };
        // Before the user decides about the call: a refusal uses up the permission too.
        if (once.has(name)) once.set(name, "used");
        return undefined;
      },
      afterCall: ({ name }) => {
        if (once.get(name) === "used" && once.delete(name)) turnOff(name);
        return undefined;
      },
    },
    endTurn: () => {
      for (const name of once.keys()) turnOff(name);
      once.clear();
    },
  };
}

/** The rule under which the user's answer is stored, and listed by `/permissions`. */
function ruleFor(name: string): string {
  return formatRule(parseRule(`tool.enable(${name})`));
}

/** What a tool does, for the inside of a sentence. */
function purpose(description: string): string {
  return firstSentence(description, 200).replace(/\.$/, "");
}
