import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ToolCapability } from "@agent/core";
import { describe, expect, onTestFinished, test } from "vitest";
import { textReader } from "./textReader.js";
import { describeCall } from "./toolCalls.js";

const RIGHT_TO_LEFT = "\u202e";

function project(files: Readonly<Record<string, string>> = {}): string {
  const directory = mkdtempSync(join(tmpdir(), "agent-acp-"));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  return directory;
}

/** The view of a call in an editor. */
async function view(
  name: string,
  args: Record<string, unknown>,
  { cwd = project(), capabilities = ["write"] as readonly ToolCapability[] } = {},
) {
  const shown = await describeCall({ name, args, capabilities }, cwd, textReader([cwd], undefined));
  const texts = shown.content.flatMap((one) =>
    one.type === "content" && one.content.type === "text" ? [one.content.text] : [],
  );
  const diffs = shown.content.filter(({ type }) => type === "diff");
  return { ...shown, text: texts.join("\n"), diffs };
}

describe("a question in the editor", () => {
  test("escapes invisible characters in a command and in arguments", async () => {
    const command = `echo ${RIGHT_TO_LEFT}# \u200brm -rf ~\u00a0x`;
    const shown = await view("run_bash", { command, cwd: "a\u2066b" }, { capabilities: ["execute"] });
    expect(shown.text).toContain("echo \\u202e# \\u200brm -rf ~\\xa0x");
    expect(shown.text).toContain('"cwd": "a\\u2066b"');
    expect(shown.title).toBe("echo \\u202e# \\u200brm -rf ~\\xa0x");
  });

  test("warns about lookalike letters and right-to-left text", async () => {
    const shown = await view("run_bash", { command: "cаt אב file" }, { capabilities: ["execute"] });
    expect(shown.text).toContain('command has lookalikes: "а" is U+0430');
    expect(shown.text).toContain("run from right to left");
  });

  test("names the invisible characters of a diff beside it", async () => {
    const content = `const a = 1;\nif (isUser${RIGHT_TO_LEFT}) {}\n`;
    const shown = await view("write_file", { path: "a.ts", content });
    expect(shown.diffs).toMatchObject([{ newText: content }]);
    expect(shown.text).toContain("content has invisible characters:\nif (isUser\\u202e) {}");
    expect((await view("write_file", { path: "a.ts", content: "const a = 1;\n" })).text).toBe("");
  });

  test("shows the arguments that a diff does not show", async () => {
    const save = { path: "a.txt", content: "harmless", afterwards: "rm -rf ~" };
    expect((await view("save", save)).text).toContain('"afterwards": "rm -rf ~"');
    const edits = [{ old_text: "a", new_text: "b", afterwards: "rm -rf ~" }];
    expect((await view("change", { path: "a.txt", edits })).text).toContain('"afterwards": "rm -rf ~"');
    const both = { path: "a.txt", content: "harmless", new_text: "rm -rf ~" };
    expect((await view("save", both)).text).toContain('"new_text": "rm -rf ~"');
  });

  test("shows several edits as the tool makes them: each in the file as it is now", async () => {
    const cwd = project({ "a.txt": "yes no" });
    const edits = [
      { old_text: "yes", new_text: "no" },
      { old_text: "no", new_text: "yes" },
    ];
    const shown = await view("edit_file", { path: "a.txt", edits }, { cwd });
    expect(shown.diffs).toMatchObject([{ oldText: "yes no", newText: "no yes" }]);
  });
});

describe("a call made to block the editor", () => {
  test("edits that double a text again and again are shown by their old and new texts", async () => {
    const cwd = project({ "a.txt": "a" });
    const edits = Array.from({ length: 60 }, () => ({ old_text: "a", new_text: "aa", replace_all: true }));
    const shown = await view("edit_file", { path: "a.txt", edits }, { cwd });
    expect(shown.diffs).toHaveLength(60);
    expect(shown.diffs[0]).toMatchObject({ oldText: "a", newText: "aa" });
  });

  test("a command of a million backticks is shown", async () => {
    const command = "` ".repeat(500_000);
    const shown = await view("run_bash", { command }, { capabilities: ["execute"] });
    expect(shown.text).toContain(command);
  });

  test.runIf(process.platform === "linux")("a file of the kernel without an end is not read", async () => {
    const shown = await view("write_file", { path: "/proc/self/pagemap", content: "x" });
    expect(shown.diffs).toMatchObject([{ oldText: "", newText: "x" }]);
  });
});
