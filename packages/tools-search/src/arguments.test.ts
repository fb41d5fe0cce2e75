import { ToolRegistry } from "@agent/core";
import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { test } from "vitest";
import * as module from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };

const CASES = [
  argument("register", "registry", [], (value) => module.register(value)),
  argument("register", "options", ["nothing", "object"], (value) =>
    module.register(new ToolRegistry(), { context, options: value }),
  ),
  ...[module.searchTextTool, module.searchFilesTool].flatMap((Tool) => [
    argument(Tool.name, "options", ["nothing", "object"], (value) => Tool(value)),
    argument(`${Tool.name}(options)`, "workers", ["nothing", "number"], (value) => Tool({ workers: value })),
  ]),
];
const FREE: string[] = [];

test("has a row for every function", () => expectComplete(module, CASES, FREE));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);
