// Emitted from the sources of an earlier commit (9bab23aa): a pack that was built for pack API 1. Do not change it.

import { createPathGuard, functionTool, packOptions, requireString } from "@agent/core/toolkit";

var GreetTool = class {
  name = "old_greet";
  capabilities = [];
  getSchema() {
    return functionTool(this.name, "Greet someone by name.", {
      who: { type: "string", description: "Whom to greet" },
    });
  }
  async execute(args) {
    return `Hello, ${requireString(args, "who")}!`;
  }
};

import { appendFile } from "node:fs/promises";
import { functionTool as functionTool2, requireString as requireString2 } from "@agent/core/toolkit";

var WriteNoteTool = class {
  name = "old_write_note";
  capabilities = ["write"];
  #paths;
  constructor(paths) {
    this.#paths = paths;
  }
  getSchema() {
    return functionTool2(
      this.name,
      "Append one line to a file of notes, which is created if it is missing.",
      {
        path: { type: "string", description: "The file of notes" },
        text: { type: "string", description: "The line to add" },
      },
    );
  }
  async execute(args) {
    const path = requireString2(args, "path");
    const text = requireString2(args, "text");
    await appendFile(
      this.#paths.resolve(path),
      `${text.trimEnd()}
`,
    );
    return `Added a line to ${path}`;
  }
};

var packName = "agent-pack-old";
var packApiVersion = 1;
function register(registry, host) {
  const options = packOptions(packName, host?.options, { root: { type: "string" } });
  registry.register(new GreetTool());
  registry.register(new WriteNoteTool(createPathGuard(options.root)), { enabled: false });
}

export { packApiVersion, packName, register };
