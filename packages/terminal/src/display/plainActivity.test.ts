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

  test("indents the calls of a script, and the ends of calls of child agents under their names", () => {
    const end = { type: "tool_end" as const, outcome: "ok" as const, text: "x", durationMs: 100 };
    const about = { title: "a.txt", kind: "edit" as const };
    const parent = "1";
    expect(
      lines(
        { type: "tool_start", id: "1", name: "run_script", args: {} },
        { type: "tool_start", id: "2", name: "write_file", args: {}, about, parent },
        { ...end, id: "2", name: "write_file", parent },
        {
          type: "child",
          id: "1",
          child: 0,
          label: "worker",
          event: { type: "tool_start", id: "3", name: "x", args: {} },
        },
        {
          ...{ type: "child", id: "1", child: 0, label: "worker" },
          event: { ...end, id: "3", name: "edit_file", outcome: "denied", about },
        },
      ),
    ).toEqual([
      "● run_script  executing…",
      "  ● write_file  a.txt  executing…",
      "  └ write_file  a.txt  ✓ 0.1s",
      "  │ x",
      "  └ worker: edit_file  a.txt  ✗ denied · 0.1s",
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
