import { describeValue, isRecord } from "@agent/internal";
import type { JsonSchema } from "../../tools/tool.js";
import { checkText } from "../hostOptions/checks.js";
import { arrayChecks, containsCheck } from "./arrays.js";
import { combinationChecks } from "./combinations.js";
import { type CompileSub, entriesOf, SchemaError } from "./keywords.js";
import { objectChecks } from "./objects.js";
import { type Check, formatProblem, problem } from "./problem.js";
import { valueChecks } from "./values.js";
import { COST, TooMuchWork, Work } from "./work.js";

const MAX_SCHEMA_DEPTH = 256;
// Deeper than any argument the registry lets through.
const MAX_VALUE_DEPTH = 500;

// Keywords whose meaning depends on what other keywords evaluated, or on documents elsewhere. Refusing them
// is honest; ignoring them would accept arguments the schema forbids.
const UNSUPPORTED = ["unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"];

/**
 * Compiles a JSON Schema (2020-12, and draft 7 where they differ only in spelling) into a function that returns one
 * sentence about the first mismatch, or `undefined`. `format` and other annotations are not checked. Throws for an
 * invalid schema.
 *
 * @example
 * ```ts
 * import { compileSchema } from "@agent/core/toolkit";
 *
 * const check = compileSchema({ type: "object", properties: { count: { type: "integer" } } });
 * console.log(check({ count: 2 })); // undefined
 * console.log(check({ count: "two" })); // "count" must be a whole number, got string "two".
 * ```
 */
export function compileSchema(schema: JsonSchema, where = "schema"): (value: unknown) => string | undefined {
  checkText("where", where);
  const work = new Work();
  const check = compiler(schema, work)(schema, where);
  return (value) => findProblem(check, work, value);
}

/**
 * Checks one value against a schema that is used once, such as the options of a pack: only the parts of the schema that
 * the value reaches are compiled. Returns the same sentence as `compileSchema`.
 */
export function checkOnce(schema: JsonSchema, where: string, value: unknown): string | undefined {
  const work = new Work();
  return findProblem(compiler(schema, work, { onFirstUse: true })(schema, where), work, value);
}

function findProblem(check: Check, work: Work, value: unknown): string | undefined {
  work.begin();
  try {
    const found = check(value);
    return found && formatProblem(found);
  } catch (error) {
    return uncheckable(error);
  }
}

/** The reason a value could not be checked. Such a value is refused. */
function uncheckable(error: unknown): string {
  const advice = "Pass fewer or simpler values.";
  if (error instanceof TooMuchWork) {
    return `the arguments cannot be checked: comparing them with the schema ${error.message}. ${advice}`;
  }
  // Stack overflow: value and schema are nested too deeply together.
  if (error instanceof RangeError)
    return `the arguments cannot be checked: they are nested too deeply. ${advice}`;
  throw error;
}

function compiler(root: JsonSchema, work: Work, { onFirstUse = false } = {}): CompileSub {
  // Keyed by the referenced schema, not by the pointer: a pointer can be written in many ways.
  const references = new Map<unknown, Check>();
  let depth = 0;

  function compile(schema: unknown, where: string): Check {
    if (!onFirstUse) return compileNow(schema, where);
    let made: Check | undefined;
    return (value) => {
      made ??= compileNow(schema, where);
      return made(value);
    };
  }

  function compileNow(schema: unknown, where: string): Check {
    if (depth >= MAX_SCHEMA_DEPTH) {
      throw new SchemaError(`the schema is nested more than ${MAX_SCHEMA_DEPTH} levels deep`);
    }
    depth++;
    try {
      return compileKeywords(schema, where);
    } finally {
      depth--;
    }
  }

  function compileKeywords(schema: unknown, where: string): Check {
    if (schema === true) return () => undefined;
    if (schema === false) return (value) => problem(() => `is not allowed, got ${describeValue(value)}.`);
    if (!isRecord(schema)) {
      throw new SchemaError(`${where} must be a schema object, got ${describeValue(schema)}`);
    }
    const keywords = schema as JsonSchema;
    for (const keyword of UNSUPPORTED) {
      if (keyword in keywords) throw new SchemaError(`${where} uses "${keyword}", which is not supported`);
    }
    const checks = [
      ...valueChecks(keywords, where, work),
      ...objectChecks(keywords, where, compile, work),
      ...arrayChecks(keywords, where, compile, work),
      ...containsCheck(keywords, where, compile, work),
      ...combinationChecks(keywords, where, compile, work),
    ];
    if ("$ref" in keywords) checks.push(reference(keywords.$ref, where));
    validateDefinitions(keywords, where, compile);
    return firstOf(checks, work);
  }

  function reference(ref: unknown, where: string): Check {
    if (typeof ref !== "string" || !ref.startsWith("#")) {
      throw new SchemaError(
        `${where}.$ref must point inside the schema ("#/$defs/…"), got ${describeValue(ref)}`,
      );
    }
    const target = resolvePointer(root, ref, where);
    const known = references.get(target);
    if (known) return known;
    // Registered before compiling, so that a recursive schema refers back to this check.
    let compiled: Check | undefined;
    const active: unknown[] = [];
    const check: Check = (value) => {
      work.spend(COST.reference);
      // A reference to itself for the same value: infinite recursion.
      const endless = active.length > 0 && active.at(-1) === value;
      if (endless)
        return problem(() => `cannot be checked: the schema's "${ref}" refers to itself without end.`);
      // Only references nest deeper than the schema itself: counting them stops long before the stack overflows.
      if (work.references > MAX_VALUE_DEPTH) return problem(() => `is nested too deeply for "${ref}".`);
      active.push(value);
      work.references++;
      try {
        return compiled?.(value);
      } finally {
        active.pop();
        work.references--;
      }
    };
    references.set(target, check);
    compiled = compile(target, `${where}.$ref(${ref})`);
    return check;
  }

  return compile;
}

function validateDefinitions(keywords: JsonSchema, where: string, compile: CompileSub): void {
  for (const keyword of ["$defs", "definitions"]) {
    const definitions = keywords[keyword];
    if (definitions === undefined) continue;
    for (const [name, schema] of entriesOf(definitions, `${where}.${keyword}`)) {
      compile(schema, `${where}.${keyword}.${name}`);
    }
  }
}

function resolvePointer(root: JsonSchema, ref: string, where: string): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/"))
    throw new SchemaError(`${where}.$ref "${ref}" is not a JSON pointer ("#/$defs/…")`);
  let target: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = decodePointerPart(part);
    const inside = typeof target === "object" && target !== null && Object.hasOwn(target, key);
    if (!inside) throw new SchemaError(`${where}.$ref points to "${ref}", which does not exist`);
    target = (target as Record<string, unknown>)[key];
  }
  return target;
}

function decodePointerPart(part: string): string {
  let decoded = part;
  try {
    decoded = decodeURIComponent(part);
  } catch {
    // The name is not percent-encoded: it contains a plain "%".
  }
  return decoded.replaceAll("~1", "/").replaceAll("~0", "~");
}

function firstOf(checks: readonly Check[], work: Work): Check {
  return (value) => {
    work.spend((1 + checks.length) * COST.schema);
    for (const check of checks) {
      const found = check(value);
      if (found) return found;
    }
    return undefined;
  };
}
