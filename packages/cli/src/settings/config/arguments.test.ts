import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { afterAll, test } from "vitest";
import * as module from "./index.js";

const empty = mkdtempSync(join(tmpdir(), "agent-arguments-"));
afterAll(() => rmSync(empty, { recursive: true, force: true }));

const CASES = [
  argument("defineConfig", "config", ["object"], (value) => module.defineConfig(value)),
  argument("loadConfig", "options", ["nothing", "object"], (value) => module.loadConfig(value)),
  argument("loadConfig(options)", "cwd", ["nothing", "text"], (value) =>
    module.loadConfig({ cwd: value === "x" ? empty : value }),
  ),
  argument("loadConfig(options)", "trust", ["nothing"], (value) =>
    module.loadConfig({ cwd: empty, trust: value }),
  ),
];
const FREE: string[] = [];

test("has a row for every function", () => expectComplete(module, CASES, FREE));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);
