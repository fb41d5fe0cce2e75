#!/usr/bin/env node
import { readFileSync, writeSync } from "node:fs";

const STDOUT = 1;
const args = process.argv.slice(2);

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Answered before anything is loaded, the streams of the process included.
  const manifest = readFileSync(new URL("../package.json", import.meta.url), "utf8");
  writeSync(STDOUT, `${JSON.parse(manifest).version}\n`);
} else {
  const { main } = await import("./main.js");
  process.exit(await main(args, (code) => process.exit(code)));
}
