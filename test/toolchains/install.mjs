// Installs the toolchains of package.json where the tests look for them. They take about 1 GB.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { installExternal } from "../external.mjs";

/** The install scripts that put a program for this machine in place. */
const SCRIPTS = [
  ["bun", "install.js"],
  ...["node20", "node22", "node24"].map((name) => [name, "installArchSpecificPackage.js"]),
];

installExternal(new URL("package.json", import.meta.url), (directory) => {
  for (const [name, script] of SCRIPTS) {
    const cwd = join(directory, "node_modules", name);
    execFileSync(process.execPath, [script], { cwd, stdio: "inherit" });
  }
});
