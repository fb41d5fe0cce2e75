import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { runBash } from "./chatTerminal.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

const REQUEST = `call request_tool ${JSON.stringify({ name: "run_bash", reason: "to run the tests" })}`;

describe.skipIf(!hasTmux)("a tool that is off (skipped without tmux)", () => {
  const start = useBuiltChat();

  /** Answers the model's request with one of the four choices. */
  async function answer(terminal: TestTerminal, steps: number, choice: string, then = ""): Promise<void> {
    terminal.paste(REQUEST + then);
    terminal.press("Enter");
    await terminal.until(
      /The model asks:\n│ May I use run_bash\?[\s\S]*Reason: to run the tests[\s\S]*❯ no, refuse/,
    );
    for (let step = 0; step < steps; step++) terminal.press("Down");
    await terminal.until(`❯ ${choice}`);
    terminal.press("Enter");
  }

  test("ask_user takes a choice or another answer; a plan is accepted, changed in $EDITOR or rejected", async () => {
    const { box, chat, model } = await start();
    box.write("editor.sh", "echo '2. test it' >> \"$1\"\n");
    const terminal = await chat(["--mode", "plan"], {
      env: { EDITOR: `sh ${join(box.project, "editor.sh")}` },
    });
    const question = { question: "Which database?", choices: ["SQLite", "Postgres"] };
    terminal.send(`call ask_user ${JSON.stringify(question)}`);
    await terminal.until(/\? The model asks:\n│ Which database\?[\s\S]*Your answer[\s\S]*❯ SQLite/);
    terminal.press("Down", "Enter");
    // The question and its answer are all that is shown of the call.
    await terminal.until(/^│ Which database\?\n\? Postgres\n\nThat is all\./m);
    expect(model.lastRequest).toContain("The user answered: Postgres");
    terminal.send(`call ask_user ${JSON.stringify(question)}`);
    await terminal.until(/❯ SQLite/);
    terminal.send("a text file");
    await expect.poll(() => model.lastRequest).toContain("The user answered: a text file");

    const plan = `call present_plan ${JSON.stringify({ plan: "1. write it" })}`;
    terminal.send(plan);
    await terminal.until(/│ 1\. write it[\s\S]*Carry out this plan\?[\s\S]*❯ yes, and accept edits/);
    terminal.send("no tests please");
    await expect.poll(() => model.lastRequest).toContain("They say: no tests please");
    expect(terminal.status()).toMatch(/^plan/);
    terminal.send(plan);
    await terminal.until(/❯ yes, and accept edits/);
    terminal.press("Down", "Down", "Enter");
    await terminal.until(/│ 2\. test it[\s\S]*❯ yes, and accept edits/);
    terminal.press("Enter");
    await expect.poll(() => model.lastRequest).toContain("The user accepts the plan with changes.");
    await expect.poll(() => terminal.status()).toMatch(/^accept edits/);
  });

  test("is named with its remedy when the chat starts and when it is called; the model can ask for it", async () => {
    const { box, chat, model } = await start();
    const terminal = await chat();
    expect(terminal.screen()).toContain("commands: off (/enable run_bash)");
    terminal.send(runBash("touch made"));
    await terminal.until(/Tool not available: run_bash\n│ Turn it on: \/enable run_bash\n└ ✗ not available/);
    // The model reads the text as it always was.
    await expect
      .poll(() => model.lastRequest, { timeout: 60_000 })
      .toContain('Tool not available: run_bash"');

    await answer(terminal, 0, "no, refuse");
    // The question and its answer are all that is shown of the call.
    await terminal.until(/Reason: to run the tests\n\? no, refuse\n\nThat is all\./);
    expect(model.lastRequest).toContain("run_bash stays off: the user does not want it");

    const twice = `\nthen ${runBash("touch made")}\n${runBash("touch second")}`;
    await answer(terminal, 1, "yes, for this call", twice);
    await terminal.until("Run this command?");
    terminal.press("y");
    await expect.poll(() => existsSync(join(box.project, "made")), { timeout: 60_000 }).toBe(true);
    terminal.send(runBash("echo again"));
    await terminal.until(/echo again[\s\S]*Tool not available: run_bash/);
    expect(existsSync(join(box.project, "second"))).toBe(false);
  });

  test.each([
    ["is not called", ""],
    ["is refused", `\nthen ${runBash("touch made")}`],
  ])("is off after the turn if the one call that was allowed %s", async (_case, then) => {
    const { box, chat } = await start();
    const terminal = await chat();
    await answer(terminal, 1, "yes, for this call", then);
    if (then !== "") {
      await terminal.until("Run this command?");
      terminal.press("n");
      await terminal.until("What should it do instead?");
      terminal.press("Enter");
    }
    await terminal.until("That is all.");
    terminal.send(runBash("touch made"));
    await terminal.until(/Tool not available: run_bash/);
    terminal.send("/quit");
    await terminal.until(/agent --resume \S+/);
    const next = await chat(["--resume"]);
    expect(next.screen()).toContain("commands: off (/enable run_bash)");
    expect(next.screen()).not.toContain("Restored from the session");
    expect(existsSync(join(box.project, "made"))).toBe(false);
  });

  test("stays on in the project that it was allowed for, until that is revoked", async () => {
    const { chat, model } = await start();
    const first = await chat();
    await answer(first, 3, "yes, in this project");
    await first.until("That is all.");
    expect(model.lastRequest).toContain("run_bash is on.");
    const second = await chat();
    expect(second.screen()).not.toContain("commands: off");
    second.send(runBash("touch made; echo hello"));
    await second.until("Run this command?");
    second.press("y");
    await second.until(/│ hello\n└ ✓/);
    second.send("/permissions");
    await second.until(/1 {2}tool\.enable\(run_bash\) {2}in this project/);
    second.send("/permissions revoke 1");
    await second.until("asks again from now on.");
    const third = await chat();
    expect(third.screen()).toContain("commands: off (/enable run_bash)");
  });
});
