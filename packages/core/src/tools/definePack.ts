import { describeValue, didYouMean, isRecord, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import {
  arrayOf,
  checkBoolean,
  checkFunction,
  checkObject,
  checkRegistry,
  checkText,
  textsOf,
} from "../toolkit/hostOptions/checks.js";
import { optionsObject, readOptions } from "../toolkit/hostOptions/packOptions.js";
import {
  isStandardSchema,
  type Parsed,
  readSchema,
  type Schema,
  type SchemaInput,
  type SchemaReader,
  type SchemaValue,
  type StandardSchema,
} from "../toolkit/jsonSchema/standardSchema.js";
import type { PackHost, PackNeeds, PackRegistry, PackServices } from "./pack.js";
import { withDeclarations } from "./packExports.js";
import type { ExecutableTool } from "./tool.js";

/** A tool that stays off until the user enables it. */
export interface Off<Tool extends ExecutableTool = ExecutableTool> {
  readonly off: Tool;
}

/** Declares a tool that stays off until the user enables it: `tools: [now, off(forecast)]`. */
export function off<const Tool extends ExecutableTool>(tool: Tool): Off<Tool> {
  checkObject("tool", tool);
  return { off: tool };
}

/** The options of a pack without options. */
export type NoOptions = StandardSchema<Record<string, never>>;

type EntryName<Entry> =
  Entry extends Off<infer Tool> ? Tool["name"] : Entry extends ExecutableTool ? Entry["name"] : never;

/** The host as passed to `setup`: services that it cannot provide are absent. The options are checked. */
export type SetupHost<Options> = Partial<Omit<PackHost, "options">> & { readonly options: Options };

export interface PackDefinition<
  Name extends string,
  Tools extends readonly (ExecutableTool | Off)[],
  S extends Schema = NoOptions,
> {
  /** The name of the package. */
  readonly name: Name;
  /**
   * The options: a schema of an object, of zod, valibot, arktype or another Standard Schema library, or a JSON Schema. It must
   * validate synchronously. Default: the pack takes no options.
   */
  readonly options?: S;
  /** Environment variables that hold its secrets: `["ACME_TOKEN"]`. Their values are in `host.secrets`. */
  readonly secrets?: readonly string[];
  /** The access it needs when it runs in its own process: `{ hosts: ["api.acme.com"] }`. */
  readonly needs?: PackNeeds;
  /** `true`: its tools work in `host.directory`, if the host names one. */
  readonly followsDirectory?: boolean;
  /**
   * Called for each agent that uses the pack. Returns its tools and services. Synchronous; use `registry` to add and
   * remove tools later.
   */
  readonly setup: (host: SetupHost<SchemaValue<S>>, registry: PackRegistry) => PackParts<Tools>;
}

/** The result of `setup`. */
export interface PackParts<Tools extends readonly (ExecutableTool | Off)[]> extends PackServices {
  readonly tools: Tools;
  /** Tools that are currently unavailable, with the reason: `{ web_search: "no search engine is configured" }`. */
  readonly withheld?: { readonly [Name in EntryName<Tools[number]>]?: string | undefined };
}

/** The exports of a pack module. */
export interface DefinedPack<Name extends string, Names extends string, Options> {
  readonly packName: Name;
  readonly packApiVersion: 1;
  readonly secrets: readonly string[] | undefined;
  readonly needs: PackNeeds | undefined;
  readonly followsDirectory: boolean | undefined;
  readonly register: (registry: PackRegistry<Names>, host?: PackHost<Options>) => void;
}

const DEFINITION: OptionChecks<Record<keyof PackDefinition<string, []>, unknown>> = {
  name: checkText,
  options: () => undefined,
  secrets: textsOf("names of variables"),
  needs: checkObject,
  followsDirectory: checkBoolean,
  setup: checkFunction,
};

/**
 * Defines a pack: its tools, its options checked by a schema, and its services. Throws `invalid_argument` for an
 * incomplete definition.
 *
 * @example
 * ```ts
 * import { definePack, defineTool } from "@agent/core";
 *
 * const now = defineTool({
 *   name: "now",
 *   description: "The date and the time.",
 *   input: { type: "object", properties: {} },
 *   capabilities: ["read"],
 *   execute: () => new Date().toISOString(),
 * });
 *
 * export const { packName, packApiVersion, register } = definePack({
 *   name: "agent-pack-clock",
 *   setup: () => ({ tools: [now] }),
 * });
 * ```
 */
export function definePack<
  const Name extends string,
  const Tools extends readonly (ExecutableTool | Off)[],
  const S extends Schema = NoOptions,
>(definition: PackDefinition<Name, Tools, S>): DefinedPack<Name, EntryName<Tools[number]>, SchemaInput<S>> {
  checkObject("definition", definition);
  checkOptions<Record<keyof PackDefinition<Name, Tools, S>, unknown>>(
    "definePack",
    definition as never,
    DEFINITION,
  );
  const { name, options: schema, secrets, needs, followsDirectory, setup } = definition;
  checkText("name", name);
  checkFunction("setup", setup);
  const parse = optionsParser(name, schema);
  const register = (registry: PackRegistry<EntryName<Tools[number]>>, host?: PackHost<SchemaInput<S>>) => {
    checkRegistry(registry);
    const options = parse(host?.options) as SchemaValue<S>;
    const made: unknown = setup({ ...host, options }, registry);
    const { tools, withheld, services } = checkMade(name, made);
    // Before the tools: if one of them is refused, the services are disposed of.
    if (Object.keys(services).length > 0) registry.provide?.(services);
    for (const entry of tools) {
      if ("off" in entry) registry.register(entry.off as never, { enabled: false });
      else registry.register(entry as never);
    }
    for (const [tool, reason] of withheld) registry.withhold?.(tool, reason);
  };
  return withDeclarations({ packName: name, packApiVersion: 1, secrets, needs, followsDirectory, register });
}

interface CheckedParts {
  readonly tools: readonly (ExecutableTool | Off)[];
  readonly withheld: readonly (readonly [string, string])[];
  readonly services: PackServices;
}

const PARTS = [
  "tools",
  "withheld",
  "agents",
  "commands",
  "diagnose",
  "dispose",
  "hooks",
  "jobs",
  "mentions",
  "prompt",
  "skills",
  "terminate",
  "warmUp",
] as const satisfies readonly (keyof PackParts<[]>)[];

function checkMade(name: string, made: unknown): CheckedParts {
  if (made instanceof Promise) {
    made.catch(() => undefined);
    throw new AgentError(
      "pack_invalid",
      `${name}: setup() returned a promise. It must be synchronous; use registry.registerLater for tools that take time.`,
    );
  }
  if (!isRecord(made)) {
    throw new AgentError(
      "pack_invalid",
      `${name}: setup() must return { tools }, got ${describeValue(made)}.`,
    );
  }
  // A misspelt part would silently be missing: a hook that denies nothing.
  const unknown = Object.keys(made).find((part) => !PARTS.includes(part as never));
  if (unknown !== undefined) {
    throw new AgentError(
      "pack_invalid",
      `${name}: setup() returned ${quote(unknown)}, which is not a part of a pack. ${didYouMean(unknown, PARTS)}`,
    );
  }
  const { tools, withheld = {}, ...services } = made;
  arrayOf("tools")("setup().tools", tools);
  for (const [index, entry] of (tools as unknown[]).entries()) checkObject(`setup().tools[${index}]`, entry);
  checkObject("setup().withheld", withheld);
  const reasons = Object.entries(withheld as object).filter(([, reason]) => reason !== undefined);
  for (const [tool, reason] of reasons) checkText(`setup().withheld.${tool}`, reason);
  return { tools: tools as readonly (ExecutableTool | Off)[], withheld: reasons, services };
}

/** Checks options when the pack registers. */
function optionsParser(name: string, schema: Schema | undefined): (options: unknown) => unknown {
  if (schema === undefined) {
    return (given) => {
      const names = Object.keys(optionsObject(name, given)).map(quote);
      if (names.length > 0) throw refusal(name, `it takes no options, got ${names.join(", ")}.`);
      return {};
    };
  }
  const where = `definePack ${quote(name)}: options`;
  if (!isStandardSchema(schema)) {
    checkObject(where, schema);
    return (given) => readOptions(name, given, schema);
  }
  let known: SchemaReader | undefined;
  return (given) => {
    const options = optionsObject(name, given);
    known ??= readSchema(schema, where, { mayLackJsonSchema: true });
    const reader = known;
    const unknown = unknownOption(options, reader);
    if (unknown !== undefined) throw refusal(name, unknown);
    const parsed: Parsed | Promise<Parsed> = reader.parse(options);
    if (parsed instanceof Promise) {
      parsed.catch(() => undefined);
      throw refusal(
        name,
        "the schema of its options is asynchronous, and a pack registers synchronously. Use a schema without asynchronous checks.",
      );
    }
    if ("problem" in parsed) throw refusal(name, `option ${parsed.problem}`);
    return parsed.value;
  };
}

function refusal(name: string, problem: string): AgentError {
  return new AgentError("invalid_argument", `${name}: ${problem}`);
}

/** A library's schema may drop unknown keys: then a misspelt option would silently mean the default. */
function unknownOption(options: Record<string, unknown>, reader: SchemaReader): string | undefined {
  const { properties, patternProperties, additionalProperties = false } = reader.jsonSchema;
  if (!isRecord(properties) || patternProperties !== undefined || additionalProperties !== false)
    return undefined;
  const unknown = Object.keys(options).find((one) => !Object.hasOwn(properties, one));
  if (unknown === undefined) return undefined;
  return `option ${quote(unknown)} is not known. ${didYouMean(unknown, Object.keys(properties))}`;
}
