import type { ChildProcess } from "node:child_process";
import {
  errorMessage,
  escapeToLine,
  isRecord,
  quote,
  startableProgram,
  truncateUtf8,
} from "@agent/core/toolkit";
import { nodeChildProcess } from "../nodeModules.js";
import type { ErrorLog } from "./errorLog.js";
import type { ProcessGuard } from "./guard.js";
import { LineSplitter, MAX_LINE_BYTES } from "./lines.js";
import { ServerProcesses } from "./processes.js";

const MAX_SHOWN_NOISE = 120;
const MAX_UNREAD_BYTES = 2 * MAX_LINE_BYTES;

/** A program to start, with everything decided. */
export interface ServerProgram {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/**
 * A program with which we exchange messages over its standard input and output, one line of JSON each.
 *
 * Contract: after `close` no process of the program is left. The end is reported exactly once, and `reason` then
 * explains why the connection ended.
 */
export class StdioTransport {
  /** Why the connection ended; empty while it is open. */
  reason = "";
  readonly #program: ServerProgram;
  readonly #guard: ProcessGuard;
  readonly #log: ErrorLog;
  #onMessage: (message: Record<string, unknown>) => void = () => undefined;
  #onClose: () => void = () => undefined;
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

  /** Receives the messages, and is notified of the end. */
  listen(onMessage: (message: Record<string, unknown>) => void, onClose: () => void): void {
    this.#onMessage = onMessage;
    this.#onClose = onClose;
  }

  /** Starts the program. Rejects with the reason if that is not possible. */
  async start(): Promise<void> {
    const { command, args, cwd, env } = this.#program;
    const mark = this.#guard.newMark();
    await new Promise<void>((resolve, reject) => {
      const fail = (error: unknown): void => {
        this.#guard.rest();
        reject(new Error(startFailure(command, cwd, error)));
      };
      try {
        // On Windows, npx and uvx are batch files.
        const program = startableProgram(command, args, { env, cwd });
        const child = nodeChildProcess.spawn(program.file, [...program.args], {
          ...program.options,
          cwd,
          env: { ...env, [mark.name]: mark.value },
          detached: process.platform !== "win32", // a separate group and session, which can be killed as one
          stdio: ["pipe", "pipe", "pipe"],
        });
        child.once("error", fail);
        if (child.pid === undefined) return; // "error" follows
        this.#child = child;
        this.#processes = new ServerProcesses(child.pid, `${mark.name}=${mark.value}`);
        this.#guard.watch(child.pid, this.#processes);
        this.#read(child);
        resolve();
      } catch (error) {
        fail(error);
      }
    });
  }

  /** Writes one message. Throws with the reason once the connection has ended. */
  send(message: Readonly<Record<string, unknown>>): void {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable || this.#ending) throw new Error(this.reason || "The connection is closed.");
    if (stdin.writableLength > MAX_UNREAD_BYTES) {
      // A server that keeps asking, and reads no answer, must not fill the memory.
      void this.end(`It does not read its input: ${MAX_UNREAD_BYTES / 1024 / 1024} MiB are waiting.`);
      throw new Error(this.reason);
    }
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Closes the connection and kills everything the program started. */
  async close(): Promise<void> {
    await this.end("");
  }

  #read(child: ChildProcess): void {
    const lines = new LineSplitter(
      (line) => this.#receive(line),
      () => void this.end(`It sent a line of more than ${MAX_LINE_BYTES / 1024 / 1024} MiB.`),
    );
    child.stdout?.on("data", (chunk: Buffer) => lines.push(chunk));
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => this.#log.add(chunk));
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on("error", () => undefined);
    child.once("exit", (code, signal) => {
      this.#hasExited = true;
      // The last output may still be in the pipe; do not wait for its end, since child processes may keep it open.
      setImmediate(() => void this.end(this.#exitReason(code, signal)));
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
    for (const one of Array.isArray(message) ? message : [message]) if (isRecord(one)) this.#onMessage(one);
  }

  /** Ends the connection with a reason. Only the first reason is kept. */
  end(reason: string): Promise<void> {
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
    child?.stdin?.end();
    // The callers of pending requests are notified now; stopping the processes takes up to two seconds.
    this.#onClose();
    if (child?.pid === undefined) return;
    await this.#processes?.end(() => this.#hasExited);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    this.#guard.release(child.pid);
  }

  #exitReason(code: number | null, signal: NodeJS.Signals | null): string {
    const how = signal === null ? `ended with exit code ${code}` : `was killed by ${signal}`;
    const noise = this.#noise === "" ? "" : ` Its output was not MCP: ${quote(this.#noise)}.`;
    const log = this.#log.tail();
    return `It ${how}.${noise}${log === "" ? "" : `\nIts standard error ends with:\n${log}`}`;
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
