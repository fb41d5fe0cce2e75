import { type ChildProcess, spawn } from "node:child_process";
import { errorMessage, isRecord, quote } from "@agent/core/toolkit";
import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import type { ErrorLog } from "./errorLog.js";
import type { ProcessGuard } from "./guard.js";
import { LineSplitter, MAX_LINE_BYTES } from "./lines.js";
import { ServerProcesses } from "./processes.js";

const MAX_SHOWN_NOISE = 120;
// A server speaks when it is spoken to; one that does not is made to wait.
const MAX_EARLY = 100;

/** A program to start, with everything decided. */
export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The connection to a server over its standard input and output. Used in place of the SDK's own transport, which
 * leaves grandchildren running, ends at lines of 10 MiB and lets a wrong id wait for the timeout.
 *
 * Contract: after `close` nothing the server started is left. `onclose` is called exactly once, and `reason` then
 * says in words why the connection ended.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport["onmessage"]>;
  /** The SDK recognises a stdio transport by having `stderr` and `pid`. */
  readonly stderr = null;
  pid: number | null = null;
  /** Why the connection ended; empty while it is open. */
  reason = "";
  readonly #program: ServerProgram;
  readonly #guard: ProcessGuard;
  readonly #log: ErrorLog;
  readonly #sent = new SentRequests();
  /** What came before the SDK listened. */
  readonly #early: Record<string, unknown>[] = [];
  #launched: Promise<void> | undefined;
  #isListening = false;
  #child: ChildProcess | undefined;
  #processes: ServerProcesses | undefined;
  #hasExited = false;
  #ending: Promise<void> | undefined;
  #noise = "";

  constructor(program: ServerProgram, guard: ProcessGuard, log: ErrorLog) {
    this.#program = program;
    this.#guard = guard;
    this.#log = log;
  }

  /** Starts the program. What is wrong with it is told by `start`, which the SDK calls once it is ready to listen. */
  launch(): void {
    this.#launched = this.#spawn();
    this.#launched.catch(() => undefined);
  }

  async start(): Promise<void> {
    if (!this.#launched) this.launch();
    await this.#launched;
    if (this.#ending) throw new Error(this.reason || "The connection is closed.");
    this.#isListening = true;
    for (const message of this.#early.splice(0)) this.#deliver(message);
    this.#child?.stdout?.resume();
  }

  async #spawn(): Promise<void> {
    const { command, args, cwd, env } = this.#program;
    const mark = this.#guard.newMark();
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown): void => reject(new Error(startFailure(command, cwd, error)));
      try {
        const child = spawn(command, [...args], {
          cwd,
          env: { ...env, [mark.name]: mark.value },
          detached: process.platform !== "win32", // a group and session of its own, which can be ended as one
          stdio: ["pipe", "pipe", "pipe"],
          windowsHide: true,
        });
        child.once("error", fail);
        if (child.pid === undefined) return; // "error" follows
        this.#child = child;
        this.pid = child.pid;
        this.#processes = new ServerProcesses(child.pid, `${mark.name}=${mark.value}`);
        this.#guard.watch(child.pid, this.#processes);
        this.#listen(child);
        resolve();
      } catch (error) {
        fail(error);
      }
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable || this.#ending) throw new Error(this.reason || "The connection is closed.");
    this.#sent.add(message);
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    await this.#end("");
  }

  #listen(child: ChildProcess): void {
    const lines = new LineSplitter(
      (line) => this.#receive(line),
      () => void this.#end(`It sent a line of more than ${MAX_LINE_BYTES / 1024 / 1024} MiB.`),
    );
    child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => this.#log.add(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
    child.once("exit", (code, signal) => {
      this.#hasExited = true;
      // What it wrote last is still in the pipe; what it started may hold the pipe open for ever.
      setImmediate(() => void this.#end(this.#exitReason(code, signal)));
    });
  }

  #receive(line: string): void {
    if (this.#ending || line.trim() === "") return;
    const message = parse(line);
    if (message === undefined) {
      this.#noise ||= escapeToLine(truncateUtf8(line, MAX_SHOWN_NOISE));
      return;
    }
    // Revision 2025-03-26 allowed several messages in one array.
    for (const one of Array.isArray(message) ? message : [message]) this.#deliver(one);
  }

  #deliver(message: unknown): void {
    if (!isRecord(message)) return;
    if (!this.#isListening) {
      if (this.#early.push(message) >= MAX_EARLY) this.#child?.stdout?.pause();
      return;
    }
    if (this.#sent.isForeign(message)) {
      const problem = isRecord(message.error) ? `: ${String(message.error.message)}` : "";
      void this.#end(
        `It answered a request that was never sent (id ${quote(String(message.id))})${problem}.`,
      );
      return;
    }
    this.onmessage?.(message as JSONRPCMessage);
  }

  #end(reason: string): Promise<void> {
    if (this.#ending) return this.#ending;
    // Set before the callbacks run: they may call again.
    let finish = (): void => undefined;
    this.#ending = new Promise((resolve) => {
      finish = resolve;
    });
    this.#endOnce(reason).finally(finish);
    return this.#ending;
  }

  async #endOnce(reason: string): Promise<void> {
    this.reason = reason;
    const child = this.#child;
    if (child === undefined || this.pid === null) {
      this.onclose?.();
      return;
    }
    child.stdin?.end();
    // The callers of pending requests learn of the end now; the processes take up to two seconds.
    this.onclose?.();
    await this.#processes?.end(() => this.#hasExited);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    this.#guard.release(this.pid);
  }

  #exitReason(code: number | null, signal: NodeJS.Signals | null): string {
    const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
    const noise = this.#noise === "" ? "" : ` Its output was not MCP: ${quote(this.#noise)}.`;
    const log = this.#log.tail();
    return `It ended ${how}.${noise}${log === "" ? "" : `\nIts standard error ends with:\n${log}`}`;
  }
}

/** Which ids were ever sent as requests. The SDK counts up, so that the highest number tells of all before it. */
class SentRequests {
  readonly #texts = new Set<string>();
  #highest = -1;

  add(message: JSONRPCMessage): void {
    if (!("id" in message) || !("method" in message)) return;
    if (typeof message.id === "number") this.#highest = Math.max(this.#highest, message.id);
    else this.#texts.add(String(message.id));
  }

  /** Whether this is an answer to something that was never asked. A late or second answer is not. */
  isForeign(message: Record<string, unknown>): boolean {
    const { id, method } = message;
    if (method !== undefined || (!("result" in message) && !("error" in message))) return false;
    if (typeof id === "string" && this.#texts.has(id)) return false;
    const number = typeof id === "string" || typeof id === "number" ? Number(id) : Number.NaN;
    return !(Number.isInteger(number) && number >= 0 && number <= this.#highest);
  }
}

function parse(line: string): unknown {
  try {
    const message: unknown = JSON.parse(line);
    return isRecord(message) || Array.isArray(message) ? message : undefined;
  } catch {
    return undefined;
  }
}

function startFailure(command: string, cwd: string, error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") {
    return `The program ${quote(command)} was not found, or the directory ${quote(cwd)} does not exist. Install it, or give its whole path.`;
  }
  if (code === "EACCES") return `The program ${quote(command)} may not be executed. Check its permissions.`;
  return `The program ${quote(command)} cannot be started: ${errorMessage(error)}`;
}
