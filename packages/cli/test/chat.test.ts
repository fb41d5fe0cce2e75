import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { chatTerminals } from "./chatTerminal.js";
import { hasTmux } from "./terminal.js";

describe.skipIf(!hasTmux)("the chat in a terminal (needs tmux)", () => {
  let chats: Awaited<ReturnType<typeof chatTerminals>>;
  beforeAll(async () => {
    chats = await chatTerminals();
  });
  afterEach(() => chats.closeAll());
  afterAll(() => chats.remove());

  test("answers", async () => {
    const terminal = await chats.start();
    terminal.send("hello");
    await terminal.until('You said "hello"');
    console.error(terminal.screen());
    terminal.send(
      `call run_bash {"command":"for i in 1 2 3 4 5 6 7 8 9; do echo line $i; sleep 0.2; done; exit 2"}`,
    );
    await terminal.until("line 3");
    console.error(terminal.screen());
    await terminal.until("exit code 2");
    await terminal.until("That is all");
    console.error(terminal.screen());
  });
});
