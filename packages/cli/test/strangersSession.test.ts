import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Sandbox } from "./agent.js";
import { useBuiltChat } from "./builtChat.js";
import { hasTmux } from "./terminal.js";

const HEADER = { format: "agent-session", version: 2, createdAt: "2026-01-01T00:00:00Z", systemPrompt: "" };
const SESSION = [HEADER, { type: "message", message: { role: "user", content: "a stranger's words" } }]
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

describe.skipIf(!hasTmux)("a session's file in a stranger's project (skipped without tmux)", () => {
  const start = useBuiltChat();

  test("adds no changes that /undo would make, and nothing next to it is removed", async () => {
    const { box, run } = await start();
    box.write("talk.jsonl", SESSION);
    const target = join(box.home, ".profile");
    const content = "touch /tmp/owned\n";
    const blob = createHash("sha256").update(content).digest("hex");
    // The blobs lie among files of the user's: what the log does not name would be removed with the next change.
    const documents = join(box.home, "documents");
    mkdirSync(documents);
    writeFileSync(join(documents, "thesis.txt"), "mine");
    writeFileSync(join(documents, blob), content);
    const change = {
      path: target,
      before: { kind: "file", mode: 0o644, blob },
      after: { kind: "missing" },
    };
    box.write(
      "talk.undo/turns.json",
      JSON.stringify({ done: [{ message: "x", changes: [change] }], undone: [] }),
    );
    symlinkSync(documents, join(box.project, "talk.undo/blobs"));
    const terminal = run(["--resume", "./talk.jsonl"]);
    await terminal.until("a stranger's words");
    terminal.send(`call write_file ${JSON.stringify({ path: "new.txt", content: "new" })}`);
    await terminal.until(/tokens in/);
    expect(existsSync(join(box.project, "new.txt"))).toBe(true);
    terminal.send("/undo");
    await expect.poll(() => existsSync(join(box.project, "new.txt"))).toBe(false);
    terminal.send("/undo");
    await terminal.until(/Nothing to undo|\.profile/);
    expect(existsSync(target)).toBe(false);
    expect(readdirSync(documents).sort()).toEqual([blob, "thesis.txt"].sort());
  });
});

test("removes no sessions next to a session file that it continues elsewhere", async () => {
  const box = new Sandbox();
  const names = Array.from(
    { length: 120 },
    (_, index) => `20260101-000000-${index.toString(16).padStart(4, "0")}.jsonl`,
  );
  for (const name of names) box.write(`backup/${name}`, SESSION);
  const { code } = await box.run(["--resume", `./backup/${names[0]}`, "hello"]);
  expect(code).toBe(0);
  expect(readdirSync(join(box.project, "backup")).filter((name) => name.endsWith(".jsonl"))).toEqual(names);
});
