import type { JsonSchema, PackRegistry, ToolDetails } from "@agent/core";
import { didYouMean, isRecord, quote } from "@agent/core/toolkit";

const CHARACTERS_PER_TOKEN = 4;
const MAX_DEPTH = 4;
const MAX_TYPE_CHARACTERS = 1200;
const MAX_FOUND = 20;
const DEFAULT_FOUND = 5;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;

/** A tool as a script sees it. */
interface ToolEntry {
  readonly name: string;
  readonly description: string;
  /** Its signature, as TypeScript. */
  readonly signature: string;
}

/** The tools that scripts can currently call: all enabled ones, except the one that runs scripts. */
export class Catalog {
  readonly #registry: PackRegistry;
  readonly #own: string;

  constructor(registry: PackRegistry, own: string) {
    this.#registry = registry;
    this.#own = own;
  }

  /**
   * TypeScript declarations of the enabled tools, in the order of registration, within about `tokens`. Tools that the
   * model has to search for, and tools beyond the budget, are left to `find`.
   */
  declare(tokens: number): string {
    const lines: string[] = [];
    let room = tokens * CHARACTERS_PER_TOKEN;
    let left = 0;
    for (const tool of this.#tools(({ enabled, deferred }) => enabled && !deferred)) {
      const line = `  ${signatureOf(tool)};`;
      if (line.length > room) left++;
      else {
        room -= line.length;
        lines.push(line);
      }
    }
    const more = left === 0 ? [] : [`  // ${left} more: find("words")`];
    return ["declare const tools: {", ...lines, ...more, "};"].join("\n");
  }

  /** The tools whose name or description has these words, the best first. */
  find(words: unknown, limit: unknown): ToolEntry[] {
    if (typeof words !== "string") throw new Error('find takes words: find("create issue")');
    const wanted = words
      .toLowerCase()
      .split(/[^\p{L}\p{N}]+/u)
      .filter(Boolean);
    const count = typeof limit === "number" && limit >= 1 ? Math.min(limit, MAX_FOUND) : DEFAULT_FOUND;
    return this.#tools(isUsable)
      .map((tool) => ({ tool, score: scoreOf(tool, wanted) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, count)
      .map(({ tool }) => entryOf(tool, firstSentence(tool.description)));
  }

  /** A tool with its whole description and the schema of its arguments. Throws for an unknown one. */
  describe(name: unknown): ToolEntry & { readonly parameters: JsonSchema } {
    if (typeof name !== "string") throw new Error('describe takes the name of a tool: describe("read_file")');
    const tool = this.#registry.describeTool?.(name);
    if (tool && isUsable(tool)) {
      return { ...entryOf(tool, tool.description), parameters: tool.parameters ?? {} };
    }
    const names = this.#tools(isUsable).map((one) => one.name);
    throw new Error(`there is no tool ${quote(name)}. ${didYouMean(name, names)}`);
  }

  /** Whether one of these tools, or of all tools, may change files. */
  mayWrite(names: readonly string[] | undefined): boolean {
    const chosen = this.#tools((tool) => isUsable(tool) && (names?.includes(tool.name) ?? true));
    return chosen.some(
      ({ capabilities }) =>
        capabilities.length === 0 || capabilities.some((one) => one !== "read" && one !== "network"),
    );
  }

  /** Whether results of this tool are values. */
  hasValues(name: string): boolean {
    return this.#registry.describeTool?.(name)?.outputSchema !== undefined;
  }

  #tools(select: (tool: ToolDetails) => boolean): ToolDetails[] {
    return this.#registry.getToolNames().flatMap((name) => {
      const tool = name === this.#own ? undefined : this.#registry.describeTool?.(name);
      return tool && select(tool) ? [tool] : [];
    });
  }
}

function isUsable({ enabled, withheld }: ToolDetails): boolean {
  return enabled && withheld === undefined;
}

function entryOf(tool: ToolDetails, description: string): ToolEntry {
  return { name: tool.name, description, signature: signatureOf(tool) };
}

/** `read_file(args: { path: string }): Promise<string>` */
function signatureOf({ name, parameters, outputSchema }: ToolDetails): string {
  const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
  const properties = isRecord(parameters?.properties) ? Object.keys(parameters.properties) : [];
  const required = Array.isArray(parameters?.required) && parameters.required.length > 0;
  const args =
    properties.length === 0 ? "" : `args${required ? "" : "?"}: ${boundedType(parameters, "object")}`;
  return `${key}(${args}): Promise<${outputSchema ? boundedType(outputSchema, "unknown") : "string"}>`;
}

function boundedType(schema: unknown, otherwise: string): string {
  const type = typeOf(schema, 0);
  return type.length > MAX_TYPE_CHARACTERS ? otherwise : type;
}

/** The TypeScript type of a JSON Schema; `unknown` if it cannot be expressed. */
function typeOf(schema: unknown, depth: number): string {
  if (!isRecord(schema) || depth > MAX_DEPTH) return "unknown";
  if (schema.const !== undefined) return literal(schema.const);
  if (Array.isArray(schema.enum)) return union(schema.enum.map(literal));
  for (const key of ["anyOf", "oneOf"]) {
    const choices = schema[key];
    if (Array.isArray(choices)) return union(choices.map((one) => typeOf(one, depth + 1)));
  }
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, depth + 1)));
  switch (type) {
    case "string":
    case "boolean":
    case "null":
      return type;
    case "number":
    case "integer":
      return "number";
    case "array": {
      const items = typeOf(schema.items, depth + 1);
      return /[ |]/.test(items) && !/^\{.*\}$/.test(items) ? `(${items})[]` : `${items}[]`;
    }
    case "object":
      return objectType(schema, depth);
    default:
      return "unknown";
  }
}

function objectType(
  { properties, required, additionalProperties }: Readonly<Record<string, unknown>>,
  depth: number,
): string {
  if (!isRecord(properties) || Object.keys(properties).length === 0) {
    return `Record<string, ${isRecord(additionalProperties) ? typeOf(additionalProperties, depth + 1) : "unknown"}>`;
  }
  const needed = new Set(Array.isArray(required) ? required : []);
  const fields = Object.entries(properties).map(([name, schema]) => {
    const key = IDENTIFIER.test(name) ? name : JSON.stringify(name);
    return `${key}${needed.has(name) ? "" : "?"}: ${typeOf(schema, depth + 1)}`;
  });
  return `{ ${fields.join("; ")} }`;
}

function literal(value: unknown): string {
  return JSON.stringify(value) ?? "unknown";
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ") || "never";
}

function firstSentence(text: string): string {
  return (/^[\s\S]*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text).slice(0, 300);
}

/** The schemas of tools as text. A script may search a thousand times. */
const schemaTexts = new WeakMap<JsonSchema, string>();

function schemaText(schema: JsonSchema = {}): string {
  const known = schemaTexts.get(schema);
  if (known !== undefined) return known;
  const text = JSON.stringify(schema).toLowerCase();
  schemaTexts.set(schema, text);
  return text;
}

/** The score of a tool: words in its name count most, then in its description, then in its arguments. */
function scoreOf({ name, description, parameters }: ToolDetails, words: readonly string[]): number {
  const title = name.toLowerCase();
  const text = description.toLowerCase();
  const schema = schemaText(parameters);
  return words.reduce(
    (sum, word) => sum + (title.includes(word) ? 4 : text.includes(word) ? 2 : schema.includes(word) ? 1 : 0),
    0,
  );
}
