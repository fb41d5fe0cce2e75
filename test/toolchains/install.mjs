// Installs the bundlers and runtimes of package.json where `toolchains.test.ts` looks for them. Outside the workspace: they
// weigh 600 MB, which nobody should download to change a tool, and Next.js takes the nearest lockfile for the
// project's root.
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toolchainsDirectory } from "./directory.mjs";

const directory = toolchainsDirectory();
const done = join(directory, "installed");
if (!existsSync(done)) {
  mkdirSync(directory, { recursive: true });
  copyFileSync(new URL("package.json", import.meta.url), join(directory, "package.json"));
  // No install scripts but that of Bun, which puts its program in place.
  const flags = ["--no-audit", "--no-fund", "--ignore-scripts"];
  execFileSync("npm", ["install", ...flags], { cwd: directory, stdio: "inherit" });
  execFileSync(process.execPath, [join("node_modules", "bun", "install.js")], {
    cwd: directory,
    stdio: "inherit",
  });
  writeFileSync(done, "");
}
