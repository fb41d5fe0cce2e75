import { describeValue, errorMessage, isRecord } from "@agent/internal";
import { AgentError } from "../../errors.js";
import type { JsonSchema } from "../../tools/tool.js";
import { compileSchema } from "./compile.js";
import type { JsonSchemaValue } from "./jsonSchemaValue.js";

const JSON_SCHEMA_TARGET = "draft-2020-12";

/** A schema of any library that implements Standard Schema: zod, valibot, arktype and others. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: number;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    /** Standard JSON Schema, which newer versions of these libraries implement too. */
    readonly jsonSchema?: { readonly input: (options: { target: string }) => JsonSchema };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** A JSON Schema, or a schema of a library. */
export type Schema = JsonSchema | StandardSchema;

/** The type of a value that matches the schema, from its library or from the keywords of a JSON Schema. */
export type SchemaValue<S> =
  S extends StandardSchema<infer _Input, infer Output> ? Output : JsonSchemaValue<S>;

/** The type of a value that the schema accepts, before it fills in defaults or transforms it. */
export type SchemaInput<S> =
  S extends StandardSchema<infer Input, infer _Output> ? Input : JsonSchemaValue<S>;

/** The value type of an answer, given its `output` option. */
export type OutputValue<S> = S extends Schema ? SchemaValue<S> : undefined;

export type Parsed = { readonly value: unknown } | { readonly problem: string };

/** A schema in the two forms that are needed: as JSON Schema for a model, and as a function to check values. */
export interface SchemaReader {
  readonly jsonSchema: JsonSchema;
  parse(value: unknown): Parsed | Promise<Parsed>;
}

/**
 * Reads a schema of either kind. Throws `invalid_argument`, naming `where`, for anything else. With
 * `mayLackJsonSchema`, a library's schema does not need a JSON Schema for models.
 */
export function readSchema(
  schema: unknown,
  where: string,
  { mayLackJsonSchema = false }: { readonly mayLackJsonSchema?: boolean } = {},
): SchemaReader {
  if (isStandardSchema(schema)) return readStandardSchema(schema, where, mayLackJsonSchema);
  if (isRecord(schema)) return readJsonSchema(schema, where);
  throw new AgentError(
    "invalid_argument",
    `${where} must be a JSON Schema or a Standard Schema, got ${describeValue(schema)}.`,
  );
}

/** Returns the context as parsed by its schema. Throws `invalid_argument` if it does not match. */
export async function parseContext(schema: StandardSchema, context: unknown): Promise<unknown> {
  const result = await schema["~standard"].validate(context);
  if (!result.issues) return result.value;
  throw new AgentError(
    "invalid_argument",
    `The context does not fit its schema: ${result.issues.map(issueText).join("; ")}.`,
  );
}

/** Some libraries' schemas are functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  return (isRecord(schema) || typeof schema === "function") && "~standard" in schema;
}

// Tools are often defined per agent with the same schema: it is compiled once.
const compiled = new WeakMap<JsonSchema, (value: unknown) => string | undefined>();

function readJsonSchema(jsonSchema: JsonSchema, where: string): SchemaReader {
  const check = compiled.get(jsonSchema) ?? checkerOf(jsonSchema, where);
  compiled.set(jsonSchema, check);
  return {
    jsonSchema,
    parse(value) {
      const problem = check(value);
      return problem === undefined ? { value } : { problem };
    },
  };
}

function readStandardSchema(schema: StandardSchema, where: string, mayLackJsonSchema: boolean): SchemaReader {
  const { validate } = schema["~standard"];
  const read = (result: StandardResult<unknown>): Parsed =>
    result.issues ? { problem: result.issues.map(issueText).join("; ") } : { value: result.value };
  return {
    jsonSchema: mayLackJsonSchema ? jsonSchemaOrNone(schema, where) : jsonSchemaOf(schema, where),
    parse(value) {
      const result = validate(value);
      return result instanceof Promise ? result.then(read) : read(result);
    },
  };
}

function jsonSchemaOrNone(schema: StandardSchema, where: string): JsonSchema {
  try {
    return jsonSchemaOf(schema, where);
  } catch {
    return {};
  }
}

// Libraries create a new object each time; frozen ones are shared between agents.
const written = new WeakMap<StandardSchema, JsonSchema>();

function jsonSchemaOf(schema: StandardSchema, where: string): JsonSchema {
  const known = written.get(schema);
  if (known) return known;
  const { vendor, jsonSchema } = schema["~standard"];
  const methods = schema as { toJSONSchema?: () => JsonSchema; toJsonSchema?: () => JsonSchema };
  try {
    const converted =
      jsonSchema?.input({ target: JSON_SCHEMA_TARGET }) ??
      methods.toJSONSchema?.() ??
      methods.toJsonSchema?.();
    if (converted !== undefined) {
      // `$schema` is useless to a model, and some servers refuse it.
      const { $schema: _, ...rest } = converted;
      written.set(schema, rest);
      return rest;
    }
  } catch (error) {
    throw new AgentError(
      "invalid_argument",
      `${where}: this ${vendor} schema cannot be written as JSON Schema, which is what a model reads: ${errorMessage(error)}`,
    );
  }
  throw new AgentError(
    "invalid_argument",
    `${where}: this version of ${vendor} cannot write its schemas as JSON Schema, which is what a model reads. Update it (zod ≥ 4.2, arktype ≥ 2.1), wrap the schema (valibot: toStandardJsonSchema of @valibot/to-json-schema), or pass a JSON Schema.`,
  );
}

function checkerOf(schema: JsonSchema, where: string): (value: unknown) => string | undefined {
  try {
    return compileSchema(schema, where);
  } catch (error) {
    throw new AgentError("invalid_argument", `${where} is not a valid JSON Schema: ${errorMessage(error)}`);
  }
}

function issueText({ message, path = [] }: StandardIssue): string {
  const keys = path.map((step) => String(typeof step === "object" ? step.key : step));
  return keys.length === 0 ? message : `"${keys.join(".")}": ${message}`;
}
