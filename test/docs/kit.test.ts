import { join } from "node:path";
import { LLMock } from "@copilotkit/aimock";
import { expect, test } from "vitest";
import { codeBlocks } from "./markdown.js";
import { ROOT } from "./pages.js";
import { Workplace } from "./workplace.js";

const [TEST = ""] = codeBlocks(join(ROOT, "packages/testing/README.md"), "ts");
const NOTES = `
  import { defineTool } from "@agent/core";
  import { packOptions } from "@agent/core/toolkit";
  const text = { type: "string", description: "What to keep" };
  const about = { capabilities: ["read"], execute: () => "Done." };
  export const packName = "notes";
  export const packApiVersion = 1;
  export function register(registry, host) {
    packOptions(packName, host?.options, {});
    registry.register(defineTool({ ...about, name: "notes_list", description: "Lists the notes.", input: { type: "object", additionalProperties: false } }));
    registry.register(defineTool({ ...about, name: "notes_add", description: "Adds a note.", input: { type: "object", properties: { text }, required: ["text"], additionalProperties: false } }));
  }`;

test.for([
  ["a good pack", NOTES, 0, "passed"],
  ["a pack that prints when it is imported", `console.log("hi");${NOTES}`, 1, "printed"],
] as const)("judges %s with the test of the README of @agent/testing", async ([, source, code, says]) => {
  const workplace = Workplace.create(new LLMock());
  workplace.write("dist/index.js", source);
  workplace.write("pack.test.ts", TEST);
  workplace.write("vitest.config.mjs", "export default {};");
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const args = [vitest, "run", "--root", workplace.directory, "--testTimeout=60000"];
  const ended = await workplace.run(process.execPath, args);
  expect(ended.stdout + ended.stderr).toContain(says);
  expect(ended.code).toBe(code);
});
