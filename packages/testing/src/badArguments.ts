import type { JsonSchema } from "@agent/core";
import { compileSchema } from "@agent/core/toolkit";
import type { SampleCall } from "./types.js";

const WRONG_VALUES: readonly unknown[] = ["text", 4.5, true, null, [], {}];
// Values that a schema usually accepts and a tool may still fail on. None is a path outside the workspace, since tools
// that remove files are called with them too.
const HOSTILE_TEXTS = ["", "\0", "\u{e0041}\ud800", "x".repeat(100_000)];
const HOSTILE_NUMBERS = [-1, 0, 1e308, Number.MAX_SAFE_INTEGER];

interface Parameters {
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
}

/** Calls the schema refuses: a required argument missing, or one of a wrong type. They never reach the tool. */
export function refusedCalls(schema: JsonSchema): SampleCall[] {
  const { properties, required } = parametersOf(schema);
  const refuses = refusal(schema);
  const missing = required.map((left) =>
    Object.fromEntries(required.filter((name) => name !== left).map((name) => [name, "text"])),
  );
  const mistyped = Object.keys(properties).flatMap((name) =>
    WRONG_VALUES.map((value) => ({ [name]: value })),
  );
  return [...missing, ...mistyped].filter((args) => refuses(args));
}

/** A call with generated arguments: the required ones if the schema accepts those alone, otherwise all. */
export function exampleCall(schema: JsonSchema): SampleCall | undefined {
  const { properties, required } = parametersOf(schema);
  const refuses = refusal(schema);
  const all = Object.keys(properties);
  const calls = [required, all].map((names) =>
    Object.fromEntries(names.map((name) => [name, exampleValue(properties[name] ?? {})])),
  );
  return calls.find((args) => !refuses(args));
}

function exampleValue(schema: JsonSchema): unknown {
  const { type, enum: choices, const: only, default: usual, anyOf, oneOf, format } = schema as Example;
  if (only !== undefined) return only;
  if (usual !== undefined) return usual;
  if (Array.isArray(choices)) return choices[0];
  const [variant] = anyOf ?? oneOf ?? [];
  if (variant !== undefined) return exampleValue(variant);
  switch (Array.isArray(type) ? type[0] : type) {
    case "number":
    case "integer":
      return (schema as { minimum?: number }).minimum ?? 1;
    case "boolean":
      return true;
    case "array":
      return [exampleValue((schema as { items?: JsonSchema }).items ?? { type: "string" })];
    case "object": {
      const { properties, required } = parametersOf(schema);
      return Object.fromEntries(required.map((name) => [name, exampleValue(properties[name] ?? {})]));
    }
    case "null":
      return null;
    default:
      return format === "uri" || format === "url" ? "https://example.com/" : "example";
  }
}

interface Example {
  readonly type?: string | readonly string[];
  readonly enum?: unknown;
  readonly const?: unknown;
  readonly default?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly format?: string;
}

/** Calls that the schema accepts, with one argument of the sample replaced with a hostile value. */
export function hostileCalls(schema: JsonSchema, sample: SampleCall): SampleCall[] {
  const { properties } = parametersOf(schema);
  const refuses = refusal(schema);
  return Object.entries(properties)
    .flatMap(([name, { type }]) => {
      const values =
        type === "string" ? HOSTILE_TEXTS : type === "number" || type === "integer" ? HOSTILE_NUMBERS : [];
      return values.map((value) => ({ ...sample, [name]: value }));
    })
    .filter((args) => !refuses(args));
}

/**
 * Whether a misspelt argument would be accepted. An explicit `additionalProperties: true` is considered intentional.
 */
export function ignoresUnknownArguments(schema: JsonSchema): boolean {
  return !["additionalProperties", "patternProperties", "propertyNames"].some((keyword) => keyword in schema);
}

function refusal(schema: JsonSchema): (args: SampleCall) => boolean {
  const check = compileSchema(schema);
  return (args) => check(args) !== undefined;
}

function parametersOf(schema: JsonSchema): Parameters {
  const { properties = {}, required = [] } = schema as Partial<Parameters>;
  return { properties, required };
}
