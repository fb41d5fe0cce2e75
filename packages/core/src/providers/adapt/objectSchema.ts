import { isRecord } from "@agent/internal";
import { checkObject } from "../../toolkit/hostOptions/checks.js";
import type { JsonSchema } from "../../tools/tool.js";
import type { AdaptedSchema } from "./keywords.js";

// Several servers accept these keywords anywhere except at the top of a tool's parameters.
const REFUSED_ON_TOP = ["oneOf", "anyOf", "allOf", "enum", "not"] as const;

type Properties = Record<string, unknown>;

/**
 * A tool's parameters as one object schema, for servers that refuse alternatives at the top level. It has the
 * properties of all branches; only those that the schema requires outside of them are required. The registry still
 * validates each call against the tool's own schema.
 */
export function objectSchema(schema: JsonSchema | undefined): AdaptedSchema {
  if (schema !== undefined) checkObject("schema", schema);
  const { type: _, ...given }: JsonSchema = schema ?? {};
  const leftOut = REFUSED_ON_TOP.filter((keyword) => given[keyword] !== undefined);
  if (leftOut.length === 0) {
    if (schema?.type === "object" && isRecord(schema.properties)) return { schema, leftOut };
    return { schema: { type: "object", properties: {}, ...given }, leftOut };
  }
  const properties: Properties = {};
  const required = new Set<unknown>();
  collect(given, properties, required, true);
  const rest = Object.fromEntries(
    Object.entries(given).filter(([keyword]) => !(REFUSED_ON_TOP as readonly string[]).includes(keyword)),
  );
  return {
    schema: {
      ...rest,
      type: "object",
      properties,
      ...(required.size > 0 && { required: [...required] }),
    },
    leftOut,
  };
}

function collect(
  schema: Readonly<Record<string, unknown>>,
  properties: Properties,
  required: Set<unknown>,
  isCertain: boolean,
): void {
  for (const [name, property] of Object.entries(isRecord(schema.properties) ? schema.properties : {})) {
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    properties[name] = known === undefined ? property : eitherOf(known, property);
  }
  if (isCertain && Array.isArray(schema.required)) for (const name of schema.required) required.add(name);
  for (const branch of branchesOf(schema.allOf)) collect(branch, properties, required, isCertain);
  for (const branch of [...branchesOf(schema.oneOf), ...branchesOf(schema.anyOf)]) {
    collect(branch, properties, required, false);
  }
}

function branchesOf(list: unknown): Record<string, unknown>[] {
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function eitherOf(known: unknown, other: unknown): unknown {
  if (JSON.stringify(known) === JSON.stringify(other)) return known;
  const before = isRecord(known) && Array.isArray(known.anyOf) ? known.anyOf : [known];
  return { anyOf: [...before, other] };
}
