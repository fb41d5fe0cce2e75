import { expect, test } from "vitest";
import { diagnose } from "./diagnose.js";

test("names every protection, with whether it works here", async () => {
  const found = await diagnose();
  expect(found.map(({ subject }) => subject).slice(0, 6)).toEqual([
    "timeout",
    "limits per process",
    "limits for the whole tree",
    "ending what left the process group",
    "control group",
    "sandbox",
  ]);
  for (const { ok, detail } of found) {
    expect(typeof ok).toBe("boolean");
    expect(detail).not.toBe("");
  }
});

test("tries every escape from the sandbox, and reports it as stopped", async (context) => {
  const found = await diagnose();
  if (found.find(({ subject }) => subject === "sandbox")?.ok === false)
    return context.skip("no sandbox here");
  const attempts = found.filter(({ subject }) => subject.startsWith("sandbox test"));
  expect(attempts).toMatchObject([
    { ok: true, detail: expect.stringMatching(/^\d+ ways out tried, all blocked$/) },
  ]);
  const tried = Number.parseInt(attempts[0]?.detail ?? "", 10);
  expect(tried).toBeGreaterThanOrEqual(process.platform === "linux" ? 16 : 9);
});

test("reports no limits for a shell whose limits are not known", async () => {
  const limits = (await diagnose("/usr/bin/fish")).find(({ subject }) => subject === "limits per process");
  expect(limits).toMatchObject({ ok: false, detail: expect.stringContaining("/usr/bin/fish") });
});
