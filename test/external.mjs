import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Where the programs of a package.json outside the workspace are installed: a separate directory per version. */
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
 * Installs the programs outside the workspace, unless they exist: contributors should not have to download them, and
 * some of them treat the nearest lockfile as the project's root. Install scripts do not run; `finish` replaces one of
 * them; `more` are further flags of npm.
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
