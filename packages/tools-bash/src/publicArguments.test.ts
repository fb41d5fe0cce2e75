import { ToolRegistry } from "@agent/core";
import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { expect, test } from "vitest";
import * as module from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };

const CASES = [
  argument("register", "registry", [], (value) => module.register(value)),
  argument("register", "options", ["nothing", "object"], (value) =>
    module.register(new ToolRegistry(), { context, options: value }),
  ),
  argument("runBashTool", "options", ["nothing", "object"], (value) => module.runBashTool(value)),
  argument("createPolicy", "options", ["object"], (value) => module.createPolicy(value)),
  argument("createPolicy(options)", "deny", ["nothing", "list"], (value) =>
    module.createPolicy({ deny: Array.isArray(value) ? ["rm"] : value }),
  ),
  argument("createPolicy(options)", "allow[0]", ["text"], (value) => module.createPolicy({ allow: [value] })),
];
const FREE = ["diagnose"];

test("has a row for every function", () => expectComplete(module, CASES, FREE));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);

test("reports a policy with a misspelt list, and never takes it for no policy", () => {
  expect(() => module.createPolicy({ dney: ["rm"] } as object)).toThrow(
    'createPolicy has no option "dney". Did you mean "deny"?',
  );
});
