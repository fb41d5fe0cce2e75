import { describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { ScriptedModel } from "./scriptedModel.js";
import { hasTmux } from "./terminal.js";

const AGENT = "---\ndescription: Reviews changes.\n---\nYou review.\n";
const RUN = `call agent_run ${JSON.stringify({ agent: "reviewer", task: "say fine" })}\nthen say ok`;

function write(box: Sandbox): void {
  box.link("@agent/tools-agents", "@agent/preset-default");
  const packs = ["@agent/preset-default", "@agent/tools-agents"];
  box.write("agent.config.json", JSON.stringify({ packs }));
  box.write(".claude/agents/reviewer.md", AGENT);
}

describe("sub-agents that a project defines", () => {
  const start = useBuiltChat();

  test("are used and named where no one can be asked, and left out with --no-instructions", async () => {
    const box = new Sandbox();
    write(box);
    const model = await ScriptedModel.start();
    const used = await box.run(["--trust", RUN], { env: model.env });
    expect(used.stderr).toContain("agent: follows .claude/agents/reviewer.md");
    expect(model.lastRequest).toContain("[agent reviewer-");
    const without = await box.run(["--trust", "--no-instructions", RUN], { env: model.env });
    expect(without.stderr).not.toContain("reviewer.md");
    expect(model.lastRequest).toContain("there is no agent");
    // Without the pack that starts them they do not count as instructions.
    box.write("agent.config.json", JSON.stringify({ packs: ["@agent/preset-default"] }));
    expect((await box.run(["--trust", "say hello"], { env: model.env })).stderr).not.toContain("reviewer.md");
  });

  test.skipIf(!hasTmux)(
    "are asked about before the first chat, and used after approval (skipped without tmux)",
    async () => {
      const { run, box, model } = await start();
      write(box);
      const terminal = run(["--trust"]);
      await terminal.until(/This project has instructions for agents: \.claude\/agents\/reviewer\.md\./);
      terminal.send("n");
      await terminal.until("/help lists the commands.");
      terminal.send("/agents");
      await terminal.until(/explore \(built in\)/);
      terminal.paste(RUN);
      terminal.press("Enter");
      await expect.poll(() => model.lastRequest, { timeout: 60_000 }).toContain("there is no agent");
      terminal.send("/instructions on");
      await terminal.until("The project's instructions are used here from now on.");
      terminal.paste(RUN);
      terminal.press("Enter");
      await expect.poll(() => model.lastRequest, { timeout: 60_000 }).toContain("[agent reviewer-");
    },
  );
});
