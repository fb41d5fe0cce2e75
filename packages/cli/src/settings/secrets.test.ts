import { describe, expect, test } from "vitest";
import { hideCredentials, hideSecrets } from "./secrets.js";

describe("what is shown of settings", () => {
  test.each([
    ["http://user:pass@host/v1", "http://[hidden]@host/v1"],
    ["https://host/v1?api-key=abc&v=1#x", "https://host/v1?api-key=[hidden]&v=[hidden]#x"],
    ["http://user:pass@[bad", "http://[hidden]@[bad"],
    ["http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"],
    ["write to me@example.org", "write to me@example.org"],
  ])("hides the credentials of a URL: %s", (text, shown) => {
    expect(hideCredentials(text)).toBe(shown);
  });

  test("hides whatever is named as a secret at any depth", () => {
    expect(hideSecrets({ a: [{ apiToken: "x", name: "y" }], headers: { any: "z" }, password: 1 })).toEqual({
      a: [{ apiToken: "[hidden]", name: "y" }],
      headers: "[hidden]",
      password: "[hidden]",
    });
  });

  test("stops at a cycle, but not at the same object twice", () => {
    const shared = { n: 1 };
    const value: Record<string, unknown> = { a: shared, b: shared };
    value.self = value;
    expect(hideSecrets(value)).toEqual({ a: { n: 1 }, b: { n: 1 }, self: "[circular]" });
  });
});
