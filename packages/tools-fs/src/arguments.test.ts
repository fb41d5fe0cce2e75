import { ToolRegistry } from "@agent/core";
import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { test } from "vitest";
import * as module from "./index.js";

const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "session.json" };
const TOOLS = [
  module.applyPatchTool,
  module.editFileTool,
  module.listDirTool,
  module.mkdirTool,
  module.moveTool,
  module.readFileTool,
  module.removeTool,
  module.writeFileTool,
];

const CASES = [
  argument("register", "registry", [], (value) => module.register(value)),
  argument("register", "options", ["nothing", "object"], (value) =>
    module.register(new ToolRegistry(), { context, options: value }),
  ),
  argument("Workspace", "options", ["nothing", "object"], (value) => new module.Workspace(value)),
  argument(
    "Workspace(options)",
    "protect",
    ["nothing", "list"],
    (value) => new module.Workspace({ protect: value }),
  ),
  argument("Workspace.locate", "path", ["text"], (value) => new module.Workspace().locate(value)),
  argument("Workspace.locateEntry", "path", ["text"], (value) => new module.Workspace().locateEntry(value)),
  ...TOOLS.map((create) => argument(create.name, "workspace", ["nothing"], (value) => create(value))),
];
const FREE: string[] = [];

test("has a row for every function", () => expectComplete(module, CASES, FREE));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);
