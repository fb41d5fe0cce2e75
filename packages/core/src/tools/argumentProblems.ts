import { isRecord, quote } from "@agent/internal";
import { compileSchema } from "../toolkit/jsonSchema/compile.js";
import type { JsonSchema } from "./interface.js";

const MAX_PROBLEMS = 8;
const MAX_SHOWN = 20;

/**
 * Everything that is wrong with arguments, in one message: the first problem as the check found it, the others, and the
 * shape that is expected. The model can then repair the call in one go.
 */
export function describeProblems(
  parameters: JsonSchema,
  args: Readonly<Record<string, unknown>>,
  first: string,
): string {
  const { properties, required: _, ...rest } = parameters;
  const known = isRecord(properties) ? properties : {};
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  const missing = required.filter((name) => !Object.hasOwn(args, String(name)));
  const wrong = Object.keys(args).flatMap((name) => {
    const schema = Object.hasOwn(known, name) ? known[name] : undefined;
    if (schema === undefined) return [];
    const check = compileSchema({ ...rest, additionalProperties: true, properties: { [name]: schema } });
    return check({ [name]: args[name] }) ?? [];
  });
  const problems = [
    first,
    ...missing.map((name) => `${quote(String(name))} is required.`),
    ...wrong,
    ...unknownNames(parameters, known, args).map((name) => `There is no argument ${quote(name)}.`),
  ];
  const others = problems.slice(1).filter((problem) => !isSame(problem, first));
  const shape = shapeOf(known, required);
  return [first, ...others.slice(0, MAX_PROBLEMS), ...(shape === "" ? [] : [`Expected: ${shape}`])].join(" ");
}

function unknownNames(
  { additionalProperties }: JsonSchema,
  known: Readonly<Record<string, unknown>>,
  args: Readonly<Record<string, unknown>>,
): string[] {
  return additionalProperties === false
    ? Object.keys(args).filter((name) => !Object.hasOwn(known, name))
    : [];
}

/** Whether two sentences are about the same argument. */
function isSame(a: string, b: string): boolean {
  const subject = (text: string): string | undefined => /"([^"]+)"/.exec(text)?.[1];
  return a === b || (subject(a) !== undefined && subject(a) === subject(b));
}

/** `{ path: string, limit?: integer, edits?: [{ old_text: string }] }` */
function shapeOf(properties: Readonly<Record<string, unknown>>, required: readonly unknown[]): string {
  const names = Object.keys(properties);
  if (names.length === 0) return "";
  const shown = names.slice(0, MAX_SHOWN).map((name) => {
    return `${name}${required.includes(name) ? "" : "?"}: ${typeName(properties[name])}`;
  });
  return `{ ${[...shown, ...(names.length > MAX_SHOWN ? ["…"] : [])].join(", ")} }`;
}

function typeName(schema: unknown): string {
  if (!isRecord(schema)) return "any";
  if (Array.isArray(schema.enum))
    return schema.enum
      .slice(0, MAX_SHOWN)
      .map((one) => JSON.stringify(one))
      .join(" | ");
  const { type, items, properties, required } = schema;
  if (type === "array") return `[${typeName(items)}]`;
  if (type === "object" && isRecord(properties))
    return shapeOf(properties, Array.isArray(required) ? required : []) || "object";
  return Array.isArray(type) ? type.join(" | ") : typeof type === "string" ? type : "any";
}
