import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { finished, packSource, Sandbox, scripted } from "./agent.js";

test("resumes a run killed by SIGKILL during its second call with everything before it", async () => {
  const box = new Sandbox();
  const mark = join(box.root, "started");
  box.write("first.mjs", packSource("first", 'return "the first result";'));
  box.write(
    "second.mjs",
    packSource(
      "second",
      `(await import("node:fs")).writeFileSync(${JSON.stringify(mark)}, ""); await new Promise((resolve) => setTimeout(resolve, 60_000));`,
    ),
  );
  const packs = 'packs: ["./first.mjs", "./second.mjs"],';
  box.write("agent.config.mjs", scripted([["first", {}], ["second", {}], "never"], packs));
  const child = box.start(["--trust", "-p", "do both"]);
  const end = finished(child);
  while (!existsSync(mark)) await new Promise((resolve) => setTimeout(resolve, 20));
  child.kill("SIGKILL");
  await end;

  const { sessions } = JSON.parse((await box.run(["sessions", "--json"])).stdout);
  expect(sessions).toMatchObject([{ title: "do both", messages: 5 }]);
  // The model sees the first result, and that the second call was cut off.
  box.write(
    "agent.config.mjs",
    `export default { ${packs} provider: { model: "m", async respond({ messages }) {
      return { content: JSON.stringify(messages.map(({ role, content }) => [role, content])), toolCalls: [], finishReason: "stop" };
    } } };`,
  );
  const again = await box.run(["--trust", "--resume", sessions[0].id.slice(0, 18), "go on"]);
  expect(again.code).toBe(0);
  expect(again.stdout).toContain("the first result");
  expect(again.stdout).toContain("Interrupted: the program ended while this call ran");
  expect(again.stdout).toContain("go on");
});
