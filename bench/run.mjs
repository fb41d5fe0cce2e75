// pnpm bench <area>: runs bench/<area>.mjs. Without an area it lists them.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const NOT_AREAS = new Set(["run.mjs", "charts.mjs"]);
const AREAS = readdirSync(here)
  .filter((name) => name.endsWith(".mjs") && !NOT_AREAS.has(name))
  .map((name) => name.slice(0, -".mjs".length));
const [area, ...rest] = process.argv.slice(2);

if (area === undefined || !AREAS.includes(area)) {
  console.log(`pnpm bench <area>, where area is one of: ${AREAS.join(", ")}`);
  process.exitCode = area === undefined ? 0 : 2;
} else {
  if (!existsSync(join(here, "node_modules"))) {
    // The programs to compare with are installed in bench/, outside the workspace. The frameworks are optional
    // dependencies: one that cannot be installed is left out. npm would still refuse all of them for a peer range that
    // nothing in the registry satisfies, so it must not resolve peer ranges.
    const flags = ["--no-audit", "--no-fund", "--no-package-lock", "--legacy-peer-deps"];
    execFileSync("npm", ["install", ...flags], { cwd: here, stdio: "inherit" });
  }
  // Unset it: reading a bundle of certificates more than doubles the start time of every measured node process.
  delete process.env.NODE_EXTRA_CA_CERTS;
  process.argv.splice(2, process.argv.length, ...rest);
  await import(pathToFileURL(join(here, `${area}.mjs`)).href);
}
