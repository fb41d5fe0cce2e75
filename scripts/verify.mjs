// Runs the complete check in one command: build, lint, unused code, types, package checks, tests. Ends with one plain
// line that counts the tests of all packages, and exits non-zero if anything failed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const reports = ["packages", "examples"]
  .map((folder) => join(root, folder))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
  .concat(join(root, "test"))
  .map((folder) => join(folder, ".turbo", "test-report.json"));

// Steps run one after the other; the commands of one step run side by side. The tests of the command line and those of all
// packages together take the longest by far and depend on every package, so turbo alone would begin them last and then have
// nothing to run next to them.
const TURBO = ["turbo", "run", "typecheck", "check:package", "test", "--continue"];
const LONG = ["@agent/cli", "@agent/workspace-tests"];
const STEPS = [
  [["turbo", "run", "build", "--continue"]],
  // Seconds each: a contributor need not wait half an hour for them.
  [["biome", "check", "."]],
  [["node", "scripts/imports.mjs"]],
  [["node", "scripts/language.mjs"]],
  [["node", "scripts/toolNames.mjs"]],
  [["knip"]],
  [
    ...LONG.map((name) => [...TURBO, `--filter=${name}`, "--concurrency=1"]),
    [...TURBO, ...LONG.map((name) => `--filter=!${name}`), "--concurrency=2"],
  ],
];

// A report of an earlier run must not count for a package whose tests could not start.
for (const report of reports) rmSync(report, { force: true });

async function succeeds(args) {
  const child = spawn("pnpm", ["exec", ...args], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1", DO_NOT_TRACK: "1" },
  });
  const [status] = await once(child, "close");
  return status === 0;
}

const failedSteps = [];
for (const commands of STEPS) {
  const results = await Promise.all(commands.map(succeeds));
  failedSteps.push(...commands.filter((_, index) => !results[index]));
}

const counts = { passed: 0, failed: 0, skipped: 0 };
const failures = [];
for (const report of reports.filter((path) => existsSync(path))) {
  const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites, testResults } = JSON.parse(
    readFileSync(report, "utf8"),
  );
  counts.passed += numPassedTests;
  counts.failed += numFailedTests;
  counts.skipped += numPendingTests;
  // A file that cannot be loaded fails without any test.
  const broken = testResults.filter((file) => file.status === "failed" && file.assertionResults.length === 0);
  if (numFailedTestSuites > 0) counts.failed += broken.length;
  for (const file of testResults.filter(({ status }) => status === "failed")) {
    const where = relative(root, file.name);
    if (file.assertionResults.length === 0) failures.push(`${where}\n${file.message}`);
    for (const test of file.assertionResults.filter(({ status }) => status === "failed")) {
      failures.push(`${where} > ${test.fullName}\n${test.failureMessages.join("\n")}`);
    }
  }
}

console.log("");
// Repeat the failures at the end: with packages tested in parallel, the first report is thousands of lines up.
for (const failure of failures) console.log(`FAILED ${failure}\n`);
for (const step of failedSteps) console.log(`failed: ${step.join(" ")}`);
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : "";
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = failedSteps.length > 0 || counts.failed > 0 || counts.passed === 0 ? 1 : 0;
