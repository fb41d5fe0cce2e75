import { expect, onTestFinished, test, vi } from "vitest";
import { printFault } from "./faults.js";

test("prints each fault once a minute", () => {
  let now = 0;
  vi.spyOn(performance, "now").mockImplementation(() => now);
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  onTestFinished(() => void vi.restoreAllMocks());
  for (const at of [0, 200, 59_999, 60_000, 60_200]) {
    now = at;
    printFault(new Error("connect ECONNREFUSED"));
    if (at === 200) printFault("the queue is away");
  }
  const printed = write.mock.calls.map(([text]) => String(text));
  expect(printed).toEqual([
    "agent: connect ECONNREFUSED\n",
    "agent: the queue is away\n",
    "agent: connect ECONNREFUSED\n",
  ]);
});
