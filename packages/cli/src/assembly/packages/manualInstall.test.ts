import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { findManualInstall } from "./manualInstall.js";

let project: string;

beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "agent-manual-"));
  mkdirSync(join(project, ".git"));
  vi.stubEnv("npm_config_userconfig", join(project, "no.npmrc"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(project, { recursive: true, force: true });
});

test.each([
  ["global=true\nforce=true\nprefix=./x", '"global", "force", "prefix"'],
  [`registry=http://localhost/\${OPENAI_API_KEY}/`, '"registry"'],
  ["@acme:registry=http://localhost/", '"@acme:registry"'],
  [`//localhost/:_authToken=\${NPM_TOKEN}`, '"//localhost/:_authToken"'],
  ["git=./evil.cjs", '"git"'],
  ["node-options=--require ./evil.cjs", '"node-options"'],
  ["script-shell=./evil.cjs\nignore-scripts=false", '"script-shell"'],
  ["userconfig=./other.npmrc", '"userconfig"'],
  ["globalconfig=./other.npmrc", '"globalconfig"'],
  ["cache=./x", '"cache"'],
  ["bin-links=true", '"bin-links"'],
  [`save-prefix=\${NPM_TOKEN}`, '"save-prefix"'],
  ["[section]", '"[section]"'],
  [`\${HOME}=x`, `"\${HOME}"`],
  ["; fine\rregistry=http://localhost/", '"registry"'],
])("leaves the installation to the user under %j", (text, names) => {
  writeFileSync(join(project, ".npmrc"), `${text}\n`);
  const manual = findManualInstall(project);
  expect(manual?.reason).toContain(`.npmrc", which sets ${names}`);
  expect([manual?.install, manual?.uninstall]).toEqual(["npm install", "npm uninstall"]);
});

test("lets npm install under harmless settings", () => {
  writeFileSync(join(project, ".npmrc"), "# ours\nsave-exact=true\r\nfund = false\nengine-strict\n");
  expect(findManualInstall(project)).toBeUndefined();
});

test.each([
  ["pnpm-lock.yaml", "pnpm"],
  ["yarn.lock", "yarn"],
  ["bun.lock", "bun"],
  ["bun.lockb", "bun"],
])("names %s, by which %s installs the project", (lock, program) => {
  writeFileSync(join(project, lock), "");
  const below = join(project, "below");
  mkdirSync(below);
  expect(findManualInstall(below)).toMatchObject({
    reason: expect.stringContaining(`${lock}" says that ${program} installs this project.`),
    install: `${program} add`,
    uninstall: `${program} remove`,
  });
});
