import { describeValue, didYouMean, isRecord, quote } from "@agent/internal";
import { AgentError } from "../errors.js";
import { checkOptions, type OptionChecks } from "../toolkit/hostOptions/checkOptions.js";
import { arrayOf, checkFunction, checkObject, checkText, textsOf } from "../toolkit/hostOptions/checks.js";
import {
  type Parsed,
  readSchema,
  type Schema,
  type SchemaInput,
  type SchemaReader,
  type SchemaValue,
  type StandardSchema,
} from "../toolkit/jsonSchema/standardSchema.js";
import type { ExecutableTool } from "./interface.js";
import type { PackRegistry } from "./pack.js";
import type { PackHost } from "./packHost.js";
import type { PackServices } from "./packServices.js";

/** A tool that stays off until the user enables it. */
export interface Off<Tool extends ExecutableTool = ExecutableTool> {
  readonly off: Tool;
}

/** Declares a tool that stays off until the user enables it: `tools: [now, off(forecast)]`. */
export function off<const Tool extends ExecutableTool>(tool: Tool): Off<Tool> {
  checkObject("tool", tool);
  return { off: tool };
}

/** The options of a pack that takes none. */
export type NoOptions = StandardSchema<Record<string, never>>;

type EntryName<Entry> =
  Entry extends Off<infer Tool> ? Tool["name"] : Entry extends ExecutableTool ? Entry["name"] : never;

/** The host as `setup` gets it: what it cannot provide is absent. The options are checked. */
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
  /**
   * Called for each agent that uses the pack. Returns its tools and services. Synchronous; `registry` takes tools that are known
   * only later, and takes tools away.
   */
  readonly setup: (
    host: SetupHost<SchemaValue<S>>,
    registry: PackRegistry,
  ) => { readonly tools: Tools } & PackServices;
}

/** What a module of a pack exports. */
export interface DefinedPack<Name extends string, Names extends string, Options> {
  readonly packName: Name;
  readonly packApiVersion: 1;
  readonly secrets: readonly string[] | undefined;
  readonly register: (registry: PackRegistry<Names>, host?: PackHost<Options>) => void;
}

const DEFINITION: OptionChecks<Record<keyof PackDefinition<string, []>, unknown>> = {
  name: checkText,
  options: () => undefined,
  secrets: textsOf("names of variables"),
  setup: checkFunction,
};

/**
 * A pack in a few lines: its tools, its options checked by a schema, and what else it brings. Throws `invalid_argument` for a
 * definition that lacks something.
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
  const { name, options: schema, secrets, setup } = definition;
  checkText("name", name);
  checkFunction("setup", setup);
  const parse = optionsParser(name, schema);
  return {
    packName: name,
    packApiVersion: 1,
    secrets,
    register: (registry, host) => {
      const options = parse(host?.options) as SchemaValue<S>;
      const made: unknown = setup({ ...host, options }, registry);
      const { tools, services } = checkMade(name, made);
      // Before the tools: if one of them is refused, the services are disposed of.
      if (Object.keys(services).length > 0) registry.provide?.(services);
      for (const entry of tools) {
        if ("off" in entry) registry.register(entry.off as never, { enabled: false });
        else registry.register(entry as never);
      }
    },
  };
}

function checkMade(
  name: string,
  made: unknown,
): { readonly tools: readonly (ExecutableTool | Off)[]; readonly services: PackServices } {
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
  const { tools, ...services } = made;
  arrayOf("tools")("setup().tools", tools);
  for (const [index, entry] of (tools as unknown[]).entries()) checkObject(`setup().tools[${index}]`, entry);
  return { tools: tools as readonly (ExecutableTool | Off)[], services };
}

/** Checks options when the pack registers. The schema is compiled with the first options, since most packs have none. */
function optionsParser(name: string, schema: Schema | undefined): (options: unknown) => unknown {
  const refuse = (problem: string): AgentError => new AgentError("invalid_argument", `${name}: ${problem}`);
  const where = `definePack ${quote(name)}: options`;
  let known: SchemaReader | undefined;
  return (options = {}) => {
    if (!isRecord(options)) throw refuse(`options must be an object, got ${describeValue(options)}.`);
    if (schema === undefined || isFree(schema, options)) {
      const names = Object.keys(options).map(quote);
      if (names.length > 0) throw refuse(`it takes no options, got ${names.join(", ")}.`);
      return {};
    }
    known ??= readSchema(schema, where, { mayLackJsonSchema: true });
    const reader = known;
    const unknown = unknownOption(options, reader);
    if (unknown !== undefined) throw refuse(unknown);
    const parsed: Parsed | Promise<Parsed> = reader.parse(options);
    if (parsed instanceof Promise) {
      parsed.catch(() => undefined);
      throw refuse(
        "the schema of its options is asynchronous, and a pack registers synchronously. Use a schema without asynchronous checks.",
      );
    }
    if ("problem" in parsed) throw refuse(`option ${parsed.problem}`);
    return parsed.value;
  };
}

/** Whether there is nothing to check: a preset passes an options block to each pack, and most are empty. */
function isFree(schema: Schema, options: Record<string, unknown>): boolean {
  return !("~standard" in schema) && schema.required === undefined && Object.keys(options).length === 0;
}

/** A library's schema may drop what it does not know: then a misspelt option would silently mean the default. */
function unknownOption(options: Record<string, unknown>, reader: SchemaReader): string | undefined {
  const { properties, patternProperties, additionalProperties = false } = reader.jsonSchema;
  if (!isRecord(properties) || patternProperties !== undefined || additionalProperties !== false)
    return undefined;
  const unknown = Object.keys(options).find((one) => !Object.hasOwn(properties, one));
  if (unknown === undefined) return undefined;
  return `there is no option ${quote(unknown)}. ${didYouMean(unknown, Object.keys(properties))}`;
}
