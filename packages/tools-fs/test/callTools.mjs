// Runs tool calls of the built pack in its own process, read from standard input, and prints the texts as one line of JSON.
import { readFileSync } from "node:fs";
import { ToolRegistry } from "@agent/core";
import { register } from "../dist/index.js";

const NOBODY = 65534;
const { calls, options, dropRights } = JSON.parse(readFileSync(0, "utf8"));
const registry = new ToolRegistry();
register(registry, {
  context: { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" },
  options,
});
registry.enable("remove");
if (dropRights && process.getuid() === 0) {
  process.setgroups([]);
  process.setgid(NOBODY);
  process.setuid(NOBODY);
}
const results = [];
for (const { tool, args } of calls) results.push(await registry.execute(tool, args));
process.stdout.write(`${JSON.stringify(results)}\n`);
