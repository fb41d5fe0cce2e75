import { describePack } from "@agent/testing";
import { describe, test } from "vitest";

describePack(import.meta.resolve("@agent/tools-code"), {
  describe,
  test,
  samples: { run_script: [{ script: "return 6 * 7;" }, { script: 'print("x".repeat(1e6));' }] },
  slowSamples: { run_script: { script: "for (;;) {}" } },
});
