import { expect } from "vitest";

/** Values that callers pass by mistake: nothing, `null`, and one of each type. */
const VALUES = { nothing: undefined, null: null, number: 4, text: "x", object: {}, list: [] };
type Kind = keyof typeof VALUES;

// Messages of the JavaScript engine when a program did not check its arguments.
const RAW =
  /cannot read prop|is not a function|not iterable|cannot destructure|cannot convert|cannot use 'in'|argument must be/i;

/** One argument of one function: the function, the argument's name in a message, and the valid kinds. */
export interface ArgumentCase {
  readonly of: string;
  readonly argument: string;
  readonly legal: readonly Kind[];
  readonly call: (value: never) => unknown;
}

/** A row of a table: `argument("chat", "message", ["text"], (value) => agent.chat(value))`. */
export function argument(
  of: string,
  name: string,
  legal: readonly Kind[],
  call: (value: never) => unknown,
): ArgumentCase {
  return { of, argument: name, legal, call };
}

/**
 * Passes each kind of value: a valid one is accepted, an invalid one is an error that names the argument, the
 * requirement and the actual value. It is never an error of the engine.
 */
export async function expectClearErrors({ of, argument: name, legal, call }: ArgumentCase): Promise<void> {
  for (const [kind, value] of Object.entries(VALUES)) {
    const outcome = messageOf(await thrownBy(() => call(value as never)));
    const what = `${of} with ${kind} for ${name}`;
    if (legal.includes(kind as Kind)) {
      expect(outcome, what).toBeUndefined();
      continue;
    }
    expect(outcome, what).toBeDefined();
    expect(outcome, what).not.toMatch(RAW);
    expect(outcome, what).toMatch(/ must | is required/);
    // For an incomplete object, the missing part is named.
    if (kind !== "object") expect(outcome, what).toContain(name);
    expect(outcome, what).toMatch(gotten(value));
  }
}

/** Passes each kind of invalid value and checks the error's code. */
export async function expectInvalidArgument({
  of,
  argument: name,
  legal,
  call,
}: ArgumentCase): Promise<void> {
  for (const [kind, value] of Object.entries(VALUES)) {
    if (legal.includes(kind as Kind)) continue;
    const thrown = await thrownBy(() => call(value as never));
    expect(thrown, `${of} with ${kind} for ${name}`).toMatchObject({
      name: "AgentError",
      code: "invalid_argument",
    });
  }
}

/** Checks that every function of a module has a row, so that a new one cannot be forgotten. */
export function expectComplete(
  module: object,
  cases: readonly ArgumentCase[],
  free: readonly string[],
): void {
  const covered = new Set([...cases.map(({ of }) => of.replace(/[.(].*/, "")), ...free]);
  const functions = Object.entries(module).filter(([, value]) => typeof value === "function");
  expect(functions.map(([name]) => name).filter((name) => !covered.has(name))).toEqual([]);
}

/** Checks that every method of a class has a row, named `Class.method`; `free` are those without arguments. */
export function expectMethodsComplete(
  type: { readonly name: string; readonly prototype: object },
  cases: readonly ArgumentCase[],
  free: readonly string[],
): void {
  const covered = new Set([...cases.map(({ of }) => of), ...free.map((name) => `${type.name}.${name}`)]);
  const methods = Object.entries(Object.getOwnPropertyDescriptors(type.prototype))
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => `${type.name}.${name}`);
  expect(methods.filter((name) => !covered.has(name))).toEqual([]);
}

async function thrownBy(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return undefined;
  } catch (error) {
    return error;
  }
}

function messageOf(thrown: unknown): string | undefined {
  if (thrown === undefined) return undefined;
  return thrown instanceof Error ? thrown.message : `threw ${thrown}`;
}

function gotten(value: unknown): RegExp {
  const shown = value === null ? "null" : typeof value;
  return new RegExp(`got (${typeof value}|${shown}|(an empty )?array|nothing)|is required`);
}
