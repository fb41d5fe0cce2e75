import { describe, expect, test } from "vitest";
import { describeValue, errorMessage, quote, quotePath } from "./describe.js";

const revoked = (target: object): object => {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
};
const hostile = new Proxy(
  {},
  {
    get: () => {
      throw new Error("get");
    },
    getPrototypeOf: () => {
      throw new Error("getPrototypeOf");
    },
    has: () => {
      throw new Error("has");
    },
  },
);
const throwing = (key: string): object =>
  Object.defineProperty({}, key, {
    get: () => {
      throw new Error("no");
    },
  });

describe("describeValue names", () => {
  test.each<[unknown, string]>([
    [undefined, "nothing"],
    [null, "null"],
    ["", "an empty string"],
    ["abc", 'string "abc"'],
    [4.5, "number 4.5"],
    [Number.NaN, "number NaN"],
    [Number.NEGATIVE_INFINITY, "number -Infinity"],
    [true, "boolean true"],
    [[], "an empty array"],
    [[1], "array"],
    [{}, "object"],
    [Object.create(null), "object"],
    [10n, "bigint"],
    [Symbol("x"), "symbol"],
    [() => 1, "function"],
    [new Proxy([], { get: () => Number.NaN }), "array"],
  ])("%s", (value, words) => {
    expect(describeValue(value)).toBe(words);
  });

  test.each<[string, () => unknown]>([
    ["a revoked proxy", () => revoked({})],
    ["a revoked proxy of an array", () => revoked([])],
    ["a proxy that throws", () => hostile],
    ["an array whose length throws", () => new Proxy([], { get: () => JSON.parse("{") })],
  ])("%s, without throwing", (_name, create) => {
    expect(describeValue(create())).toBe("object");
  });
});

describe("quotePath", () => {
  test("keeps all of a path that a system could take, on one line", () => {
    const path = `/a\n${"/directory".repeat(100)}`;
    expect(quotePath(path)).toBe(JSON.stringify(path));
    expect(quotePath("x".repeat(5000))).toBe(`"${"x".repeat(4096)}…"`);
  });
});

describe("quote", () => {
  test.each([
    ['a"b\\c\n\u0007', '"a\\"b\\\\c\\n\\u0007"'],
    ["safe\u202eexe\u200b", '"safe\\u202eexe\\u200b"'],
    ["\ud800", '"\ufffd"'],
  ])("shows %j on one line", (text, quoted) => {
    expect(quote(text)).toBe(quoted);
  });

  test("cuts a long text, never inside a character", () => {
    expect(quote("x".repeat(60))).toBe(`"${"x".repeat(60)}"`);
    expect(quote("x".repeat(61))).toBe(`"${"x".repeat(60)}…"`);
    expect(quote(`${"x".repeat(59)}😀😀`)).toBe(`"${"x".repeat(59)}…"`);
  });
});

describe("errorMessage", () => {
  class Odd extends Error {
    override name = "Odd";
  }

  test.each<[string, unknown, string]>([
    ["an Error", new Error("broken"), "broken"],
    ["an Error of another realm, or anything with a message", { message: "broken" }, "broken"],
    [
      "a null-prototype object with a message",
      Object.assign(Object.create(null), { message: "broken" }),
      "broken",
    ],
    ["an Error without a message", new Odd(), "Odd"],
    ["an Error whose name is not a string", Object.assign(new Error(""), { name: 42 }), "unknown error"],
    ["an Error whose message is not a string", Object.assign(new Error("x"), { message: { a: 1 } }), "Error"],
    [
      "a failed fetch",
      new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") }),
      "fetch failed: connect ECONNREFUSED",
    ],
    [
      "a failed fetch of a host with two addresses",
      new TypeError("fetch failed", {
        cause: Object.assign(new AggregateError([]), { code: "ECONNREFUSED" }),
      }),
      "fetch failed: ECONNREFUSED (nothing listens there)",
    ],
    ["a failed fetch without a cause", new TypeError("fetch failed"), "fetch failed"],
    ["a string", "broken", "broken"],
    ["an empty string", "", "unknown error (nothing was thrown)"],
    ["undefined", undefined, "unknown error (nothing was thrown)"],
    ["null", null, "unknown error (nothing was thrown)"],
    ["a number", 42, "42"],
    ["0", 0, "0"],
    ["a bigint", 10n, "10"],
    ["a symbol", Symbol("x"), "Symbol(x)"],
    ["an object", { code: 4 }, 'unknown error ({"code":4})'],
    ["a null-prototype object", Object.create(null), "unknown error ({})"],
    ["an object without JSON", { toJSON: () => undefined }, "unknown error (object)"],
  ])("of %s", (_name, thrown, message) => {
    expect(errorMessage(thrown)).toBe(message);
  });

  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;

  test.each<[string, () => unknown]>([
    ["a cyclic object", () => cyclic],
    ["a proxy that throws", () => hostile],
    ["a revoked proxy", () => revoked({})],
    ["a getter that throws", () => throwing("message")],
    ["a toString that throws", () => Object.assign(() => 1, { toString: () => JSON.parse("{") })],
    ["a bigint inside", () => ({ value: 10n })],
  ])("of %s, without throwing", (_name, create) => {
    expect(errorMessage(create())).toBe("unknown error (the thrown value cannot be read)");
  });

  test("returns a string for a getter that gives something else each time", () => {
    const answers: unknown[] = ["text", 42, {}];
    const thrown = Object.defineProperty(new Error(), "message", { get: () => answers.shift() });
    expect(errorMessage(thrown)).toBe("text");
  });
});
