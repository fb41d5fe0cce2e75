import { existsSync, readFileSync, writeSync } from "node:fs";
import module from "node:module";
import { join } from "node:path";
import { drawFirstPrompt } from "@agent/terminal/host";
import { stateDirectory } from "./process/paths.js";
import { recallScreenReader } from "./process/screenReader.js";

const STDOUT = 1;
const args = process.argv.slice(2);

if (!(args.length === 1 && (args[0] === "--version" || args[0] === "-V") && printVersion())) {
  recallScreenReader();
  // Without arguments the command is a chat: show its prompt while the rest is loaded.
  if (args.length === 0) drawFirstPrompt();
  keepCompiledCode();
  const { main } = await import("./main.js");
  process.exit(await main(args, (code) => process.exit(code)));
}

/**
 * Lets Node 22.8 and later store compiled code for the next start, where no tool and no other user can change it. The
 * directory exists after the first chat or task.
 */
function keepCompiledCode(): void {
  const { enableCompileCache } = module as { enableCompileCache?: (directory: string) => unknown };
  try {
    const directory = stateDirectory();
    if (existsSync(directory)) enableCompileCache?.(join(directory, "compiled-by-node"));
  } catch {
    // The directory belongs to another user.
  }
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
