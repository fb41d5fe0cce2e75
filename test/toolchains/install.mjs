// Installs the bundlers and runtimes of package.json where `toolchains.test.ts` looks for them. They weigh 600 MB.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { installExternal } from "../external.mjs";

installExternal(new URL("package.json", import.meta.url), (directory) => {
  // Bun's install script puts its program in place.
  const script = join("node_modules", "bun", "install.js");
  execFileSync(process.execPath, [script], { cwd: directory, stdio: "inherit" });
});
