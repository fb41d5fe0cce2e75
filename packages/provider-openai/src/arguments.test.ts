import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { expect, test } from "vitest";
import * as module from "./index.js";

const OPTIONS = [
  ["model", "text"],
  ["apiKey", "nothing", "text"],
  ["baseURL", "nothing"],
  ["headers", "nothing", "object"],
  ["timeoutMs", "nothing", "number"],
  ["maxRetries", "nothing", "number"],
  ["retryDelayMs", "nothing", "number"],
  ["maxRetryDelayMs", "nothing", "number"],
  ["body", "nothing", "object"],
  ["api", "nothing"],
  ["client", "nothing"],
  ["accepts", "nothing", "list"],
] as const;

const given = { model: "m", apiKey: "k", baseURL: "http://127.0.0.1:9", maxRetries: 0 };
const CASES = [
  argument("OpenAIProvider", "options", [], (value) => new module.OpenAIProvider(value)),
  ...OPTIONS.map(([name, ...legal]) =>
    argument("OpenAIProvider(options)", name, legal, (value) => {
      return new module.OpenAIProvider({ ...given, [name]: value });
    }),
  ),
  argument("OpenAIProvider.respond", "request", [], (value) =>
    new module.OpenAIProvider(given).respond(value),
  ),
];

test("has a row for every function", () => expectComplete(module, CASES, []));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);

test("reports a misspelt option with the right one", () => {
  expect(() => new module.OpenAIProvider({ model: "m", baseUrl: "http://a" } as never)).toThrow(
    'OpenAIProvider has no option "baseUrl". Did you mean "baseURL"?',
  );
});
