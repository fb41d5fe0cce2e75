import { existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BuiltChat, useBuiltChat } from "./builtChat.js";
import { gateIn } from "./gate.js";
import { gone, pidIn } from "./processes.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

const RESUME = /To resume: agent --resume (\S+)/;

describe.skipIf(!hasTmux)("sessions of the built command in a terminal (skipped without tmux)", () => {
  const start = useBuiltChat();

  const say = async (terminal: TestTerminal, words: string): Promise<void> => {
    terminal.send(`say ${words}`);
    await terminal.until((screen) => new RegExp(`^${words}$[\\s\\S]*›$`, "m").test(screen));
  };
  const leave = async (terminal: TestTerminal): Promise<string> => {
    terminal.press("C-d");
    const id = RESUME.exec(await terminal.until("[status 0]"))?.[1];
    expect(id).toBeDefined();
    return id ?? "";
  };
  /** A command that runs until the test ends it, and writes its process id into a file. */
  const longCommand = ({ box }: BuiltChat): { call: string; mark: string } => {
    const mark = join(box.root, "begun");
    return { mark, call: `call run_bash ${JSON.stringify({ command: `echo $$ > ${mark}; sleep 600` })}` };
  };

  test("prints on leaving how to come back, accepts the start of an id, and shows the conversation again", async () => {
    const { box, chat, model } = await start();
    box.write("a.txt", "content of a\n");
    const first = await chat();
    await say(first, "forty two");
    first.send('call read_file {"path":"a.txt"}');
    await first.until("That is all.");
    const id = await leave(first);
    const next = await chat(["--resume", id.slice(0, 18)]);
    const screen = await next.until(/lists the commands\.\n\n› say forty two[\s\S]*resumed, 6 messages/);
    expect(screen).toMatch(
      /› say forty two\n\nforty two\n\n› call read_file .*\n\n● read_file {2}a\.txt \(1 line\)\n\nThat is all\./,
    );
    next.send("and now");
    await next.until('You said "and now".');
    expect(model.lastRequest).toContain("forty two");
  });

  test("lists the sessions on --resume with first words, time and size; typing filters", async () => {
    const { chat, run } = await start();
    const first = await chat();
    await say(first, "about apples");
    await leave(first);
    const second = await chat();
    await say(second, "about pears");
    await leave(second);
    const third = run(["--resume"]);
    const list = await third.until(/Resume a session · type to filter/);
    expect(list).toMatch(/❯ say about pears +just now · 2 messages · \d+ KB · \d{8}-/);
    expect(list).toMatch(/ {2}say about apples +just now · 2 messages/);
    third.type("applx");
    await third.until(/\n {2}no match$/);
    third.press("BSpace");
    await third.until((screen) => screen.includes("❯ say about apples") && !screen.includes("pears"));
    third.press("Enter");
    await third.until(/about apples\n\nresumed, 2 messages/);
    await say(third, "about plums");
    await leave(third);
    const fourth = run(["--resume"]);
    expect(await fourth.until(/Resume a session · type to filter/)).toMatch(
      /❯ say about apples +just now · 4 messages/,
    );
  });

  test("lists, shows and exports by what was typed a session that began with a custom command", async () => {
    const { box, chat, run, model } = await start();
    box.write(".agent/commands/review.md", "say Review of $1 with all the care in the world.");
    const first = await chat();
    first.press("BTab", "BTab");
    await expect.poll(() => first.status(), { timeout: 60_000 }).toMatch(/^plan /);
    first.send("/review src/a.ts");
    await first.until(/^Review of src\/a\.ts with all the care in the world\.$[\s\S]*›$/m);
    // The model gets both, and the note about the mode.
    expect(model.lastRequest).toContain("/review src/a.ts");
    expect(model.lastRequest).toContain("say Review of src/a.ts with");
    expect(model.lastRequest).toContain("You are in plan mode");
    first.send("/export talk.md");
    await first.until(/Wrote 2 messages/);
    expect(readFileSync(join(box.project, "talk.md"), "utf8")).toContain(
      "## You\n\n/review src/a.ts\n\n**the text of /review**\n\n```",
    );
    first.send("/clear");
    await first.until("A new session.");
    await say(first, "something else");
    await leave(first);
    const next = run(["--resume"]);
    await next.until(/^ {2}\/review src\/a\.ts +just now · 2 messages/m);
    next.type("review");
    await next.until(/❯ \/review/);
    next.press("Enter");
    await next.until(/^› \/review src\/a\.ts\n\nReview of src\/a\.ts [^\n]*\n\nresumed, 2 messages/m);
  });

  test("starts a new session with /clear and keeps the old one, returns with /resume, continues in a copy with /fork", async () => {
    const { chat, model } = await start();
    const terminal = await chat();
    await say(terminal, "first talk");
    terminal.send("/clear");
    const id = /A new session\. The old one is saved: \/resume (\S+)/.exec(
      await terminal.until("A new session. The old one is saved"),
    )?.[1];
    await say(terminal, "second talk");
    expect(model.lastRequest).not.toContain("first talk");
    terminal.send("/resume");
    await terminal.until(/❯ say first talk +just now · 2 messages/);
    terminal.press("Enter");
    await terminal.until("resumed, 2 messages");
    terminal.send("/fork");
    await terminal.until(`Forked. The original is still at /resume ${id}`);
    await say(terminal, "only in the copy");
    expect(model.lastRequest).toContain("first talk");
    terminal.send(`/resume ${id}`);
    await terminal.until((screen) => screen.match(/resumed, 2 messages/g)?.length === 2);
    terminal.send("hello");
    await terminal.until('You said "hello".');
    expect(model.lastRequest).not.toContain("only in the copy");
  });

  test("replaces older messages with a summary with /compact", async () => {
    const { box, chat, model } = await start();
    const terminal = await chat([], { columns: 200 });
    for (const number of [1, 2, 3, 4])
      await say(terminal, `fact ${number} ${"word ".repeat(300).trim()} end${number}`.slice(0, 40));
    terminal.send("/compact");
    await terminal.until(/Compacted: \d+ → \d+ messages\.|nothing to summarize/);
    expect(terminal.screen()).toMatch(/Compacted: 8 → \d messages/);
    // Five requests of 1234 tokens: the one for the summary was paid for, too.
    await expect.poll(() => terminal.status()).toContain("6.2k in");
    terminal.send("/context");
    await terminal.until("The next request shows its size.");
    await say(terminal, "after it");
    expect(model.requests.at(-1)?.length).toBeLessThan(9);
    // The summary is nothing that the user said.
    terminal.send("/export talk.md");
    await terminal.until("Wrote 11 messages");
    const exported = readFileSync(join(box.project, "talk.md"), "utf8");
    expect(exported).toContain("**Summary of the conversation so far**\n\n```");
    const next = await chat(["--resume", await leave(terminal)]);
    expect(await next.until("resumed, 11 messages")).toContain(
      "… the model has a summary of the messages above",
    );
  });

  test("overwrites only its own file with /export", async () => {
    const { box, chat } = await start();
    box.write("README.md", "mine");
    const terminal = await chat([], { columns: 200 });
    await say(terminal, "exported words");
    terminal.send("/export README.md");
    await terminal.until(/README\.md" already exists\. Name another file, or remove it first\./);
    expect(readFileSync(join(box.project, "README.md"), "utf8")).toBe("mine");
    for (const name of ["talk.md", ""]) {
      await say(terminal, `before ${name}.`);
      terminal.send(`/export ${name}`);
      await terminal.until(/Wrote 4 messages|Wrote 8 messages/);
      await say(terminal, `after ${name}.`);
      terminal.send(`/export ${name}`);
      await terminal.until(/Wrote 6 messages|Wrote 10 messages/);
    }
    terminal.send("/export none/talk.md");
    const screen = await terminal.until("There is no directory");
    expect(screen).toMatch(/There is no directory "[^"]*none"\./);
    expect(screen).not.toContain(".tmp");
  });

  test("creates nothing with /export at the target of a dangling link", async () => {
    const { box, chat } = await start();
    const target = join(box.home, "target");
    symlinkSync(target, join(box.project, "talk.md"));
    const terminal = await chat([], { columns: 200 });
    await say(terminal, "exported words");
    terminal.send("/export talk.md");
    await terminal.until(/talk\.md" already exists\. Name another file, or remove it first\./);
    expect(existsSync(target)).toBe(false);
  });

  test("writes Markdown with /export, and one HTML page that contains everything", async () => {
    const { box, chat } = await start();
    const terminal = await chat();
    await say(terminal, "exported words");
    terminal.send("/export talk.md");
    await terminal.until(/Wrote 2 messages to .*talk\.md/);
    expect(readFileSync(join(box.project, "talk.md"), "utf8")).toContain("exported words");
    terminal.send("/export talk.html");
    await terminal.until(/Wrote 2 messages to .*talk\.html/);
    const page = readFileSync(join(box.project, "talk.html"), "utf8");
    expect(page).toContain("<p>exported words</p>");
    expect(page).not.toMatch(/<script|<link|src="http/);
  });

  test("loses after kill -9 in the middle of a call nothing that was complete", async () => {
    const built = await start();
    const { chat, box } = built;
    box.write("a.txt", "the first result\n");
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    const { call, mark } = longCommand(built);
    await say(terminal, "before it");
    terminal.paste(`call read_file {"path":"a.txt"}\nthen ${call}`);
    terminal.press("Enter");
    await pidIn(mark);
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("[status 137]");
    const next = await chat(["--resume"]);
    const screen = await next.until("resumed, ");
    expect(screen).toMatch(
      /before it[\s\S]*● read_file {2}a\.txt \(1 line\)[\s\S]*● run_bash[\s\S]*└ Interrupted: .* Check before you\srepeat it\.$/m,
    );
    next.send("hello");
    await next.until('You said "hello".');
  });

  test("keeps all messages before it and the question after kill -9 in the middle of an answer", async () => {
    const { chat, box, model } = await start();
    const gate = gateIn(box.root);
    const terminal = await chat();
    await say(terminal, "before it");
    terminal.paste(`write half an answer\npause ${gate.path}`);
    terminal.press("Enter");
    await terminal.until(/^half an answer$/m);
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("[status 137]");
    const next = await chat(["--resume"]);
    const screen = await next.until("resumed, 3 messages");
    expect(screen).toMatch(/› say before it\n\nbefore it\n\n› write half an answer/);
    gate.open();
    next.send("hello");
    await next.until(/tokens in[\s\S]*›$/);
    expect(model.lastRequest).toContain("hello");
  });

  test("loses nothing and leaves nothing running if the window closes during a call, with several SIGHUPs", async () => {
    const built = await start();
    const { chat, box } = built;
    box.write("a.txt", "the first result\n");
    const terminal = await chat(["--enable", "run_bash", "--mode", "auto", "--no-sandbox"]);
    const { call, mark } = longCommand(built);
    terminal.paste(`call read_file {"path":"a.txt"}\nthen ${call}`);
    terminal.press("Enter");
    const [pid, command] = [terminal.pid(), await pidIn(mark)];
    for (let count = 0; count < 3; count++) process.kill(pid, "SIGHUP");
    terminal.close();
    await Promise.all([pid, command].map(gone));
    const next = await chat(["--resume"]);
    expect(await next.until("resumed, ")).toMatch(/● read_file {2}a\.txt \(1 line\)/);
    next.send("hello");
    await next.until('You said "hello".');
  });

  test("names once a home that cannot be written, and writes nothing into the project", async () => {
    const { chat, box } = await start();
    const before = tree(box.project);
    const terminal = await chat([], { env: { HOME: "/dev/null" } });
    await say(terminal, "works all the same");
    expect(terminal.scrollback().match(/the session is not saved/g)).toHaveLength(1);
    terminal.press("C-d");
    await terminal.until("[status 0]");
    expect(tree(box.project)).toEqual(before);
  });
});

function tree(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}
