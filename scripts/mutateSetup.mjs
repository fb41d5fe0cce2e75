// Runs in each test process of `pnpm mutate`, before the test file. Defines `__mutant`, which the switched source files call,
// and reports which mutants each test reaches.
import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, inject } from "vitest";

// A mutant may loop forever. No test of ours makes this many decisions.
const MAX_DECISIONS = 200_000_000;

const { active, pidFile } = inject("mutant");
writeFileSync(pidFile, `${process.pid}`);

if (active === undefined) {
  const outsideTests = new Set();
  let reached = outsideTests;
  globalThis.__mutant = (id) => {
    reached.add(id);
    return false;
  };
  beforeEach(() => {
    reached = new Set();
  });
  afterEach(({ task }) => {
    task.meta.reached = [...reached];
    task.file.meta.reached = [...outsideTests];
    reached = outsideTests;
  });
} else {
  let decisions = 0;
  globalThis.__mutant = (id) => {
    if (++decisions > MAX_DECISIONS) process.kill(process.pid, "SIGKILL");
    return id === active;
  };
}
