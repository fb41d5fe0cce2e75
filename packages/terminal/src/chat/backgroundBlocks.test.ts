import type { AgentEvent, ChildEvent } from "@agent/core";
import { expect, test } from "vitest";
import { Activity } from "../display/activity.js";
import { PLAIN_STYLE } from "../text/style.js";
import { BackgroundBlocks } from "./backgroundBlocks.js";

const usage = { inputTokens: 100, outputTokens: 20 };

test("draws a background agent as a call when it has answered: what it changed, its answer, calls and tokens", () => {
  const subject = new BackgroundBlocks();
  const see = (id: string, event: AgentEvent): void => {
    subject.see({
      type: "child",
      id,
      child: 0,
      label: "worker",
      elapsedMs: 2000,
      event,
    } satisfies ChildEvent);
  };
  const about = (title: string, kind: "read" | "edit") => ({ title, kind });
  const end = { type: "tool_end" as const, outcome: "ok" as const, text: "secret", durationMs: 5 };
  see("background-1", { ...end, id: "1", name: "read_file", about: about("a.ts", "read") });
  see("background-2", { ...end, id: "1", name: "edit_file", about: about("other.ts", "edit") });
  see("background-1", { ...end, id: "1", name: "edit_file", about: about("a.ts", "edit") });
  expect(subject.takeEnded()).toEqual([]);
  see("background-1", { type: "done", text: "Fixed.", finishReason: "stop", turns: 2, usage });
  const activity = new Activity({ style: PLAIN_STYLE, now: () => 0, expandHint: "ctrl+o expands" });
  for (const event of subject.takeEnded()) activity.event(event);
  expect(activity.frame(80, 20).above).toEqual([
    "",
    "● worker  in the background",
    "│ ● edit_file  a.ts ✓ 0.0s",
    "│ … +1 call (ctrl+o expands)",
    "│ Fixed.",
    "└ ✓ 2 calls, 120 tokens · 2.0s",
  ]);
  expect(subject.takeEnded()).toEqual([]);
});
