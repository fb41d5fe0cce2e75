import { expect, test } from "vitest";
import { describePlatform } from "./platform.js";

test("every protection is named, with whether it works here", async () => {
  const mechanisms = await describePlatform();
  expect(mechanisms.map(({ name }) => name)).toEqual([
    "timeout",
    "limits per process",
    "limits for the whole tree",
    "ending what left the process group",
    "sandbox",
  ]);
  for (const { works, detail } of mechanisms) {
    expect(typeof works).toBe("boolean");
    expect(detail).not.toBe("");
  }
});

test("a shell whose limits are not known is said to have none", async () => {
  const found = (await describePlatform("/usr/bin/fish")).find(({ name }) => name === "limits per process");
  expect(found).toMatchObject({ works: false, detail: expect.stringContaining("/usr/bin/fish") });
});
