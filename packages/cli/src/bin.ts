import { readFileSync, writeSync } from "node:fs";
import { drawFirstPrompt } from "@agent/terminal/host";
import { recallScreenReader } from "./process/screenReader.js";

const STDOUT = 1;
const args = process.argv.slice(2);

if (!(args.length === 1 && (args[0] === "--version" || args[0] === "-V") && printVersion())) {
  recallScreenReader();
  // Without arguments the command is a chat: show its prompt while the rest is loaded.
  if (args.length === 0) drawFirstPrompt();
  const { main } = await import("./main.js");
  process.exit(await main(args, (code) => process.exit(code)));
}

/**
 * Prints the version before anything is loaded, even the process's streams. If the write fails, the full program runs.
 */
function printVersion(): boolean {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  try {
    writeSync(STDOUT, `${JSON.parse(manifest).version}\n`);
    return true;
  } catch {
    return false;
  }
}
