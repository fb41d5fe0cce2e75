import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where the programs that a package.json outside the workspace names are installed: another place for other versions. */
export function externalDirectory(manifest) {
  const text = readFileSync(manifest, "utf8");
  const version = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return join(tmpdir(), `agent-${JSON.parse(text).name}-${process.getuid?.() ?? "user"}-${version}`);
}

/** Whether all of the programs are installed completely. */
export function isExternalInstalled(manifest) {
  return existsSync(join(externalDirectory(manifest), "installed"));
}

/**
 * Installs the programs outside the workspace, unless they are there: no one should download them to change a tool, and
 * some of them take the nearest lockfile for the project's root. Install scripts do not run; `finish` does what one of them would; `more` are further flags of npm.
 */
export function installExternal(manifest, finish = () => undefined, more = []) {
  if (isExternalInstalled(manifest)) return;
  const directory = externalDirectory(manifest);
  mkdirSync(directory, { recursive: true });
  copyFileSync(manifest, join(directory, "package.json"));
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", ...more];
  execFileSync("npm", ["install", ...flags], { cwd: directory, stdio: "inherit" });
  finish(directory);
  writeFileSync(join(directory, "installed"), "");
}
