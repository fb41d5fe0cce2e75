import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("how the chat looks and which keys it has (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("has the keys of the config and of vi, and colours for a light terminal", async () => {
    const { box, chat, model } = await start();
    box.write(
      "agent.config.json",
      JSON.stringify({
        vim: true,
        keys: { f2: "next-mode", "shift-tab": "none", "ctrl-t": "/context", "ctrl-z": "none" },
      }),
    );
    const terminal = await chat(["--trust"], { env: { COLORFGBG: "0;15", COLORTERM: "truecolor" } });
    terminal.press("F2");
    await expect.poll(() => terminal.status()).toMatch(/^auto \(f2\)/);
    terminal.press("C-z");
    terminal.press("C-t");
    await terminal.until("No request yet.");
    // Yellow cannot be read on white: the word is brown.
    await expect.poll(() => terminal.coloredScreen()).toContain("\x1b[38;5;94mauto");
    terminal.type("say one two");
    terminal.press("Escape");
    await terminal.until(/^N say one two$/m);
    terminal.type("bcwthree");
    await terminal.until(/^› say one three$/m);
    terminal.press("Enter");
    await terminal.until(/^one three$/m);
    expect(model.lastRequest).toContain("say one three");
    terminal.press("Escape");
    await terminal.until(/^N$/m);
    terminal.type("/");
    await terminal.until(/^search "":/m);
  });

  test("writes text from top to bottom for a screen reader, with words in place of marks", async () => {
    const { box, chat, run } = await start();
    const folder = join(box.home, ".config", "agent");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "config.json"), '{"screenReader": true}');
    // The first prompt waits for no config, so the mode counts from the next start on.
    const first = await chat();
    await first.until("Screen-reader mode is on from the next start on");
    const terminal = run([]);
    await terminal.until("/help lists the commands.");
    terminal.send('call read_file {"path":"missing.txt"}');
    const screen = await terminal.until("That is all.");
    expect(screen).toMatch(/Call: read_file {2}missing\.txt/);
    expect(screen).not.toMatch(/[●│└✓✗›]/);
    writeFileSync(join(folder, "config.json"), "{}");
    const flagged = run(["--screen-reader"]);
    await flagged.until(/Screen-reader mode is off from the next start on[\s\S]*lists the commands/);
    expect(flagged.screen()).not.toContain("›");
  });
});
