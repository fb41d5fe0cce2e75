// The inner loop of a contributor: builds and type-checks the packages that changed, runs the tests that import what
// changed, and checks format, lint and imports. Usage: pnpm test:quick [BASE]; BASE is a commit, by default HEAD.
// `npm test` is the complete check.
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const [base = "HEAD"] = process.argv.slice(2);

const git = (...args) =>
  execFileSync("git", args, { cwd: ROOT, encoding: "utf8" })
    .split("\n")
    .filter((line) => line !== "");
const files = [
  ...git("diff", "--name-only", "--diff-filter=d", base),
  ...git("ls-files", "--others", "--exclude-standard"),
];
const folders = [...new Set(files.map((file) => /^(?:packages|examples)\/[^/]+|^test(?=\/)/.exec(file)?.[0]))]
  .filter((folder) => folder !== undefined && existsSync(join(ROOT, folder, "package.json")))
  .sort();

if (files.length === 0) {
  console.log(`Nothing changed since ${base}. Name a commit to compare with: pnpm test:quick main`);
  process.exit(0);
}

const steps = [
  [
    "turbo",
    [
      "run",
      "build",
      "typecheck",
      "--output-logs=errors-only",
      ...folders.map((path) => `--filter=./${path}`),
    ],
  ],
  ["biome", ["check", "--no-errors-on-unmatched", "--files-ignore-unknown=true", ...files]],
  ["node", ["scripts/imports.mjs"]],
  ...folders.map((folder) => [
    "vitest",
    ["run", "--changed", base, "--passWithNoTests", "--reporter=dot"],
    folder,
  ]),
];
const failed = steps.filter(([program, args, folder = "."]) => {
  console.log(`\n${folder === "." ? "" : `${folder}: `}${program} ${args[0]}`);
  const { status } = spawnSync("pnpm", ["exec", program, ...args], {
    cwd: join(ROOT, folder),
    stdio: "inherit",
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: "1" },
  });
  return status !== 0;
});
console.log(failed.length === 0 ? "\nAll quick checks passed." : `\n${failed.length} quick checks failed.`);
process.exitCode = failed.length === 0 ? 0 : 1;
