import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("rewind in a terminal (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("returns to an earlier message on Esc Esc, and keeps the old session resumable", async () => {
    const { box, chat, model } = await start();
    const terminal = await chat();
    const write = (file: string): string => `call write_file {"path":"${file}","content":"x"}`;
    for (const file of ["one.txt", "two.txt"]) {
      terminal.send(write(file));
      await terminal.until(new RegExp(`● write_file {2}${file}[\\s\\S]*That is all\\.[\\s\\S]*2 requests`));
    }
    terminal.press("Escape");
    await terminal.until("Press Esc again to go back to an earlier message.");
    terminal.press("Escape");
    await terminal.until(/❯ call write_file .*two\.txt.* changed two\.txt[\s\S]*changed one\.txt/);
    terminal.press("Enter");
    await terminal.until("❯ conversation and files");
    terminal.press("Enter");
    const screen = await terminal.until(/old session: \/resume \S+[\s\S]*› call write_file/);
    expect(existsSync(`${box.project}/two.txt`)).toBe(false);
    expect(readFileSync(`${box.project}/one.txt`, "utf8")).toBe("x");
    terminal.press("C-u");
    terminal.send("say another way");
    await terminal.until(/^another way$/m);
    expect(model.lastRequest).not.toContain("two.txt");
    terminal.send(`/resume ${/old session: \/resume ([\w-]+)/.exec(screen)?.[1]}`);
    await terminal.until("resumed, 8 messages");
    terminal.send("/redo");
    await terminal.until("Redid 1 change");
    expect(existsSync(`${box.project}/two.txt`)).toBe(true);
  });
});
