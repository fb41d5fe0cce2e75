import { argument, expectClearErrors, expectComplete } from "@agent/test-support";
import { test } from "vitest";
import * as module from "./index.js";

const pack = new URL("../../tools-fs/dist/index.js", import.meta.url);
const runner = { describe: () => undefined, test: () => undefined };
const describePack = (options: object) => module.describePack(pack, { ...runner, ...options });

const OPTIONS = [
  ["samples", "nothing", "object"],
  ["slowSamples", "nothing", "object"],
  ["setup", "nothing"],
  ["maxOutputBytes", "nothing", "number"],
  ["settleMs", "nothing", "number"],
  ["timeoutMs", "nothing", "number"],
] as const;

const CASES = [
  argument("checkPack", "location", ["text"], (value) => value === "x" || module.checkPack(value)),
  argument(
    "checkPack",
    "options",
    ["nothing", "object"],
    (value) => isFine(value) || module.checkPack(pack, value),
  ),
  argument("inspectPack", "location", ["text"], (value) => module.inspectPack(value)),
  argument("inspectPack", "options", ["nothing", "object"], (value) => module.inspectPack(pack, value)),
  argument("describePack", "location", ["text"], (value) => module.describePack(value, runner)),
  argument("describePack", "options", ["nothing", "object"], (value) =>
    module.describePack(pack, isFine(value) ? runner : value),
  ),
  ...OPTIONS.map(([name, ...legal]) =>
    argument("describePack(options)", name, legal, (value) => describePack({ [name]: value })),
  ),
  argument("describePack(options)", "describe", ["nothing"], (value) =>
    describePack({ describe: value === undefined ? runner.describe : value }),
  ),
  argument("describePack(options)", "test", ["nothing"], (value) =>
    describePack({ test: value === undefined ? runner.test : value }),
  ),
  argument("checkProvider", "subject", [], (value) => module.checkProvider(value)),
  argument("describeProvider", "subject", [], (value) => module.describeProvider(value, runner)),
  argument("formatReport", "report", [], (value) => module.formatReport(value)),
  argument("temporaryWorkspace", "files", ["nothing", "object"], async (value) =>
    (await module.temporaryWorkspace(value)).remove(),
  ),
  argument("temporaryWorkspace", 'files["a"]', ["text"], async (value) =>
    (await module.temporaryWorkspace({ a: value })).remove(),
  ),
];
// Re-exported from core, whose own test checks them.
const FREE = ["recordProvider", "replayProvider", "scriptedProvider"];

function isFine(options: unknown): boolean {
  return (
    options === undefined || (typeof options === "object" && options !== null && !Array.isArray(options))
  );
}

test("has a row for every function", () => expectComplete(module, CASES, FREE));

test.each(CASES)("$of: names a wrong $argument, with the value it got", expectClearErrors);
