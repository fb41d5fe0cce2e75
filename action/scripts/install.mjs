// Installs the command in the versions of this commit of the action, outside of the checkout and without install
// scripts.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { required, StepError, setOutput, step } from "./common.mjs";

const PROVIDERS = ["openai", "anthropic", "google"];

await step(async () => {
  const provider = required("AGENT_PROVIDER");
  if (!PROVIDERS.includes(provider)) throw new StepError(`provider must be one of ${PROVIDERS.join(", ")}.`);
  const directory = join(required("AGENT_DIRECTORY"), "command");
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "package.json"), '{ "private": true }\n');
  const packages = ["cli", "preset-default", `provider-${provider}`].map(
    (name) => `@agent/${name}@${versionOf(name)}`,
  );
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-save", "--save-exact"];
  execFileSync("npm", ["install", ...options, ...packages], { cwd: directory, stdio: "inherit" });
  setOutput("bin", join(directory, "node_modules/@agent/cli/bin.js"));
});

function versionOf(name) {
  const file = fileURLToPath(new URL(`../../packages/${name}/package.json`, import.meta.url));
  return JSON.parse(readFileSync(file, "utf8")).version;
}
