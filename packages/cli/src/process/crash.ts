import { writeSync } from "node:fs";
import { runningTools } from "../assembly/packs/running.js";
import { EXIT } from "./exitCodes.js";

const STDERR = 2;
const CONTROL = /[^\P{Cc}\n\t]/gu;

/**
 * Takes care of what no caller can catch: an error in a timer of some pack, a promise nobody awaited, a tool that
 * ends the process. Says what was running and ends with an exit code of its own. Call the result when the program
 * ends on purpose.
 */
export function watchCrashes(exit: (code: number) => never): () => void {
  let ended = false;
  const crash = (error: unknown): void => {
    ended = true;
    say(`agent: an error nobody caught${whileRunning()}: ${describe(error)}`);
    exit(EXIT.crashed);
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  process.on("exit", (code) => {
    if (ended) return;
    say(`agent: the process was ended${whileRunning()}, before the run was over (exit code ${code}).`);
    process.exitCode = EXIT.crashed;
  });
  return () => {
    ended = true;
  };
}

function whileRunning(): string {
  const tools = runningTools();
  return tools.length === 0 ? "" : ` while ${tools.join(", ")} was running`;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env.AGENT_DEBUG) return error.stack ?? error.message;
  const origin = error.stack?.match(/(?:file:\/\/)?(\/[^\s():]+):\d+:\d+/)?.[1];
  return `${error.message}${origin ? ` (in ${origin})` : ""}. Set AGENT_DEBUG=1 for the stack.`;
}

/** Written at once: there may be no later. */
function say(message: string): void {
  try {
    writeSync(STDERR, `${message.replace(CONTROL, "?")}\n`);
  } catch {
    // Nobody is there to read it.
  }
}
