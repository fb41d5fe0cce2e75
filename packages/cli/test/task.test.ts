import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { gateIn } from "./gate.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("agent TASK in a terminal (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("streams the answer, and shows what continues with its time", async () => {
    const { box, run } = await start();
    const [first, second] = [gateIn(box.root), gateIn(box.root)];
    const task = `write The first words\npause ${first.path}\nwrite  and **more**.\npause ${second.path}\nsay  The end.`;
    const terminal = run([task]);
    await terminal.until(/^The first words\n\nanswering… \d+\.\ds · ctrl\+c stops$/m);
    first.open();
    await terminal.until(/^The first words and \*\*more\*\*\.$/m);
    second.open();
    const screen = await terminal.until("[status 0]");
    expect(screen).toMatch(
      /^The first words and \*\*more\*\*\. The end\.\n1,234 tokens in, 56 out · 1 request\n\[status 0\]/m,
    );
    expect(screen).not.toContain("answering…");
    expect(terminal.scrollback().match(/The first words/g)).toHaveLength(1);
  });

  test("shows text between calls, a running command with its output, a failed one with its reason", async () => {
    const { box, run } = await start();
    const { wait, open } = gateIn(box.root);
    const command = JSON.stringify({ command: `echo begun; ${wait}; exit 3` });
    const task = [
      "write First I look.",
      'call read_file {"path":"nope.txt"}',
      "then write Now I run it.",
      `call run_bash ${command}`,
      "then say Done.",
    ].join("\n");
    const terminal = run(["--enable", "run_bash", "--mode", "auto", "--no-sandbox", task]);
    const running = await terminal.until(/● run_bash {2}echo begun.*\n(.*\n)?│ begun\n│ executing… \d/);
    expect(running).toMatch(
      /^First I look\.\n\n● read_file {2}nope\.txt\n│ Error executing read_file: .*nope\.txt.*\n└ ✗ failed/m,
    );
    expect(running).toMatch(/^Now I run it\.$/m);
    open();
    const screen = await terminal.until("[status 3]");
    expect(screen).toMatch(/│ begun\n└ ✗ exit code 3 · \d[\s\S]*^Done\.$/m);
    expect(screen).not.toContain("executing…");
    expect(screen).toContain("agent: The last tool call failed: run_bash (exit code 3).");
  });

  test("shows a question below the previous output, and continues drawing after it", async () => {
    const { box, run } = await start();
    box.write("a.txt", "old\n");
    const terminal = run([
      "--confirm",
      "write_file",
      'write I change it.\ncall write_file {"path":"a.txt","content":"new\\n"}',
    ]);
    const asked = await terminal.until(/\? \[y\]es/);
    expect(asked).toMatch(
      /I change it\.[\s\S]*\? write_file\n│ path: a\.txt\n│ 1 -old\n│ 1 \+new[\s\S]*Apply this edit to a\.txt\?/,
    );
    expect(asked).not.toContain("executing…");
    terminal.send("y");
    const screen = await terminal.until("[status 0]");
    // The diff was in the question. Nothing can be expanded here, so no key is offered.
    expect(screen).toMatch(/Apply this edit to a\.txt\?.*y\n└ ✓ \+1 −1 · [\d.]+s\n\nThat is all\./);
  });

  test("stops with 130 on Ctrl-C, and keeps what was written", async () => {
    const { run } = await start();
    const terminal = run(["write Half an answer\nhang"]);
    await terminal.until(/^Half an answer$/m);
    terminal.press("C-c");
    const screen = await terminal.until("[status 130]");
    expect(screen).toMatch(/^Half an answer$/m);
    expect(screen).toContain("agent: Interrupted.");
    expect(terminal.cursor().visible).toBe(true);
  });

  test("writes the answer alone into a file, and keeps the activity on the terminal", async () => {
    const { box, run } = await start();
    box.write("a.txt", "content\n");
    const terminal = run(['call read_file {"path":"a.txt"}\nthen say The answer.'], {
      shell: (command) => `${command} > out.txt; cat out.txt | od -c | head -2`,
    });
    const screen = await terminal.until("[status 0]");
    expect(screen).toMatch(/● read_file {2}a\.txt {2}executing…\n└ read_file {2}a\.txt {2}✓/);
    expect(screen).toMatch(/0000000 +T +h +e +a +n +s +w +e +r +\. +\\n/);
  });
});
