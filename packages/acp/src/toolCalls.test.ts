import type { CallAbout, CallPreview, FileDiff } from "@agent/core";
import { describe, expect, test } from "vitest";
import { viewCall } from "./toolCalls.js";

const RIGHT_TO_LEFT = "\u202e";
const CWD = "/project";

/** The view of a call in an editor. */
function view(
  args: Record<string, unknown>,
  { name = "tool", ...about }: Partial<CallAbout> & { name?: string } = {},
  preview?: CallPreview,
) {
  const shown = viewCall({ name, args, about, preview }, CWD);
  const texts = shown.content.flatMap((one) =>
    one.type === "content" && one.content.type === "text" ? [one.content.text] : [],
  );
  return { ...shown, text: texts.join("\n"), diffs: shown.content.filter(({ type }) => type === "diff") };
}

const edited = (...hunks: FileDiff["hunks"]): FileDiff => ({
  path: `${CWD}/a.ts`,
  change: "edited",
  added: 1,
  removed: 1,
  hunks,
});

describe("a question in the editor", () => {
  test("shows a command whole and escapes invisible characters in it and in arguments", () => {
    const script = `echo ${RIGHT_TO_LEFT}# \u200brm -rf ~\n  second`;
    const about = { kind: "execute", title: script.replace(/\s+/g, " ") } as const;
    const shown = view({ script, where: "a\u2066b" }, about);
    expect(shown.text).toContain("```sh\necho \\u202e# \\u200brm -rf ~\n  second\n```");
    expect(shown.text).toContain('"where": "a\\u2066b"');
    expect(shown.title).toBe("echo \\u202e# \\u200brm -rf ~ second");
  });

  test("shows a command whole whose title is cut", () => {
    const script = `echo ${"x".repeat(500)}; rm -rf ~`;
    const shown = view({ script }, { kind: "execute", title: `${script.slice(0, 399)}…` });
    expect(shown.text).toBe(`\`\`\`sh\n${script}\n\`\`\``);
  });

  test("warns about lookalike letters and right-to-left text", () => {
    const shown = view({ script: "cаt אב file" }, { kind: "execute", title: "cаt אב file" });
    expect(shown.text).toContain('script has lookalikes: "а" is U+0430');
    expect(shown.text).toContain("run from right to left");
  });

  test("names the invisible characters of a diff next to it", () => {
    const text = `if (isUser${RIGHT_TO_LEFT}) {}`;
    const changes = [edited({ oldStart: 1, newStart: 1, lines: [`+${text}`] })];
    const shown = view({ path: "a.ts", text }, { kind: "edit", title: "a.ts" }, { changes, shows: ["text"] });
    expect(shown.diffs).toMatchObject([{ newText: `${text}\n` }]);
    expect(shown.text).toContain("text has invisible characters:\nif (isUser\\u202e) {}");
    const plain = view(
      { path: "a.ts", text: "x" },
      { kind: "edit", title: "a.ts" },
      { changes, shows: ["text"] },
    );
    expect(plain.text).toBe("");
  });

  test("shows the arguments that a diff does not show", () => {
    const changes = [edited({ oldStart: 1, newStart: 1, lines: ["-a", "+b"] })];
    const args = { path: "a.ts", text: "b", afterwards: "rm -rf ~" };
    const shown = view(args, { kind: "edit", title: "a.ts" }, { changes, shows: ["text"] });
    expect(shown.text).toContain('"afterwards": "rm -rf ~"');
    expect(shown.text).not.toContain('"text"');
  });

  test("shows one diff for each hunk, and the first changed line", () => {
    const changes = [
      edited(
        { oldStart: 9, newStart: 9, lines: [" nine", "-ten", "+10", " eleven"] },
        { oldStart: 99, newStart: 99, lines: ["-x", "+y"] },
      ),
    ];
    const about = { kind: "edit", title: "a.ts", files: [{ path: `${CWD}/a.ts` }] } as const;
    const { diffs, locations, title } = view({ path: "a.ts" }, about, { changes });
    const path = `${CWD}/a.ts`;
    expect(diffs).toEqual([
      { type: "diff", path, oldText: "nine\nten\neleven\n", newText: "nine\n10\neleven\n" },
      { type: "diff", path, oldText: "x\n", newText: "y\n" },
    ]);
    expect(locations).toEqual([{ path, line: 10 }]);
    expect(title).toBe("tool a.ts");
  });

  test("says what a diff leaves out, deletes or moves", () => {
    const changes: FileDiff[] = [
      { ...edited({ oldStart: 1, newStart: 1, lines: ["+b"] }), more: 12 },
      { path: "gone.ts", change: "deleted", added: 0, removed: 3, hunks: [] },
      { path: "new.ts", oldPath: "old.ts", change: "moved", added: 0, removed: 0, hunks: [] },
    ];
    const { text } = view({}, {}, { changes });
    expect(text).toContain("12 more lines");
    expect(text).toContain("gone.ts: deleted");
    expect(text).toContain("old.ts → new.ts");
  });

  test("shows a command of a million backticks", () => {
    const script = "` ".repeat(500_000);
    expect(view({ script }, { kind: "execute", title: "` ` `…" }).text).toContain(script);
  });
});
