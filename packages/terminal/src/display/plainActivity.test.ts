import type { AgentEvent } from "@agent/core";
import { describe, expect, test } from "vitest";
import { plainActivity } from "./plainActivity.js";

function lines(...events: AgentEvent[]): string[] {
  let text = "";
  const show = plainActivity((piece) => {
    text += piece;
  });
  for (const event of events) show(event);
  return text.split("\n").slice(0, -1);
}

describe("plainActivity", () => {
  test("prints a notice of the provider on one line", () => {
    expect(lines({ type: "notice", text: "a schema\nwas \x1b[1msimplified" })).toEqual([
      "… a schema\\nwas \\x1b[1msimplified",
    ]);
  });

  test("prints one line when a call starts and one when it ends, with mark, text and time, and the end of a failed command", () => {
    const id = "1";
    const text = "one\ntwo\nthree\nnot \x1b[1mfound\n";
    const about = { title: "npm test", kind: "execute" as const };
    expect(
      lines(
        { type: "tool_start", id, name: "run_bash", args: {}, about },
        { type: "tool_output", id, name: "run_bash", chunk: "…" },
        {
          type: "tool_end",
          id,
          name: "run_bash",
          outcome: "error",
          text: "for the model",
          view: { type: "output", text, exitCode: 2 },
          durationMs: 1234,
          summary: "exit code 2",
        },
        { type: "text", text: "answer" },
      ),
    ).toEqual([
      "● run_bash  npm test  executing…",
      "│ two",
      "│ three",
      "│ not \\x1b[1mfound",
      "└ run_bash  npm test  ✗ exit code 2 · 1.2s",
    ]);
  });

  test("prints the end and the reason of a call that never started", () => {
    expect(
      lines(
        { type: "tool_requested", id: "1", name: "write_file", args: {}, title: "a.txt" },
        { type: "tool_end", id: "1", name: "write_file", outcome: "denied", text: "no", durationMs: 0 },
      ),
    ).toEqual(["│ no", "└ write_file  a.txt  ✗ denied · 0.0s"]);
  });

  test("prints a call as one line without an escape code, whatever is in it", () => {
    const id = "1";
    const [first = "", ...more] = lines({
      type: "tool_start",
      id,
      name: "bad\x1b]0;x\x07\nname",
      args: {},
      about: { title: "a\nb\r\x1b[2J\u202e", kind: "other" },
    });
    expect(more).toEqual([]);
    expect(first).toBe("● bad\\x1b]0;x\\x07\\nname  a\\nb\\r\\x1b[2J\\u202e  executing…");
  });
});
