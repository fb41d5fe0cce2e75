import { describeValue, isRecord, quote } from "@agent/internal";
import { parseHostPattern } from "../sandbox/hostPattern.js";
import type { ToolKind } from "../tools/callDescription.js";
import type { Diagnosis, PackAgent, PackNeeds, PackSkill } from "../tools/pack.js";
import {
  type ChatTool,
  type FreeformInput,
  type JsonSchema,
  TOOL_CAPABILITIES,
  type ToolCapability,
} from "../tools/tool.js";

/** Any host of the public internet. */
export const ANY_HOST = "*";
const MAX_TOOLS = 256;
const MAX_NAMES = 64;

/** The access that the user granted to a pack. */
export interface PackGrants extends PackNeeds {
  /** Whether it may start programs, inside the same sandbox. */
  readonly programs?: boolean;
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
  /** The optional functions it implements besides `execute`. */
  readonly functions: readonly ToolFunction[];
}

const FUNCTIONS = [
  "parseArguments",
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
  /** Features that work only inside the host process, such as `hooks`. Such a pack cannot be isolated. */
  readonly unsupported: readonly string[];
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
    unsupported,
  } = value;
  if (packName !== undefined && typeof packName !== "string") throw wrong("packName", packName);
  if (!isRecord(tools) || Object.keys(tools).length > MAX_TOOLS) throw wrong("tools", tools);
  const checkedTools = Object.entries(tools).map(([name, tool]) => [name, readTool(name, tool)] as const);
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
    unsupported: texts("unsupported", unsupported),
  };
}

/** Checks grants read from a file. Throws if they are malformed. */
export function readGrants(value: unknown): PackGrants {
  return { ...readNeeds(value), ...(isRecord(value) && value.programs === true && { programs: true }) };
}

/** Checks the access that a pack declares to need. Throws if it is malformed. */
function readNeeds(value: unknown): PackNeeds {
  if (!isRecord(value)) throw wrong("needs", value);
  const { files, hosts } = value;
  if (files !== undefined && files !== "read") throw wrong("needs.files", files);
  for (const host of hosts === undefined ? [] : texts("needs.hosts", hosts)) {
    if (host !== ANY_HOST) parseHostPattern(host, "needs.hosts", quote(ANY_HOST));
  }
  return {
    ...(files !== undefined && { files }),
    ...(hosts !== undefined && { hosts: texts("needs.hosts", hosts) }),
  };
}

function readTool(name: string, value: unknown): ManifestTool {
  if (!isRecord(value)) throw wrong(`tool ${name}`, value);
  const { schema, capabilities, functions, enabled, deferred } = value;
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

/** Checks a pack's answer to `diagnose`. */
export function readDiagnoses(value: unknown, pack: string): Diagnosis[] {
  const list = Array.isArray(value) ? value.slice(0, MAX_NAMES) : [];
  return list.filter(isRecord).map(({ subject, ok, detail, cure }) => ({
    subject: typeof subject === "string" ? subject : pack,
    ok: ok === true,
    detail: typeof detail === "string" ? detail : quote(pack),
    ...(typeof cure === "string" && { cure }),
  }));
}
