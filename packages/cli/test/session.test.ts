import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type BuiltChat, useBuiltChat } from "./builtChat.js";
import { hasTmux, type TestTerminal } from "./terminal.js";

const RESUME = /Go on with this conversation: agent --resume (\S+)/;

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
  /** A command that runs until the test ends it, and says by a file that it does. */
  const longCommand = ({ box }: BuiltChat): { call: string; mark: string } => {
    const mark = join(box.root, "begun");
    return { mark, call: `call run_bash ${JSON.stringify({ command: `echo > ${mark}; sleep 600` })}` };
  };
  const exists = (file: string) => expect.poll(() => existsSync(file), { timeout: 20_000 }).toBe(true);

  test("leaving says how to come back; the start of an id is enough, and the conversation is shown again", async () => {
    const { box, chat, model } = await start();
    box.write("a.txt", "content of a\n");
    const first = await chat();
    await say(first, "forty two");
    first.send('call read_file {"path":"a.txt"}');
    await first.until("That is all.");
    const id = await leave(first);
    const next = await chat(["--resume", id.slice(0, 18)]);
    const screen = await next.until(/resumed, 6 messages/);
    expect(screen).toMatch(
      /› say forty two\n\nforty two\n\n› call read_file .*\n● read_file {2}a\.txt\n└ content of a\n\nThat is all\./,
    );
    next.send("and now");
    await next.until('You said "and now".');
    expect(model.lastRequest).toContain("forty two");
  });

  test("--resume lists the sessions with first words, time and size; typing filters", async () => {
    const { chat, run } = await start();
    const first = await chat();
    await say(first, "about apples");
    await leave(first);
    const second = await chat();
    await say(second, "about pears");
    await leave(second);
    const third = run(["--resume"]);
    const list = await third.until(/Go on with · type to filter/);
    expect(list).toMatch(/❯ say about pears +just now · 2 messages · .*bytes · \d{8}-/);
    expect(list).toMatch(/ {2}say about apples +just now · 2 messages/);
    third.type("appl");
    await third.until((screen) => screen.includes("❯ say about apples") && !screen.includes("pears"));
    third.press("Enter");
    await third.until(/about apples\n\nresumed, 2 messages/);
    await say(third, "about plums");
    await leave(third);
    const fourth = run(["--resume"]);
    expect(await fourth.until(/Go on with · type to filter/)).toMatch(
      /❯ say about apples +just now · 4 messages/,
    );
  });

  test("/clear starts a new session and the old one stays, /resume goes back, /fork goes on in a copy", async () => {
    const { chat, model } = await start();
    const terminal = await chat();
    await say(terminal, "first talk");
    terminal.send("/clear");
    const id = /A new session\. The old one stays: \/resume (\S+)/.exec(
      await terminal.until("A new session. The old one stays"),
    )?.[1];
    await say(terminal, "second talk");
    expect(model.lastRequest).not.toContain("first talk");
    terminal.send("/resume");
    await terminal.until(/❯ say first talk +just now · 2 messages/);
    terminal.press("Enter");
    await terminal.until("resumed, 2 messages");
    terminal.send("/fork");
    await terminal.until(`This is a copy now. The original stays: /resume ${id}`);
    await say(terminal, "only in the copy");
    expect(model.lastRequest).toContain("first talk");
    terminal.send(`/resume ${id}`);
    await terminal.until((screen) => screen.match(/resumed, 2 messages/g)?.length === 2);
    terminal.send("hello");
    await terminal.until('You said "hello".');
    expect(model.lastRequest).not.toContain("only in the copy");
  });

  test("/compact puts a summary in place of older messages", async () => {
    const { chat, model } = await start();
    const terminal = await chat();
    for (const number of [1, 2, 3, 4])
      await say(terminal, `fact ${number} ${"word ".repeat(300).trim()} end${number}`.slice(0, 40));
    terminal.send("/compact");
    await terminal.until(/Older messages are a summary now: \d+ → \d+ messages\.|nothing to sum up/);
    expect(terminal.screen()).toMatch(/summary now: 8 → \d messages/);
    await say(terminal, "after it");
    expect(model.requests.at(-1)?.length).toBeLessThan(9);
  });

  test("/export writes Markdown, and one HTML page that holds everything", async () => {
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

  test("kill -9 in the middle of a call loses nothing that was complete", async () => {
    const built = await start();
    const { chat, box } = built;
    box.write("a.txt", "the first result\n");
    const terminal = await chat(["--enable", "run_bash"]);
    const { call, mark } = longCommand(built);
    await say(terminal, "before it");
    terminal.paste(`call read_file {"path":"a.txt"}\nthen ${call}`);
    terminal.press("Enter");
    await exists(mark);
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("[status 137]");
    const next = await chat(["--resume"]);
    const screen = await next.until("resumed, ");
    expect(screen).toMatch(
      /before it[\s\S]*● read_file {2}a\.txt\n└ the first result[\s\S]*● run_bash[\s\S]*└ .*Interrupted/,
    );
    next.send("hello");
    await next.until('You said "hello".');
  });

  test("kill -9 in the middle of an answer keeps all messages before it and the question", async () => {
    const { chat, box, model } = await start();
    const gate = join(box.root, "gate");
    const terminal = await chat();
    await say(terminal, "before it");
    terminal.paste(`write half an answer\npause ${gate}`);
    terminal.press("Enter");
    await terminal.until(/^half an answer$/m);
    process.kill(terminal.pid(), "SIGKILL");
    await terminal.until("[status 137]");
    const next = await chat(["--resume"]);
    const screen = await next.until("resumed, 3 messages");
    expect(screen).toMatch(/› say before it\n\nbefore it\n\n› write half an answer/);
    writeFileSync(gate, "");
    next.send("hello");
    await next.until(/tokens in[\s\S]*›$/);
    expect(model.lastRequest).toContain("hello");
  });

  test("a window that is closed during a call, with several SIGHUPs, loses nothing and leaves nothing running", async () => {
    const built = await start();
    const { chat, box } = built;
    box.write("a.txt", "the first result\n");
    const terminal = await chat(["--enable", "run_bash"]);
    const { call, mark } = longCommand(built);
    terminal.paste(`call read_file {"path":"a.txt"}\nthen ${call}`);
    terminal.press("Enter");
    await exists(mark);
    const pid = terminal.pid();
    for (let count = 0; count < 3; count++) process.kill(pid, "SIGHUP");
    terminal.close();
    await expect.poll(() => isAlive(pid), { timeout: 20_000 }).toBe(false);
    const next = await chat(["--resume"]);
    expect(await next.until("resumed, ")).toMatch(/● read_file {2}a\.txt\n└ the first result/);
    next.send("hello");
    await next.until('You said "hello".');
  });

  test("a home that cannot be written is named once, and nothing is written into the project", async () => {
    const { chat, box } = await start();
    const before = tree(box.project);
    const terminal = await chat([], { env: { HOME: "/dev/null" } });
    await say(terminal, "works all the same");
    expect(terminal.scrollback().match(/the session is not kept/g)).toHaveLength(1);
    terminal.press("C-d");
    await terminal.until("[status 0]");
    expect(tree(box.project)).toEqual(before);
  });
});

function tree(directory: string): string[] {
  return readdirSync(directory, { recursive: true }).map(String).sort();
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
