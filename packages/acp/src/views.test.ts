import type { ResultView } from "@agent/core";
import { expect, test } from "vitest";
import { viewContent } from "./updates.js";

function drawn(view: ResultView): string {
  const texts = viewContent(view, "/project").map((one) =>
    one.type === "content" && one.content.type === "text" ? one.content.text : JSON.stringify(one),
  );
  return texts.join("\n");
}

test("draws every kind of view", () => {
  const hunks = [{ oldStart: 1, newStart: 1, lines: ["-a", "+b"] }];
  const file = { path: "a.ts", change: "edited", added: 1, removed: 1, hunks } as const;
  expect(drawn({ type: "diff", files: [file] })).toContain('"newText":"b\\n"');
  expect(drawn({ type: "code", text: "let a;", path: "src/a.ts", startLine: 7 })).toBe(
    "src/a.ts:7\n```ts\nlet a;\n```",
  );
  const files = [{ label: "whole output", path: "/tmp/out" }];
  expect(drawn({ type: "output", text: "no\n", exitCode: 2, files })).toBe(
    "```\nno\n[exit code 2]\n[whole output: /tmp/out]\n```",
  );
  expect(
    drawn({ type: "list", items: [{ text: "hit", path: "a.ts", line: 3 }, { text: "b" }], more: 4 }),
  ).toBe("```\na.ts:3: hit\nb\n```\n\n… and 4 more");
  expect(drawn({ type: "table", columns: ["a", "b"], rows: [["1", "x|y"]] })).toBe(
    "| a | b |\n| --- | --- |\n| 1 | x\\|y |",
  );
  expect(drawn({ type: "fields", fields: [["state", "*open*"]] })).toBe("- **state**: \\*open\\*");
  expect(drawn({ type: "markdown", text: "**bold**" })).toBe("**bold**");
});

test("draws nothing for a command without output", () => {
  expect(viewContent({ type: "output", text: "", exitCode: 0 }, "/")).toEqual([]);
});
