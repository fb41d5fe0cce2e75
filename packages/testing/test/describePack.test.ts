import { spawnSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { CHECKS } from "../src/checkPack.js";
import { describePack } from "../src/index.js";
import { temporaryWorkspace } from "../src/temporaryWorkspace.js";

const GOOD = new URL("./fixtures/good.mjs", import.meta.url);

// The kit as a pack author uses it: in vitest, with a pack that passes.
describePack(GOOD, {
  describe,
  test,
  samples: { good_echo: { text: "hi" } },
  slowSamples: { good_sleep: { text: "hi" } },
});

describe("describePack", () => {
  test("declares one test for each check and runs the pack once for all", async () => {
    const titles: string[] = [];
    const bodies: (() => Promise<void>)[] = [];
    let setups = 0;
    describePack(GOOD, {
      describe: (_name, body) => body(),
      test: (title, body) => {
        titles.push(title);
        bodies.push(body);
      },
      setup: () => void setups++,
    });
    expect(titles).toEqual(CHECKS.map(({ title }) => title));
    await Promise.all(bodies.slice(0, 3).map((body) => body()));
    const once = setups;
    await bodies[0]?.();
    expect(setups).toBe(once);
  });

  test("works with node:test, where a failed check is a failed test and its hint is shown", async () => {
    const workspace = await temporaryWorkspace({
      "bad.mjs":
        'export const packName = "bad"; export const packApiVersion = 1; export function register() {}',
      "bad.test.mjs": `
        import { describe, test } from "node:test";
        import { describePack } from ${JSON.stringify(import.meta.resolve("@agent/testing"))};
        describePack(new URL("./bad.mjs", import.meta.url), { describe, test });`,
    });
    onTestFinished(() => workspace.remove());
    const { status, stdout } = spawnSync(
      process.execPath,
      ["--test", "--test-reporter=tap", "bad.test.mjs"],
      {
        cwd: workspace.path,
        encoding: "utf8",
        // An outer node:test run sets this variable, which would change the output format.
        env: { ...process.env, NODE_TEST_CONTEXT: undefined },
      },
    );
    expect(status).toBe(1);
    expect(stdout).toMatch(/not ok \d+ - registers its tools and starts nothing/);
    expect(stdout).toContain("hint: Return it from setup() of definePack().");
    expect(stdout).toMatch(/ok \d+ - does nothing when it is imported/);
  });

  test("explains without a runner how to give one", () => {
    expect(() => describePack(GOOD)).toThrow('pass { describe, test }, for instance from "vitest"');
  });
});
