#!/usr/bin/env node
import { watchCrashes } from "./crash.js";
import { readVersion } from "./version.js";

const args = process.argv.slice(2);
// A reader that went away ("agent … | head") is no error; whoever writes finds out and stops.
for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);

if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
  // Answered before anything is loaded.
  process.stdout.write(`${readVersion()}\n`);
} else {
  const endOnPurpose = watchCrashes((code) => process.exit(code));
  const { main } = await import("./main.js");
  const exitCode = await main(args);
  endOnPurpose();
  process.exit(exitCode);
}

function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}
