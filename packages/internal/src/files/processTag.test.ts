import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { hasEnded, processTag } from "./processTag.js";

const [home] = processTag().split("-");

test("distinguishes a running process from one that has ended", async () => {
  expect(hasEnded(processTag())).toBe(false);
  const child = spawn(process.execPath, ["-e", "process.stdin.resume()"]);
  const tag = `${home}-${child.pid}`;
  expect(hasEnded(tag)).toBe(false);
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
  expect(hasEnded(tag)).toBe(true);
});

test.each([
  ["another machine, boot or container", "zzzzzz-1"],
  ["no tag at all", "notes"],
  ["nothing", ""],
  ["a process id that is none", `${home}-0`],
])("does not know the process of %s", (_, tag) => {
  expect(hasEnded(tag)).toBeUndefined();
});
