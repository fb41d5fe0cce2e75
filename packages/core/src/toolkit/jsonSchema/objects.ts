import { describeValue, didYouMean, isRecord, quote } from "@agent/internal";
import type { JsonSchema } from "../../tools/tool.js";
import { type CompileSub, entriesOf, patternOf, sizeOf, stringsOf } from "./keywords.js";
import { type Check, problem, under } from "./problem.js";
import { COST, type Work } from "./work.js";

type ObjectCheck = (value: Record<string, unknown>) => ReturnType<Check>;

/** All keywords about objects and their properties. */
export function objectChecks(keywords: JsonSchema, where: string, compile: CompileSub, work: Work): Check[] {
  const checks: ObjectCheck[] = [
    ...requiredCheck(keywords, where, work),
    ...propertyChecks(keywords, where, compile, work),
    ...sizeChecks(keywords, where, work),
    ...dependencyChecks(keywords, where, compile, work),
  ];
  return checks.map((check) => (value) => (isRecord(value) ? check(value) : undefined));
}

function requiredCheck(keywords: JsonSchema, where: string, work: Work): ObjectCheck[] {
  if (keywords.required === undefined) return [];
  const required = stringsOf(keywords.required, `${where}.required`);
  const properties = isRecord(keywords.properties) ? keywords.properties : {};
  return [
    (value) => {
      work.spend(required.length * COST.name);
      const missing = required.find((name) => !has(value, name));
      return missing === undefined
        ? undefined
        : under(
            missing,
            problem(() => `is required${kind(properties, missing)}.`),
          );
    },
  ];
}

/** A property set to `undefined` in code is treated as absent: JSON has no such value. */
function has(value: Record<string, unknown>, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

function kind(properties: Record<string, unknown>, name: string): string {
  const schema = properties[name];
  return isRecord(schema) && typeof schema.type === "string" ? ` (${schema.type})` : "";
}

/** `properties`, `patternProperties`, `additionalProperties` and `propertyNames`, which depend on each other. */
function propertyChecks(keywords: JsonSchema, where: string, compile: CompileSub, work: Work): ObjectCheck[] {
  const named = new Map(
    keywords.properties === undefined
      ? []
      : entriesOf(keywords.properties, `${where}.properties`).map(([name, schema]): [string, Check] => [
          name,
          compile(schema, `${where}.properties.${name}`),
        ]),
  );
  const patterned =
    keywords.patternProperties === undefined
      ? []
      : entriesOf(keywords.patternProperties, `${where}.patternProperties`).map(([source, schema]) => ({
          pattern: patternOf(source, `${where}.patternProperties`, work),
          check: compile(schema, `${where}.patternProperties.${source}`),
        }));
  const additional = keywords.additionalProperties;
  const names = keywords.propertyNames;
  const nameCheck = names === undefined ? undefined : compile(names, `${where}.propertyNames`);
  const otherCheck =
    additional === undefined || additional === false
      ? undefined
      : compile(additional, `${where}.additionalProperties`);
  if (named.size === 0 && patterned.length === 0 && additional === undefined && nameCheck === undefined)
    return [];

  return [
    (value) => {
      const keys = Object.keys(value);
      work.spend(keys.length * (1 + patterned.length) * COST.property);
      for (const key of keys) {
        const item = value[key];
        if (item === undefined) continue;
        const badName = nameCheck?.(key);
        if (badName) return problem(() => `has the key ${quote(key)}, which ${badName.message()}`);
        const check = named.get(key);
        const tested = patterned.map(({ pattern, check }) => ({ fits: pattern.test(key), check }));
        const matching = tested.filter(({ fits }) => fits);
        // A key that could not be tested in time may match: it is left to the tool.
        const isOther = tested.every(({ fits }) => fits === false);
        if (!check && isOther && additional === false) return unknownKey(key, named);
        const found =
          check?.(item) ??
          matching.map((one) => one.check(item)).find(Boolean) ??
          (check || !isOther ? undefined : otherCheck?.(item));
        if (found) return under(key, found);
      }
      return undefined;
    },
  ];
}

function unknownKey(key: string, named: ReadonlyMap<string, Check>) {
  return under(
    key,
    problem(() => `is not known. ${didYouMean(key, named.keys())}`),
  );
}

function sizeChecks(keywords: JsonSchema, where: string, work: Work): ObjectCheck[] {
  const min = sizeOf(keywords, "minProperties", where) ?? 0;
  const max = sizeOf(keywords, "maxProperties", where) ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return [];
  return [
    (value) => {
      const keys = Object.keys(value);
      work.spend(keys.length * COST.property);
      const size = keys.filter((key) => value[key] !== undefined).length;
      if (size < min) return problem(() => `must have at least ${min} properties, got ${size}.`);
      return size > max ? problem(() => `must have at most ${max} properties, got ${size}.`) : undefined;
    },
  ];
}

/** `dependentRequired`, `dependentSchemas` and draft 7's `dependencies`, which is either. */
function dependencyChecks(
  keywords: JsonSchema,
  where: string,
  compile: CompileSub,
  work: Work,
): ObjectCheck[] {
  const checks: ObjectCheck[] = [];
  for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"]) {
    if (keywords[keyword] === undefined) continue;
    for (const [name, needs] of entriesOf(keywords[keyword], `${where}.${keyword}`)) {
      const place = `${where}.${keyword}.${name}`;
      if (Array.isArray(needs) || keyword === "dependentRequired") {
        const required = stringsOf(needs, place);
        checks.push((value) => {
          if (!has(value, name)) return undefined;
          work.spend(required.length * COST.name);
          const missing = required.find((other) => !has(value, other));
          return missing === undefined
            ? undefined
            : under(
                missing,
                problem(() => `is required together with "${name}" (${describeValue(value[name])}).`),
              );
        });
      } else {
        const check = compile(needs, place);
        checks.push((value) => (has(value, name) ? check(value) : undefined));
      }
    }
  }
  return checks;
}
