import { describeValue, isRecord, LONGEST_TIMER_MS, quote } from "@agent/internal";
import { formatPattern, parseHostPattern } from "../sandbox/hostPattern.js";
import type { ToolKind } from "../tools/callDescription.js";
import type { BackgroundJob, Diagnosis, PackAgent, PackNeeds, PackPrompt, PackSkill } from "../tools/pack.js";
import { HOOKS } from "../tools/services.js";
import {
  type ChatTool,
  type FreeformInput,
  type JsonSchema,
  TOOL_CAPABILITIES,
  type ToolCapability,
} from "../tools/tool.js";

/** Any host of the public internet. */
export const ANY_HOST = "*";
export const MAX_TOOLS = 256;
const MAX_NAMES = 64;
const MAX_TITLE_CHARACTERS = 1000;
const MAX_PROMPT_CHARACTERS = 16 * 1024;

export type HookName = (typeof HOOKS)[number];

/** The access that the user granted to a pack. */
export interface PackGrants extends PackNeeds {
  /** Whether it may start programs, inside the same sandbox. */
  readonly programs?: boolean;
  /** The hooks that may be called: they see calls of other tools, and messages. */
  readonly hooks?: readonly HookName[];
}

/** A tool as it is registered before its pack runs. */
export interface ManifestTool {
  readonly schema: ChatTool;
  readonly enabled: boolean;
  readonly capabilities: readonly ToolCapability[];
  readonly deferred?: true;
  readonly deadlineMs?: number;
  readonly repeatable?: boolean;
  readonly titleFrom?: string | readonly string[];
  readonly pathArguments?: readonly string[];
  readonly insteadOf?: string;
  readonly freeform?: FreeformInput;
  readonly kind?: ToolKind;
  readonly outputSchema?: JsonSchema;
  readonly describeLimitMs?: number;
  /** `true`: it is registered only after the process has started. */
  readonly late?: true;
  /** The optional functions it implements besides `execute`. */
  readonly functions: readonly ToolFunction[];
}

export const FUNCTIONS = [
  "parseArguments",
  "redirect",
  "describeCall",
  "previewCall",
  "findAccessNeeds",
  "permissions",
] as const;
type ToolFunction = (typeof FUNCTIONS)[number];

/** Everything a pack registers, as data: enough to offer its tools to a model before its process has started. */
export interface PackManifest {
  readonly packName?: string;
  readonly secrets: readonly string[];
  readonly needs: PackNeeds;
  readonly tools: Readonly<Record<string, ManifestTool>>;
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  /** Names of its sources of mentions. */
  readonly mentions: readonly string[];
  readonly skills: readonly PackSkill[];
  readonly agents: readonly PackAgent[];
  readonly diagnoses: boolean;
  /** Its texts for the system prompt without options and state; `null` for a function that returned none. */
  readonly prompts: readonly (PackPrompt | null)[];
  readonly hooks: readonly ManifestHooks[];
  /** Whether it may have background work. */
  readonly jobs: boolean;
  /** The tools it announced with `registerLater`, and why they could not be loaded during the inspection. */
  readonly late: readonly { readonly description: string; readonly problem?: string }[];
}

/** One set of hooks of a pack. */
export interface ManifestHooks {
  readonly timeoutMs?: number;
  readonly methods: readonly HookName[];
}

