import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasTerminal, packSource, Sandbox } from "./agent.js";

/** Its provider says when it works, and calls the tool only when the file "go" is there. */
const CONFIG = `import { existsSync } from "node:fs";
let called = false;
const provider = {
  model: "slow",
  async respond() {
    if (called) return { content: "done", toolCalls: [], finishReason: "stop" };
    called = true;
    process.stderr.write("working\\n");
    while (!existsSync("go")) await new Promise((resolve) => setTimeout(resolve, 10));
    const call = { id: "c1", type: "function", function: { name: "mark", arguments: "{}" } };
    return { content: null, toolCalls: [call], finishReason: "tool_calls" };
  },
};
export default { packs: ["./pack.mjs"], confirm: ["mark"], provider };
`;

describe.runIf(hasTerminal())("what is typed before a question appears does not answer it", () => {
  // A terminal echoes what it has got: then it is there, before the question.
  test.each([
    ["a whole line", "y\n"],
    ["a line without its end", "y"],
  ])("%s", async (_, typed) => {
    const box = new Sandbox();
    const body =
      'const { writeFileSync } = await import("node:fs"); writeFileSync("ran", ""); return "marked";';
    box.write("pack.mjs", packSource("mark", body));
    box.write("agent.config.mjs", CONFIG);
    await box.run(["tools", "--trust"]);
    const go = (): string => {
      box.write("go", "");
      return "";
    };
    const { stdout } = await box.runInTerminal(
      ["go"],
      [
        ["working", typed, ""],
        ["y", go, ""],
        ["[y]es", "\n"],
      ],
    );
    expect(stdout).toContain("denied");
    expect(existsSync(join(box.project, "ran"))).toBe(false);
  });
});
