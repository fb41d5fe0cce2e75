import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { runBash } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("a session that is resumed (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("gets back the mode, tools and permissions that were switched in it, and says so", async () => {
    const { box, chat } = await start();
    const first = await chat();
    first.send("/enable run_bash");
    await first.until("run_bash is on in this chat.");
    first.send("/disable move");
    await first.until("move is off in this chat.");
    first.send(runBash("touch one"));
    await first.until("Run this command?");
    first.press("a");
    await first.until("3 every call of run_bash");
    first.press("1");
    await first.until("That is all.");
    first.send("/mode ask");
    await first.until("Mode: ask");
    first.send("/quit");
    await first.until(/agent --resume \S+/);

    const next = await chat(["--resume"]);
    await next.until(
      "Restored from the session: mode ask; run_bash on; move off; 1 permission (/permissions).",
    );
    expect(next.status()).toMatch(/^ask/);
    next.send(runBash("touch one"));
    await next.until(/That is all\.[\s\S]*touch one[\s\S]*That is all\./);
    expect(existsSync(join(box.project, "one"))).toBe(true);
    next.send("/quit");
    await next.until("[status 0]");

    // The mode of the command line wins, and a new session starts as the settings say.
    const given = await chat(["--resume", "--mode", "plan"]);
    await given.until("Restored from the session: run_bash on; move off; 1 permission");
    expect(given.status()).toMatch(/^plan/);
    const fresh = await chat();
    expect(fresh.screen()).toContain("commands: off");
    expect(fresh.status()).toMatch(/^accept edits/);
  });

  test("can undo what a single task changed", async () => {
    const { box, chat, run } = await start();
    const task = run(['call write_file {"path":"one.txt","content":"x"}']);
    await task.until(/That is all\.[\s\S]*\[status 0\]/);
    expect(existsSync(join(box.project, "one.txt"))).toBe(true);
    const next = await chat(["--resume"]);
    next.send("/undo");
    await next.until("Undid 1 change from “call write_file");
    expect(existsSync(join(box.project, "one.txt"))).toBe(false);
  });

  test("has its own switches, also after /clear, /fork and /resume in a chat", async () => {
    const { chat } = await start();
    const terminal = await chat();
    const say = async (word: string): Promise<void> => {
      terminal.send(`say the ${word} answer`);
      await terminal.until(new RegExp(`^the ${word} answer$[\\s\\S]*1 request`, "m"));
    };
    const sessionAfter = async (command: string, words: RegExp): Promise<string> => {
      terminal.send(command);
      return words.exec(await terminal.until(words))?.[1] ?? "";
    };
    await say("plain");
    const plain = await sessionAfter("/clear", /The old one is saved: \/resume (\S+)/);
    terminal.send("/enable run_bash");
    await terminal.until("run_bash is on in this chat.");
    await say("switched");
    const switched = await sessionAfter("/fork", /The original is still at \/resume (\S+)/);
    await say("forked");

    // Nothing was switched in this session, and nothing of the other one stays.
    terminal.send(`/resume ${plain}`);
    await terminal.until("Mode, tools and permissions are reset to your settings.");
    await say("last");
    terminal.send("/quit");
    await terminal.until("[status 0]");
    const again = await chat(["--resume", plain]);
    expect(again.screen()).toContain("commands: off");
    expect(again.screen()).not.toContain("Restored from the session");
    again.send(`/resume ${switched}`);
    await again.until("Restored from the session: run_bash on.");
    again.send("/disable run_bash");
    await again.until("run_bash is off in this chat.");
    again.send("/quit");
    await again.until("[status 0]");
    const off = await chat(["--resume", switched]);
    expect(off.screen()).not.toContain("Restored from the session");
  });

  test("is named by the small model or /name, and found by its name and by its messages", async () => {
    const { box, chat } = await start(["scripted", "small"]);
    box.write(
      "agent.config.json",
      JSON.stringify({ smallModel: "small", statusLine: ["session", "branch", "model"] }),
    );
    const terminal = await chat(["--trust"]);
    terminal.send("say apples");
    await expect.poll(() => terminal.status()).toMatch(/^accept edits \(shift\+tab\) · apples · scripted$/);
    terminal.send("/name About  fruit");
    await terminal.until("This session is called “About fruit”.");
    expect(terminal.status()).toContain("· About fruit ·");
    terminal.send("/clear");
    await terminal.until("A new session.");
    terminal.send("say pears");
    await expect.poll(() => terminal.status()).toContain("· pears ·");
    terminal.send("/resume");
    await terminal.until(/❯ About fruit/);
    terminal.type("apples");
    await terminal.until(/\? apples\n❯ About fruit/);
    terminal.press("Enter");
    await terminal.until("resumed, 2 messages");
    const { stdout } = await box.run(["sessions", "search", "apples", "say"]);
    expect(stdout).toMatch(/NAME OR FIRST WORDS +SAID\n\S+ .* About fruit +say apples\n/);
  });

  test("continues in a copy while it is open in another window, and is marked in the list", async () => {
    const { box, chat } = await start();
    const first = await chat();
    first.send('call write_file {"path":"shared.txt","content":"x"}');
    await first.until("That is all.");
    first.send("/name two windows");
    await first.until("This session is called");
    const second = await chat(["--resume"]);
    const screen = await second.until(
      /open in another window\. The conversation continues[\s\S]*-[0-9a-f]{4}\./,
    );
    const copy = /copy of it:\s+(\S+)\./.exec(screen)?.[1] ?? "";
    second.send("/rewind");
    await second.until("changed shared.txt");
    second.press("Escape");
    await second.until(/›$/);
    second.send("say from the second window");
    await second.until(/from the second window\n[\s\S]*from the second window/);
    first.send("say first again");
    await first.until(/first again\n[\s\S]*first again/);
    second.send("/quit");
    await second.until(`agent --resume ${copy}`);

    const list = JSON.parse((await box.run(["sessions", "--json"])).stdout).sessions;
    expect(list).toHaveLength(2);
    const name = "two windows";
    expect(list).toContainEqual(expect.objectContaining({ id: copy, name, messages: 6, isOpen: false }));
    expect(list).toContainEqual(expect.objectContaining({ name, messages: 6, isOpen: true }));
    first.send("/quit");
    await first.until("[status 0]");
    const [directory = ""] = readdirSync(join(box.home, ".local/state/agent/sessions"));
    const names = readdirSync(join(box.home, ".local/state/agent/sessions", directory));
    expect(names.filter((name) => name.endsWith(".open"))).toEqual([]);
  });

  test("shows and exports the messages that the model has only as a summary, also in a fork", async () => {
    const { box, chat } = await start();
    const first = await chat();
    for (const word of ["one", "two", "three"]) {
      first.send(`say the answer ${word}`);
      await first.until(new RegExp(`^the answer ${word}$[\\s\\S]*1 request`, "m"));
    }
    first.send("/compact");
    await first.until("Compacted: 6 → ");
    first.send("/fork");
    await first.until("Forked.");
    first.send("/export all.md");
    await first.until("Wrote 7 messages");
    const text = readFileSync(join(box.project, "all.md"), "utf8");
    expect(text.match(/^the answer \w+$/gm)).toEqual([
      "the answer one",
      "the answer two",
      "the answer three",
    ]);
    first.send("/quit");
    const id = /agent --resume (\S+)/.exec(await first.until(/agent --resume \S+/))?.[1] ?? "";
    const next = await chat(["--resume", id]);
    await next.until("… the model has a summary of the messages above");
    expect(next.screen().match(/^the answer \w+$/gm)).toEqual(text.match(/^the answer \w+$/gm));
  });
});