/** Checks a manifest that comes from a process or a file. Throws if it is malformed. */
export function readManifest(value: unknown): PackManifest {
  if (!isRecord(value)) throw wrong("the manifest", value);
  const {
    packName,
    secrets,
    needs = {},
    tools,
    commands,
    mentions,
    skills,
    agents,
    diagnoses,
    prompts = [],
    hooks = [],
    jobs,
    late = [],
  } = value;
  if (packName !== undefined && typeof packName !== "string") throw wrong("packName", packName);
  if (!isRecord(tools) || Object.keys(tools).length > MAX_TOOLS) throw wrong("tools", tools);
  const checkedTools = Object.entries(tools).map(([name, tool]) => [name, readTool(name, tool)] as const);
  named("late", late, ["description"]);
  return {
    ...(packName !== undefined && { packName }),
    secrets: texts("secrets", secrets),
    needs: readNeeds(needs),
    tools: Object.fromEntries(checkedTools),
    commands: named("commands", commands, ["name", "description"]) as unknown as PackManifest["commands"],
    mentions: texts("mentions", mentions),
    skills: named("skills", skills, ["name", "description", "file"]) as unknown as readonly PackSkill[],
    agents: named("agents", agents, [
      "name",
      "description",
      "systemPrompt",
    ]) as unknown as readonly PackAgent[],
    diagnoses: diagnoses === true,
    prompts: readPrompts(prompts),
    hooks: readHooks(hooks),
    jobs: jobs === true,
    late: late as PackManifest["late"],
  };
}

/** Checks texts for the system prompt. Throws for anything else. */
export function readPrompts(value: unknown): (PackPrompt | null)[] {
  if (!Array.isArray(value) || value.length > MAX_NAMES) throw wrong("prompts", value);
  return value.map((prompt) => {
    if (prompt === null) return null;
    const { title, text } = Object(prompt) as Record<string, unknown>;
    if (typeof title !== "string" || typeof text !== "string") throw wrong("a text for the prompt", prompt);
    return { title: title.slice(0, MAX_TITLE_CHARACTERS), text: text.slice(0, MAX_PROMPT_CHARACTERS) };
  });
}

function readHooks(value: unknown): ManifestHooks[] {
  if (!Array.isArray(value) || value.length > MAX_NAMES) throw wrong("hooks", value);
  return value.map((one) => {
    const { timeoutMs, methods } = Object(one) as Record<string, unknown>;
    if (timeoutMs !== undefined && !isNumber(timeoutMs)) throw wrong("timeoutMs of hooks", timeoutMs);
    const known = texts("the methods of hooks", methods);
    return {
      ...(timeoutMs !== undefined && { timeoutMs: Math.min(Math.ceil(Number(timeoutMs)), LONGEST_TIMER_MS) }),
      methods: HOOKS.filter((method) => known.includes(method)),
    };
  });
}

/** Checks grants read from a file. Throws if they are malformed. */
export function readGrants(value: unknown): PackGrants {
  const { programs, hooks } = isRecord(value) ? value : {};
  const known = hooks === undefined ? [] : texts("hooks", hooks);
  return {
    ...readNeeds(value),
    ...(programs === true && { programs: true }),
    ...(known.length > 0 && { hooks: HOOKS.filter((hook) => known.includes(hook)) }),
  };
}

/** Checks the access that a pack declares to need. Throws if it is malformed. */
function readNeeds(value: unknown): PackNeeds {
  if (!isRecord(value)) throw wrong("needs", value);
  const { files, hosts, calls } = value;
  if (calls !== undefined && typeof calls !== "boolean") throw wrong("needs.calls", calls);
  if (files !== undefined && files !== "read" && files !== "write") throw wrong("needs.files", files);
  const named = hosts === undefined ? [] : texts("needs.hosts", hosts);
  const canonical = named.map((host) =>
    host === ANY_HOST ? host : formatPattern(parseHostPattern(host, "needs.hosts", quote(ANY_HOST))),
  );
  return {
    ...(files !== undefined && { files }),
    ...(hosts !== undefined && { hosts: canonical }),
    ...(calls === true && { calls }),
  };
}

