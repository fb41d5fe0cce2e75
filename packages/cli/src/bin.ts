#!/usr/bin/env node
import { readFileSync, writeSync } from "node:fs";
import { drawFirstPrompt } from "./chat/firstPrompt.js";

const STDOUT = 1;
const args = process.argv.slice(2);

if (!(args.length === 1 && (args[0] === "--version" || args[0] === "-V") && printVersion())) {
  // Without arguments it is a chat, and a person sees its prompt while the rest is loaded.
  const isPromptShown = args.length === 0 && drawFirstPrompt();
  const { main } = await import("./main.js");
  process.exit(await main(args, { isPromptShown, exit: (code) => process.exit(code) }));
}

/** Answers before anything is loaded, the streams of the process included. Whoever cannot be written to gets the long way. */
function printVersion(): boolean {
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  try {
    writeSync(STDOUT, `${JSON.parse(manifest).version}\n`);
    return true;
  } catch {
    return false;
  }
}
