import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { answered, runBash, useChatTerminals } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("the chat in a terminal (skipped without tmux)", () => {
  const chats = useChatTerminals();

  test("Scenario: Display shell execution in chat", async () => {
    const terminal = await chats.start();
    terminal.send(runBash("echo out; echo err >&2; exit 2"));
    const failed = await terminal.until("That is all.");
    expect(failed).toContain("● run_bash  echo out; echo err >&2; exit 2\n│ out\n│ err\n└ ✗ exit code 2 · ");
    terminal.send(runBash("echo fine"));
    await terminal.until("└ ✓ exit code 0 · ");
  });

  test("leaves nothing twice in the scrollback, also at the top of the screen", async () => {
    const terminal = await chats.start();
    terminal.press("C-l");
    await terminal.until((screen) => screen.trim() === "›");
    terminal.send("hello");
    await answered(terminal, "hello");
    expect(terminal.scrollback().match(/› hello/g)).toHaveLength(1);
  });

  test("reports an empty answer as empty", async () => {
    const terminal = await chats.start();
    terminal.send("say ");
    await terminal.until("… the model gave an empty answer");
  });

  test("Scenario: Handle long-running commands", async () => {
    const terminal = await chats.start();
    const { wait, open } = chats.gate();
    terminal.send(runBash(`seq 20; ${wait}; echo finished`));
    const running = await terminal.until(/│ 20\n│ executing… \d+\.\ds/);
    expect(running).toContain("│ 17\n│ 18\n│ 19\n│ 20\n│ executing…");
    expect(running).not.toContain("│ 16");
    const elapsed = /executing… (\S+)/.exec(running)?.[1];
    await terminal.until((screen) => /executing… (\S+)/.exec(screen)?.[1] !== elapsed);

    terminal.send("/status");
    await terminal.until(/Running\n {2}#1 {2}run_bash .* {2}executing… \d/);
    open();
    const done = await terminal.until("That is all.");
    expect(done).toContain("│ finished\n└ ✓ exit code 0");
    expect(done).not.toContain("│ executing…");

    terminal.send("/status");
    await terminal.until(/Finished\n {2}#1 {2}run_bash .* {2}✓ exit code 0 · \d.* · pid \d+/);
  });

  test("collapses a finished call, and shows all of it on Ctrl-O", async () => {
    const terminal = await chats.start();
    terminal.send(runBash("seq 100 112"));
    const screen = await terminal.until("That is all.");
    expect(screen).toContain("│ … +8 lines (ctrl+o expands)\n│ 108\n│ 109\n│ 110\n│ 111\n│ 112\n└ ✓");
    terminal.press("C-o");
    await terminal.until("│ 100\n│ 101\n");
    terminal.press("C-o");
    await terminal.until("That was the oldest one. Ctrl+O starts over.");
  });

  test("shows parallel calls in a block each, in the order of the requests, and a read in one row", async () => {
    const terminal = await chats.start({ env: { CHAT_NOTES: "on" } });
    const [first, second] = [chats.gate(), chats.gate()];
    terminal.paste(`call read_note {"path":"${first.path}"}\ncall read_note {"path":"${second.path}"}`);
    terminal.press("Enter");
    await terminal.until((screen) => screen.match(/● read_note {2}.*\n│ executing…/g)?.length === 2);
    second.open();
    await terminal.until(`● read_note  ${second.path} ✓`);
    expect(terminal.screen()).toContain(`● read_note  ${first.path}\n│ executing…`);
    first.open();
    await terminal.until(/(● read_note {2}.*(\n .*)? ✓\n){2}/);
    terminal.press("C-o");
    await terminal.until(`● read_note  ${second.path}\n│ note ${second.path}\n└ ✓`);
  });

  test("shows a tool error, an exit code and a missing tool as failures", async () => {
    const terminal = await chats.start();
    terminal.send("call run_bash {}");
    await terminal.until(/│ Error executing run_bash: .*\n└ ✗ failed/);
    terminal.send("call no_such_tool {}");
    await terminal.until(/│ Tool not found: no_such_tool\. [\s\S]*└ ✗ no such tool/);
    terminal.send("call read_note {}");
    await terminal.until(
      "│ Tool not available: read_note\n│ Turn it on: /enable read_note\n└ ✗ not available",
    );
    terminal.send(runBash("kill -9 $$"));
    await terminal.until("└ ✗ exit code 137");
  });

  test("shows an edit as a diff in colour", async () => {
    const terminal = await chats.start();
    terminal.send('call edit_file {"path":"a.txt"}');
    await terminal.until("That is all.");
    const screen = terminal.coloredScreen();
    expect(screen).toContain("\x1b[31m2 -old");
    expect(screen).toContain("\x1b[32m2 +new");
  });

  test("streams an answer as Markdown and keeps its text as it was written", async () => {
    const terminal = await chats.start();
    const text =
      "# Title\\n\\nSome **bold** text, `code` and [a link](https://example.org).\\n\\n```js\\nlet a = 1;\\n```\\n- item";
    terminal.send(`say ${text}`);
    const screen = await terminal.until("- item\n1,234 tokens in, 56 out · 1 request");
    expect(screen).toContain(text.replaceAll("\\n", "\n"));
    expect(terminal.coloredScreen()).toMatch(/1m([^a-z]*m)*bold/);
  });

  test("keeps a long answer in the scrollback once, prose broken between words and code as it was written", async () => {
    const terminal = await chats.start({ columns: 60, rows: 12 });
    const lines = Array.from({ length: 60 }, (_, index) => `row ${index} ${"word ".repeat(index % 25)}end`);
    const answer = [...lines, "```", ...lines, "```"].join("\n");
    terminal.paste(`say ${answer.replaceAll("\n", "\\n")}`);
    terminal.press("Enter");
    await terminal.until("1,234 tokens in");
    const text = terminal.scrollback();
    const shown = text.slice(text.indexOf("\nrow 0 ") + 1, text.indexOf("\n1,234 tokens"));
    const prose = shown.slice(0, shown.indexOf("```"));
    expect(shown.slice(prose.length)).toBe(answer.slice(answer.indexOf("```")));
    expect(prose.trimEnd().replace(/\n(?!row)/g, " ")).toBe(lines.join("\n"));
    for (const row of prose.split("\n")) expect(row.length).toBeLessThan(60);
  });

  test("removes the unfinished answer on a retry", async () => {
    const terminal = await chats.start();
    const { path, open } = chats.gate();
    terminal.paste(`write first attempt\npause ${path}\nbreak\nsay second attempt`);
    terminal.press("Enter");
    await terminal.until(/^first attempt$/m);
    open();
    const screen = await terminal.until("second attempt\n1,234 tokens");
    expect(screen).not.toMatch(/^first attempt$/m);
    expect(screen).toContain("↻ The stream broke off. Retrying…\n");
  });

  test("shows a provider's error, restores the message on the line, and continues", async () => {
    const terminal = await chats.start();
    terminal.send("fail no route \\x1b[2Jto host");
    await terminal.until(
      /^The provider failed: no route \\x1b\[2Jto host\n[\s\S]*› fail no route \\x1b\[2Jto host$/m,
    );
    terminal.press("C-u");
    terminal.send("hello");
    await answered(terminal, "hello");
  });

  test("describes what each slash command does", async () => {
    const terminal = await chats.start({ rows: 60 });
    terminal.send("/help");
    const help = await terminal.until("/quit");
    for (const name of [
      "/tools",
      "/enable NAME",
      "/disable NAME",
      "/status [end ID]",
      "/clear",
      "/save",
      "/model",
    ]) {
      expect(help).toContain(name);
    }
    const names = [...help.matchAll(/^ {2}(\/[a-z]+)/gm)].map(([, name]) => name);
    expect([names[0], names.at(-1)]).toEqual(["/help", "/quit"]);
    terminal.send("/tools");
    await terminal.until(/off {2}read_note +by default · read\n +Read a note, slowly\./);
    terminal.send("/enable read_note");
    await terminal.until("read_note is on in this chat.");
    terminal.send("/disable run_bash");
    await terminal.until("run_bash is off in this chat.");
    terminal.send("/tools");
    await terminal.until(/off {2}run_bash +changed in this chat · execute/);
    terminal.send("/enable read_nte");
    await terminal.until('There is no tool "read_nte". Did you mean "read_note"?');
    terminal.send("/statsu");
    await terminal.until('There is no command "/statsu". Did you mean "/status"?');
    terminal.send("/model");
    await terminal.until("scripted answers.");
    terminal.send("/model other");
    await terminal.until("other answers from the next message on.");
    terminal.send("/clear");
    await terminal.until("Conversation cleared.");
    terminal.send("/etc/hosts is a path");
    await answered(terminal, "/etc/hosts is a path");
    terminal.send("/exit");
    await terminal.until("left with 0\n[status 0]");
  });

  test("writes the conversation to its file with /save", async () => {
    const terminal = await chats.start({ cwd: chats.folder });
    terminal.send("hello");
    await answered(terminal, "hello");
    terminal.send("/save before lunch");
    await terminal.until(/[Ss]aved .*agent-session-\w+\.jsonl/);
    expect(readdirSync(chats.folder)).toContainEqual(expect.stringMatching(/^agent-session-\w+\.jsonl$/));
  });

  test("lists background jobs with /status and stops one", async () => {
    const terminal = await chats.start();
    terminal.send("/status");
    await terminal.until(/Background\n {2}job-1 {2}npm run dev {2}pid 4242, 4243 · 1m 0\ds/);
    terminal.send("/status end nothing");
    await terminal.until('No running call or job is called "nothing". Running: job-1.');
    terminal.send("/status end job-1");
    await terminal.until("Stopped job-1.");
    terminal.send("/status");
    await terminal.until("No tool was called yet, and nothing runs in the background.");
  });

  test("stops the answer too on /status end if the pack cannot stop one call", async () => {
    const terminal = await chats.start();
    terminal.send(runBash("sleep 1000"));
    await terminal.until("│ executing…");
    terminal.send("/status end 1");
    await terminal.until(/● run_bash {2}sleep 1000\n└ ✗ exit code 137 · /);
    await terminal.until("Interrupted.");
  });
});