/** Checks a tool from a process or a file. Throws if it is malformed. */
export function readTool(name: string, value: unknown): ManifestTool {
  if (!isRecord(value)) throw wrong(`tool ${name}`, value);
  const { schema, capabilities, functions, enabled, deferred, late } = value;
  if (!isRecord(schema) || !isRecord(schema.function) || schema.function.name !== name) {
    throw wrong(`the schema of ${name}`, schema);
  }
  const known = texts(`the capabilities of ${name}`, capabilities);
  const checked = texts(`the functions of ${name}`, functions);
  const plain = Object.fromEntries(
    Object.entries(PLAIN).flatMap(([key, check]) => {
      const given = value[key];
      if (given === undefined) return [];
      if (!check(given)) throw wrong(`${key} of ${name}`, given);
      return [[key, given]];
    }),
  );
  return {
    ...plain,
    schema: schema as unknown as ChatTool,
    enabled: enabled === true,
    capabilities: TOOL_CAPABILITIES.filter((one) => known.includes(one)),
    functions: FUNCTIONS.filter((one) => checked.includes(one)),
    ...(deferred === true && { deferred }),
    ...(late === true && { late }),
  };
}

const isText = (value: unknown): boolean => typeof value === "string";
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isNumber = (value: unknown): boolean => typeof value === "number" && value >= 0;

/** The fields of a tool that are copied unchanged. */
export const PLAIN: Readonly<Record<string, (value: unknown) => boolean>> = {
  deadlineMs: isNumber,
  repeatable: (value) => typeof value === "boolean",
  titleFrom: (value) => isText(value) || isTexts(value),
  pathArguments: isTexts,
  insteadOf: isText,
  freeform: (value) => isRecord(value) && isText(value.argument) && isText(value.lark),
  kind: isText,
  outputSchema: isRecord,
  describeLimitMs: isNumber,
};

function texts(where: string, value: unknown): string[] {
  if (!isTexts(value) || (value as string[]).length > MAX_NAMES) throw wrong(where, value);
  return [...(value as string[])];
}

function named(where: string, value: unknown, keys: readonly string[]): Record<string, unknown>[] {
  if (!Array.isArray(value) || value.length > MAX_NAMES) throw wrong(where, value);
  for (const one of value) {
    const missing = keys.find((key) => !isRecord(one) || typeof one[key] !== "string");
    if (missing !== undefined) throw wrong(`${missing} in ${where}`, one);
  }
  return value;
}

function wrong(where: string, value: unknown): Error {
  return new Error(`${where} must be what a pack registers, got ${describeValue(value)}.`);
}

/** Describes how a tool of a running pack differs from its manifest; `undefined` if it does not. */
export function toolDifference(approved: ManifestTool, found: ManifestTool | undefined): string | undefined {
  if (found === undefined) return "it is gone";
  const gained = found.capabilities.filter((one) => !approved.capabilities.includes(one));
  const lost = approved.capabilities.filter((one) => !found.capabilities.includes(one));
  const changes = [
    ...(gained.length === 0 ? [] : [`it now can ${gained.join(", ")}`]),
    ...(lost.length === 0 ? [] : [`it no longer declares ${lost.join(", ")}`]),
    ...(found.enabled && !approved.enabled ? ["it is on by default now"] : []),
  ];
  return changes.length === 0 ? undefined : changes.join("; ");
}

/** Checks the background work that a pack reports. Process ids and files of its sandbox mean nothing outside. */
export function readJobs(value: unknown): BackgroundJob[] {
  const list = Array.isArray(value) ? value.slice(-MAX_NAMES) : [];
  return list
    .filter(isRecord)
    .flatMap(({ id, command, startedAt, ended }) =>
      typeof id === "string" && typeof command === "string" && typeof startedAt === "number"
        ? [{ id, command, startedAt, pids: [], ...(typeof ended === "string" && { ended }) }]
        : [],
    );
}

/** Checks a pack's answer to `diagnose`. */
export function readDiagnoses(value: unknown, pack: string): Diagnosis[] {
  const list = Array.isArray(value) ? value.slice(0, MAX_NAMES) : [];
  return list.filter(isRecord).map(({ subject, ok, detail, hint }) => ({
    subject: typeof subject === "string" ? subject : pack,
    ok: ok === true,
    detail: typeof detail === "string" ? detail : quote(pack),
    ...(typeof hint === "string" && { hint }),
  }));
}
