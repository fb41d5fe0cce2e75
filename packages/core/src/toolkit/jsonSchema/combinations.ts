import { describeValue } from "@agent/internal";
import type { JsonSchema } from "../../tools/tool.js";
import { arrayOf, type CompileSub, SchemaError } from "./keywords.js";
import { type Check, type Problem, problem } from "./problem.js";
import { COST, type Work } from "./work.js";

// The number of alternatives a message lists.
const MOST_SHOWN = 30;

/** `allOf`, `anyOf`, `oneOf`, `not` and `if`/`then`/`else`. */
export function combinationChecks(
  keywords: JsonSchema,
  where: string,
  compile: CompileSub,
  work: Work,
): Check[] {
  const list = (keyword: string): Check[] | undefined => {
    if (keywords[keyword] === undefined) return undefined;
    const schemas = arrayOf(keywords[keyword], `${where}.${keyword}`);
    if (schemas.length === 0) throw new SchemaError(`${where}.${keyword} must not be empty`);
    return schemas.map((schema, index) => compile(schema, `${where}.${keyword}[${index}]`));
  };
  const single = (keyword: string): Check | undefined =>
    keywords[keyword] === undefined ? undefined : compile(keywords[keyword], `${where}.${keyword}`);

  const checks: Check[] = [...(list("allOf") ?? [])];
  const any = list("anyOf");
  if (any) checks.push(anyOf(any, work));
  const one = list("oneOf");
  if (one) checks.push(oneOf(one, work));
  const not = single("not");
  if (not) {
    checks.push((value) =>
      not(value) ? undefined : problem(() => `is not allowed, got ${describeValue(value)}.`),
    );
  }
  const condition = single("if");
  const then = single("then");
  const otherwise = single("else");
  if (condition) checks.push((value) => (condition(value) ? otherwise : then)?.(value));
  return checks;
}

function anyOf(alternatives: readonly Check[], work: Work): Check {
  return (value) => {
    const problems: Problem[] = [];
    for (const check of alternatives) {
      work.spend(COST.alternative);
      const found = check(value);
      if (!found) return undefined;
      problems.push(found);
    }
    return mostTelling(problems);
  };
}

function oneOf(alternatives: readonly Check[], work: Work): Check {
  return (value) => {
    work.spend(alternatives.length * COST.alternative);
    const problems = alternatives.map((check) => check(value)).filter((found) => found !== undefined);
    const fitting = alternatives.length - problems.length;
    if (fitting === 1) return undefined;
    if (fitting === 0) return mostTelling(problems);
    return problem(
      () => `fits ${fitting} alternatives where exactly one is allowed, got ${describeValue(value)}.`,
    );
  };
}

/** The problem of the alternative that matched furthest into the value: most likely the one that was meant. */
function mostTelling(problems: readonly Problem[]): Problem {
  const deepest = problems.reduce((best, one) => (one.path.length > best.path.length ? one : best));
  if (deepest.path.length > 0) return deepest;
  const [first] = problems;
  if (problems.length === 1 && first) return first;
  return problem(() => {
    const expectations = problems.slice(0, MOST_SHOWN).map(expectation);
    if (problems.length > MOST_SHOWN)
      expectations.push(`one of ${problems.length - MOST_SHOWN} other alternatives`);
    return `${[...new Set(expectations)].join(", or ")}.`;
  });
}

/** The expectation alone, without the actual value. */
function expectation({ message }: Problem): string {
  return message()
    .replace(/, got .*$/s, "")
    .replace(/\.$/, "");
}
