import { Isolation } from "@agent/core/isolation";
import { expect, test } from "vitest";
import { checkPack, formatReport } from "../src/index.js";

const GOOD = new URL("./fixtures/good.mjs", import.meta.url);
const { level, detail } = await new Isolation().status();
const isEnforced = level === "enforced";
if (!isEnforced)
  process.stderr.write(`The kit is not tried with an isolated pack: isolation is ${detail}.\n`);

test.skipIf(!isEnforced)("checks a pack in its own process as an added one runs", async () => {
  const report = await checkPack(GOOD, {
    isolated: true,
    samples: { good_echo: { text: "hi" } },
    slowSamples: { good_sleep: { text: "hi" } },
  });
  expect([report.pack, report.ok, formatReport(report)]).toEqual(["good-pack", true, formatReport(report)]);
  expect(report.checks.filter(({ status }) => status !== "passed")).toEqual([]);
});

test.skipIf(!isEnforced)("reports a pack that does not work isolated", async () => {
  const report = await checkPack(new URL("./fixtures/noSuchFile.mjs", import.meta.url), { isolated: true });
  expect(report.ok).toBe(false);
});
