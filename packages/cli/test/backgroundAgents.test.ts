import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { gateIn } from "./gate.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("background agents in the built chat (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("are listed, ask under their name while the chat is idle, and start a turn when they finish", async () => {
    const { box, model, chat } = await start();
    box.link("@agent/tools-agents", "@agent/preset-default");
    box.write(
      "agent.config.mjs",
      'export default { packs: ["@agent/preset-default", "@agent/tools-agents"], confirm: ["write_file"] };',
    );
    const gate = gateIn(box.root);
    const terminal = await chat(["--trust"]);
    const work = `pause ${gate.path}\ncall write_file {"path":"made.txt","content":"x"}\nthen say the work is done`;
    const args = { agent: "worker", task: work, background: true };
    terminal.paste(`call agent_run ${JSON.stringify(args)}\nthen say it runs`);
    terminal.press("Enter");
    await terminal.until(/it runs[\s\S]*2 requests/);
    terminal.send("/status");
    await terminal.until(/Background\n +worker-\w+ +worker: pause.* working · /);
    gate.open();
    await terminal.until(/worker asks|worker wants|write_file/);
    // Esc would stop nothing, because no message is being answered.
    await terminal.until(/made\.txt\? y yes · n\/esc no/);
    terminal.press("y");
    await terminal.until(/● worker {2}in the background\n│ ● write_file {2}made\.txt/);
    await terminal.until(/⏰ worker-\w+: The agent worker-\w+ has ended\./);
    // The model reads that the user did not write it. The agent's own task has the text of its answer, too.
    await expect.poll(() => model.lastRequest, { timeout: 60_000 }).toContain("not written by the user");
    expect(model.lastRequest).toContain("the work is done");
    await terminal.until(/You said/);
  });
});
