import { afterEach, describe, expect, test, vi } from "vitest";
import { OpenAIProvider, type OpenAIProviderOptions } from "./index.js";

afterEach(() => vi.unstubAllEnvs());

describe("a wrong option is named", () => {
  const given: Record<string, unknown> = { model: "m", apiKey: "sk-test-key" };

  test.each([
    ["model", undefined, "model must be a non-empty string, got nothing"],
    ["model", "", "model must be a non-empty string, got an empty string"],
    ["apiKey", 42, "apiKey must be a string, got number"],
    ["apiKey", "sk-secret value", "apiKey holds a space"],
    ["apiKey", "sk-secret\nvalue", "apiKey holds a space, a line break"],
    ["baseURL", 42, "baseURL must be a string, got number 42"],
    ["baseURL", "localhost:8080", "baseURL must be an address"],
    ["baseURL", "", "baseURL must be an address"],
    ["baseURL", "https://user:sk-secret@host/v1", "baseURL must not hold a user name or a password"],
    ["headers", [], "headers must be an object, got an empty array"],
    ["headers", { "x-a": 1 }, 'headers["x-a"] must be a string, got number'],
    ["headers", { "x a": "1" }, 'headers["x a"] is not a header'],
    ["headers", { authorization: "sk-secret\nx" }, 'headers["authorization"] is not a header'],
    ["timeoutMs", 0, "timeoutMs must be a number of at least 1, got number 0"],
    ["timeoutMs", "5", 'timeoutMs must be a number of at least 1, got string "5"'],
    ["maxRetries", -1, "maxRetries must be a number of at least 0, got number -1"],
    ["maxRetries", Number.NaN, "maxRetries must be a number of at least 0, got number NaN"],
    ["maxRetryDelayMs", {}, "maxRetryDelayMs must be a number of at least 0, got object"],
    ["body", "x", 'body must be an object, got string "x"'],
    ["body", { messages: [] }, 'body must not hold "messages"'],
    ["body", { stream: true }, 'body must not hold "stream"'],
  ])("%s: %j", (option, value, message) => {
    const create = () =>
      new OpenAIProvider({ ...given, [option]: value } as unknown as OpenAIProviderOptions);
    expect(create).toThrowError(
      expect.objectContaining({ code: "invalid_argument", message: expect.stringContaining(message) }),
    );
    expect(create).not.toThrow(/sk-secret/);
  });

  test.each([undefined, null, "gpt", 4])("options: %j", (options) => {
    expect(() => new OpenAIProvider(options as unknown as OpenAIProviderOptions)).toThrow(
      /options must be an object/,
    );
  });

  test("neither a key nor a base URL", () => {
    vi.stubEnv("OPENAI_API_KEY", undefined);
    vi.stubEnv("OPENAI_BASE_URL", undefined);
    expect(() => new OpenAIProvider({ model: "m" })).toThrow(/no API key.*OPENAI_API_KEY/);
  });
});
