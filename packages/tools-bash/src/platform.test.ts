import { expect, test } from "vitest";
import { diagnose } from "./platform.js";

test("every protection is named, with whether it works here", async () => {
  const found = await diagnose();
  expect(found.map(({ subject }) => subject)).toEqual([
    "timeout",
    "limits per process",
    "limits for the whole tree",
    "ending what left the process group",
    "sandbox",
  ]);
  for (const { ok, detail } of found) {
    expect(typeof ok).toBe("boolean");
    expect(detail).not.toBe("");
  }
});

test("a shell whose limits are not known is said to have none", async () => {
  const limits = (await diagnose("/usr/bin/fish")).find(({ subject }) => subject === "limits per process");
  expect(limits).toMatchObject({ ok: false, detail: expect.stringContaining("/usr/bin/fish") });
});
