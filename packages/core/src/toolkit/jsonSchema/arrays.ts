import type { JsonSchema } from "../../tools/tool.js";
import { ValueSet } from "./deepEqual.js";
import { arrayOf, booleanOf, type CompileSub, sizeOf } from "./keywords.js";
import { type Check, problem, under } from "./problem.js";
import { COST, type Work } from "./work.js";

type ArrayCheck = (value: readonly unknown[]) => ReturnType<Check>;

/** All array keywords except `contains`. */
export function arrayChecks(keywords: JsonSchema, where: string, compile: CompileSub, work: Work): Check[] {
  const checks: ArrayCheck[] = [
    ...itemChecks(keywords, where, compile, work),
    ...lengthChecks(keywords, where),
  ];
  if (booleanOf(keywords, "uniqueItems", where)) checks.push(uniqueCheck(work));
  return checks.map(onArrays);
}

/** `contains` with `minContains` and `maxContains`. */
export function containsCheck(keywords: JsonSchema, where: string, compile: CompileSub, work: Work): Check[] {
  if (keywords.contains === undefined) return [];
  const check = compile(keywords.contains, `${where}.contains`);
  const min = sizeOf(keywords, "minContains", where) ?? 1;
  const max = sizeOf(keywords, "maxContains", where) ?? Number.POSITIVE_INFINITY;
  return [
    onArrays((value) => {
      work.spend(value.length * COST.item);
      const matching = value.filter((item) => check(item) === undefined).length;
      if (matching < min)
        return problem(() => `must contain at least ${min} fitting items, got ${matching}.`);
      return matching > max
        ? problem(() => `must contain at most ${max} fitting items, got ${matching}.`)
        : undefined;
    }),
  ];
}

/** Items by position (`prefixItems`, or draft 7's array form of `items`), then all others. */
function itemChecks(keywords: JsonSchema, where: string, compile: CompileSub, work: Work): ArrayCheck[] {
  const oldForm = Array.isArray(keywords.items);
  const positions = oldForm ? keywords.items : keywords.prefixItems;
  const others = oldForm ? keywords.additionalItems : keywords.items;
  const place = `${where}.${oldForm ? "items" : "prefixItems"}`;
  const first =
    positions === undefined
      ? []
      : arrayOf(positions, place).map((schema, index) => compile(schema, `${place}[${index}]`));
  const rest = others === undefined ? undefined : compile(others, `${where}.items`);
  if (first.length === 0 && rest === undefined) return [];
  return [
    (value) => {
      work.spend(value.length * COST.item);
      for (const [index, item] of value.entries()) {
        const found = (first[index] ?? rest)?.(item);
        if (found) return under(index, found);
      }
      return undefined;
    },
  ];
}

function lengthChecks(keywords: JsonSchema, where: string): ArrayCheck[] {
  const min = sizeOf(keywords, "minItems", where) ?? 0;
  const max = sizeOf(keywords, "maxItems", where) ?? Number.POSITIVE_INFINITY;
  if (min === 0 && max === Number.POSITIVE_INFINITY) return [];
  return [
    (value) => {
      if (value.length < min) {
        return problem(() =>
          min === 1 ? "must not be empty." : `must have at least ${min} items, got ${value.length}.`,
        );
      }
      return value.length > max
        ? problem(() => `must have at most ${max} items, got ${value.length}.`)
        : undefined;
    },
  ];
}

function uniqueCheck(work: Work): ArrayCheck {
  return (value) => {
    work.spend(value.length * COST.item);
    const seen = new ValueSet(work);
    for (const [index, item] of value.entries()) {
      if (!seen.add(item))
        return under(
          index,
          problem(() => "appears more than once."),
        );
    }
    return undefined;
  };
}

function onArrays(check: ArrayCheck): Check {
  return (value) => (Array.isArray(value) ? check(value) : undefined);
}
