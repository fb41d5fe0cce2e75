import { channel } from "node:diagnostics_channel";
import { writeSync } from "node:fs";
import { EXIT } from "./exitCodes.js";

const STDERR = 2;
const CONTROL = /[^\P{Cc}\n\t]/gu;

// The guard belongs to `main`. Channels connect it to tool calls and reporters without passing it to every function.
const TOOL_STARTED = channel("agent.tool.started");
const TOOL_ENDED = channel("agent.tool.ended");
const CRASHED = channel("agent.crashed");

/** Records that a tool is running until the returned function is called. The message of a crash names it. */
export function noteRunning(name: string): () => void {
  const call: RunningCall = { name };
  TOOL_STARTED.publish(call);
  return () => TOOL_ENDED.publish(call);
}

/** Calls `write` with the message of a crash, until the returned function is called. It must write immediately. */
export function onCrash(write: (message: string) => void): () => void {
  const listener = (message: unknown): void => write(String(message));
  CRASHED.subscribe(listener);
  return () => void CRASHED.unsubscribe(listener);
}

interface RunningCall {
  readonly name: string;
}

/**
 * Handles what no caller can catch: an error in a pack's timer, an unhandled rejection, a tool that exits the process.
 * Reports which tools were running and exits with a separate exit code.
 */
export class CrashGuard {
  readonly #running = new Set<RunningCall>();
  #released = false;

  /** Installs the handlers. `exit` terminates the process: nothing can be awaited any more. */
  watch(exit: (code: number) => never): void {
    const crash = (error: unknown): void => {
      this.#end(`uncaught error${this.#whileRunning()}: ${describe(error)}`);
      exit(EXIT.crashed);
    };
    TOOL_STARTED.subscribe((call) => void this.#running.add(call as RunningCall));
    TOOL_ENDED.subscribe((call) => void this.#running.delete(call as RunningCall));
    process.on("uncaughtException", crash);
    process.on("unhandledRejection", crash);
    process.on("exit", (code) => {
      if (this.#released) return;
      this.#end(
        `the process exited${this.#whileRunning()}, before the run had finished (exit code ${code}).`,
      );
      process.exitCode = EXIT.crashed;
    });
  }

  /** Called when the program exits on purpose: from now on an exit is not a crash. */
  release(): void {
    this.#released = true;
  }

  #end(message: string): void {
    this.#released = true;
    say(`agent: ${message}`);
    CRASHED.publish(message);
  }

  #whileRunning(): string {
    const names = [...new Set(Array.from(this.#running, ({ name }) => name))];
    return names.length === 0 ? "" : ` while ${names.join(", ")} was running`;
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (process.env.AGENT_DEBUG) return error.stack ?? error.message;
  const origin = framesOf(error).match(/(?:file:\/\/)?(\/[^\s():]+):\d+:\d+/)?.[1];
  return `${error.message}${origin ? ` (in ${origin})` : ""}. Set AGENT_DEBUG=1 for the stack.`;
}

/**
 * The stack without the leading message: a message may contain anything, including text that looks like a source
 * location.
 */
function framesOf({ stack = "", message }: Error): string {
  const start = stack.indexOf(message);
  return start === -1 ? "" : stack.slice(start + message.length);
}

/** Writes synchronously: the process is about to exit. */
function say(message: string): void {
  try {
    writeSync(STDERR, `${message.replace(CONTROL, "?")}\n`);
  } catch {
    // Standard error is closed: the message cannot be printed.
  }
}
