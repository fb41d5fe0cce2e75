#!/usr/bin/env node
import { writeSync } from "node:fs";
import { readVersion } from "./version.js";

const STDOUT = 1;
const args = process.argv.slice(2);

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Answered before anything is loaded, the streams of the process included.
  writeSync(STDOUT, `${readVersion()}\n`);
} else {
  const { main } = await import("./main.js");
  process.exit(await main(args, (code) => process.exit(code)));
}
