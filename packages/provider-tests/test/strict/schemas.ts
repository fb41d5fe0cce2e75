import { asRecord, type Fields, refuse } from "./rules.js";

/** What one server accepts in a JSON Schema. */
interface SchemaRules {
  readonly keywords: readonly string[];
  /** Refuses what the keywords alone do not tell, for each schema inside the given one. */
  judge?(schema: Fields, where: string): void;
}

const LISTS = ["anyOf", "oneOf", "allOf", "prefixItems"];
const NAMED = ["properties", "$defs", "definitions"];

/** Refuses a schema with a keyword that the server does not know, or a reference to nothing. */
function checkSchema(rules: SchemaRules, root: Fields): void {
  const check = (schema: Fields, where: string): void => {
    for (const [keyword, value] of Object.entries(schema)) {
      const place = `${where}.${keyword}`;
      if (!rules.keywords.includes(keyword))
        refuse(`Unknown name "${keyword}" at ${where}: Cannot find field.`);
      if (keyword === "$ref") checkReference(root, String(value));
      const inside = (one: unknown): void => check(asRecord(place, one), place);
      if (NAMED.includes(keyword)) Object.values(asRecord(place, value)).forEach(inside);
      if (LISTS.includes(keyword)) (value as unknown[]).forEach(inside);
      if (keyword === "items") inside(value);
    }
    rules.judge?.(schema, where);
  };
  check(root, "schema");
}

function checkReference(root: Fields, reference: string): void {
  const [, ...path] = reference.split("/");
  const found = path.reduce<unknown>(
    (at, name) => (typeof at === "object" && at !== null ? (at as Fields)[name] : undefined),
    root,
  );
  if (found === undefined) refuse(`reference to undefined schema: ${reference}`);
}

const GOOGLE: SchemaRules = {
  keywords:
    "$anchor $defs $id $ref additionalProperties anyOf description enum format items maxItems maximum minItems minimum oneOf prefixItems properties propertyOrdering required title type".split(
      " ",
    ),
  judge: (schema, where) => {
    const beside = Object.keys(schema).find((keyword) => !keyword.startsWith("$"));
    if (schema.$ref !== undefined && where !== "schema" && beside !== undefined) {
      refuse(`${where}: no other properties than those starting as a $ may be set beside $ref: ${beside}`);
    }
    const values = (schema.enum ?? []) as unknown[];
    if (!values.every((value) => typeof value === "string" || typeof value === "number"))
      refuse(`${where}.enum: only strings and numbers are supported`);
  },
};

const ANTHROPIC_OUTPUT: SchemaRules = {
  keywords:
    "$defs $ref additionalProperties allOf anyOf const description enum format items properties required title type".split(
      " ",
    ),
  judge: (schema, where) => {
    if (schema.type === "object" && schema.additionalProperties !== false)
      refuse(
        `output_config.format.schema: For 'object' type, 'additionalProperties' must be false: ${where}`,
      );
  },
};

const STRICT_MODE: SchemaRules = {
  keywords:
    "$defs $ref $schema additionalProperties anyOf const definitions description enum exclusiveMaximum exclusiveMinimum format items maxItems maximum minItems minimum multipleOf pattern properties required title type".split(
      " ",
    ),
  judge: (schema, where) => {
    const wrong = (words: string): never => refuse(`Invalid schema for response_format: ${where}: ${words}`);
    if (!("type" in schema || "anyOf" in schema || "$ref" in schema)) wrong("schema must have a 'type' key");
    if (where === "schema" && "anyOf" in schema) wrong("schema must have type 'object' and not have 'anyOf'");
    if (schema.type === "array" && schema.items === undefined) wrong("array schema missing items");
    if (schema.format === "uri") wrong("'uri' is not a valid format");
    if (schema.type !== "object") return;
    const names = Object.keys(asRecord(where, schema.properties ?? {}));
    const required = (schema.required ?? []) as unknown[];
    if (schema.additionalProperties !== false) wrong("'additionalProperties' is required to be false");
    if (!names.every((name) => required.includes(name))) wrong("'required' must include every key");
  },
};

export const checkGoogleSchema = (schema: Fields): void => checkSchema(GOOGLE, schema);
export const checkAnthropicOutput = (schema: Fields): void => checkSchema(ANTHROPIC_OUTPUT, schema);

/** Checks a structured answer of OpenAI's APIs: any schema is accepted, unless it is to be enforced exactly. */
export function checkJsonSchemaFormat({ name, schema, strict }: Fields): void {
  if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(name))) refuse("Invalid 'response_format.json_schema.name'");
  if (strict === true) checkSchema(STRICT_MODE, asRecord("schema", schema));
}
