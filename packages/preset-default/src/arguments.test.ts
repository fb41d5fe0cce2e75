import { ToolRegistry } from "@agent/core";
import { scriptedProvider } from "@agent/core/replay";
import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { test } from "vitest";
import * as module from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };
const agent = (options?: never) => new module.Agent(scriptedProvider([]), options);

const CASES = [
  argument("register", "registry", [], (value) => module.register(value)),
  argument("register", "options", ["nothing", "object"], (value) =>
    module.register(new ToolRegistry(), { context, options: value }),
  ),
  argument("createDefaultToolRegistry", "context", [], (value) => module.createDefaultToolRegistry(value)),
  argument("createDefaultToolRegistry", "options", ["nothing", "object"], (value) =>
    module.createDefaultToolRegistry(context, value),
  ),
  argument("Agent", "provider", [], (value) => new module.Agent(value)),
  argument("Agent", "options", ["nothing", "object"], (value) => agent(value)),
  argument("Agent(options)", "tools", ["nothing", "list"], (value) => agent({ tools: value } as never)),
];
const FREE = ["diagnose"];

test("has a row for every function", () => expectComplete(module, CASES, FREE));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);
