import { fileURLToPath } from "node:url";
import { answer, type ChatServer, call, hasTmux, startChatServer, TestTerminal } from "@agent/test-support";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const PROGRAM = [process.execPath, fileURLToPath(new URL("../dist/main.js", import.meta.url))];
let server: ChatServer;
let terminal: TestTerminal;

describe.skipIf(!hasTmux)("the chat of the shop (skipped without tmux)", () => {
  beforeEach(async () => {
    server = await startChatServer();
    const env = { OPENAI_BASE_URL: server.baseURL, OPENAI_API_KEY: "key", OPENAI_MODEL: "scripted" };
    terminal = new TestTerminal(PROGRAM, { env });
    await terminal.until("The shop's assistant.");
  });
  afterEach(async () => {
    terminal.close();
    await server.close();
  });

  test("asks before a call changes something, runs it, and recalls input", async () => {
    server.script(
      answer({ calls: [call("c1", "cancel_order", { id: "1001" })] }),
      answer({ content: "It is cancelled." }),
    );
    terminal.send("Cancel order 1001.");
    await terminal.until(/id: 1001[\s\S]*y yes · n no · a always/);
    terminal.type("y");
    await terminal.until("It is cancelled.");
    terminal.send("/orders");
    await terminal.until(/1001 {2}cancelled\n +1002 {2}shipped/);
    terminal.press("Up", "Up");
    await terminal.until("› Cancel order 1001.");
    terminal.press("C-c", "C-c", "C-c");
    await terminal.until("[status 130]");
  });

  test("does not run what the user refuses, and reports the reason to the model", async () => {
    server.script(
      answer({ calls: [call("c1", "cancel_order", { id: "1002" })] }),
      answer({ content: "I leave it." }),
    );
    terminal.send("Cancel order 1002.");
    await terminal.until("y yes · n no");
    terminal.type("n");
    await terminal.until("What should it do instead?");
    terminal.send("ask me for the reason first");
    await terminal.until("I leave it.");
    expect(JSON.stringify(server.requests.at(-1)?.body.messages)).toContain("ask me for the reason first");
    terminal.send("/orders");
    await terminal.until(/1002 {2}shipped/);
    terminal.send("/quit");
    await terminal.until("[status 0]");
  });
});
