import { readdirSync, readFileSync } from "node:fs";
import { escapeToLine, truncateUtf8Start, withTimeout } from "@agent/internal";
import type { Launched } from "./launch.js";
import { encodeFrame, FROM_PACK, type Frame, FrameReader, type Message, manifestOf } from "./protocol.js";

const STOP_GRACE_MS = 1000;
const END_GRACE_MS = 500;
const USAGE_CHECK_MS = 250;
/** Limits of a pack that may start programs, for all its processes together: a kernel limit holds for each of them. */
const MAX_PROCESSES = 128;
const PROGRAMS_MEMORY_FACTOR = 4;
const KEPT_LOG_BYTES = 2000;
const MAX_OPEN_REQUESTS = 64;
/** Messages per second above which a pack is flooding the host and would block it. */
const MAX_MESSAGES = 20_000;
/** JSON takes up to 50 ms per MB to parse. More than all messages of a pack with many tools, within a second. */
const MAX_JSON_BYTES = 8 * 1024 * 1024;
const MESSAGE_PERIOD_MS = 1000;
/** Processor time that a pack may use while nothing was asked of it: it could use the machine for its own purposes. */
const IDLE_CPU_MS = 30_000;
/** The unit of the times in /proc. */
const TICK_MS = 10;
/** Node reads up to 2 MB at a time, and 64 KB of nested JSON take 7 ms to parse. After this much, yield to other work. */
const MAX_CHUNK_BYTES = 8 * 1024;
/** More than the longest answers to all open requests that a pack can use. */
const MAX_UNREAD_BYTES = 64 * 1024 * 1024;
const PAGE_BYTES = 4096;
const MIB = 1024 * 1024;

/** Messages that a pack process sends on its own initiative. */
export interface Listener {
  /** A message without an answer. */
  notify(method: string, params: unknown, raw: Buffer | undefined): void;
  /** A request. Resolves to the answer: a JSON value or bytes. `signal` aborts when no answer is wanted any more. */
  serve(method: string, params: unknown, raw: Buffer | undefined, signal: AbortSignal): Promise<unknown>;
  /** Whether the pack has background work that the user sees. */
  isWorking?(): boolean;
  /** The process has exited. `isFault`: by itself or because of a violation, not because the host stopped it. */
  ended?(isFault: boolean): void;
}

interface Waiting {
  resolve(frame: Frame): void;
  reject(error: Error): void;
}

export interface ProcessLimits {
  readonly memoryMb: number;
  /** Whether it may start programs. */
  readonly programs?: boolean | undefined;
  /** How long a call may take to return after it was stopped. Default: one second. */
  readonly stopGraceMs?: number | undefined;
  /** The processor time that it may use without a call. Default: 30 seconds. */
  readonly idleCpuMs?: number | undefined;
}

export interface SendOptions {
  readonly signal?: AbortSignal | undefined;
  /** Receives the number of the request, by which the process refers to it. */
  readonly onSent?: (id: number) => void;
}

/**
 * One running process of a pack. It is killed on the first violation of the protocol or a limit; every open request is
 * then rejected with the reason, and none is sent again.
 */
export class PackProcess {
  readonly #launched: Launched;
  readonly #listener: Listener;
  readonly #name: string;
  readonly #stopGraceMs: number;
  readonly #reader = new FrameReader(FROM_PACK);
  readonly #waiting = new Map<number, Waiting>();
  readonly #closed: Promise<void>;
  #usageTimer: NodeJS.Timeout | undefined;
  #nextId = 1;
  readonly #serving = new Map<number, AbortController>();
  #messages = 0;
  #periodStart = 0;
  #periodJson = 0;
  #log = "";
  #problem: string | undefined;
  #isEnding = false;
  #isFault = true;

  constructor(
    name: string,
    launched: Launched,
    listener: Listener,
    { stopGraceMs = STOP_GRACE_MS, ...limits }: ProcessLimits,
  ) {
    this.#name = name;
    this.#stopGraceMs = stopGraceMs;
    this.#launched = launched;
    this.#listener = listener;
    const { child, channel } = launched;
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on("data", (chunk: Buffer) => {
        this.#log = truncateUtf8Start(this.#log + chunk.toString("utf8", 0, KEPT_LOG_BYTES), KEPT_LOG_BYTES);
      });
    }
    channel.on("data", (chunk: Buffer) => this.#receive(chunk));
    channel.on("error", () => undefined);
    this.#closed = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#fail(`its process ended with ${signal ?? `code ${code}`}${this.#printed()}`);
        resolve();
      });
    });
    this.#watchUsage(limits);
    // The process of a pack must not keep the program alive.
    child.unref();
    for (const stream of child.stdio) (stream as { unref?: () => void } | null)?.unref?.();
  }

  /** Why the process can no longer be used. */
  get problem(): string | undefined {
    return this.#problem;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Registers the pack. Rejects and kills the process if that takes too long. */
  async init(params: unknown, limitMs: number): Promise<unknown> {
    const late = `it did not register within ${limitMs} ms`;
    const answer = await withTimeout(this.request("init", params), limitMs, () => {
      this.end(late);
      throw new Error(`${this.#name}: ${late}.`);
    });
    return manifestOf(answer);
  }

  /** Sends a request. An aborted request that is not answered soon kills the process with all its other requests. */
  async request(method: string, params: unknown, { signal, onSent }: SendOptions = {}): Promise<Frame> {
    if (this.#problem !== undefined) throw this.#error(this.#problem);
    signal?.throwIfAborted();
    const id = this.#nextId++;
    let graceTimer: NodeJS.Timeout | undefined;
    const cancel = (): void => {
      this.#write({ method: "cancel", params: { id } });
      graceTimer = setTimeout(() => {
        // Only a call that exceeded its time limit is a fault of the pack: the user may stop any number of calls.
        this.#isFault = signal?.reason?.name === "TimeoutError";
        this.end(`a call was stopped and did not return within ${this.#stopGraceMs} ms`);
      }, this.#stopGraceMs);
    };
    try {
      return await new Promise<Frame>((resolve, reject) => {
        this.#waiting.set(id, { resolve, reject });
        onSent?.(id);
        signal?.addEventListener("abort", cancel, { once: true });
        this.#write({ id, method, params });
        // Keep the program alive while a call is waiting.
        this.#hold(true);
      });
    } finally {
      signal?.removeEventListener("abort", cancel);
      clearTimeout(graceTimer);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#hold(false);
    }
  }

  /** Sends a message that has no answer. */
  notify(method: string, params: unknown): void {
    if (this.#problem === undefined) this.#write({ method, params });
  }

  /** Lets the pack dispose of its resources, then stops the process. */
  async dispose(): Promise<void> {
    if (this.#problem === undefined) {
      this.#isEnding = true;
      this.#isFault = false;
      await withTimeout(this.request("dispose", {}), END_GRACE_MS, () => undefined).catch(() => undefined);
    }
    this.end("it was stopped");
    await withTimeout(this.#closed, END_GRACE_MS, () => undefined);
  }

  /** Kills the process immediately. */
  end(problem: string): void {
    this.#fail(problem);
    const { child, pid } = this.#launched;
    child.kill("SIGKILL");
    // After it has exited, the id may belong to another process.
    if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It was killed together with bubblewrap.
    }
  }

  #hold(isHeld: boolean): void {
    const { channel } = this.#launched as { channel: { ref?(): void; unref?(): void } };
    if (isHeld) channel.ref?.();
    else channel.unref?.();
  }

  #write(message: Message, raw?: Uint8Array): void {
    const { channel } = this.#launched;
    if (channel.writable) channel.write(encodeFrame(message, raw));
    if (channel.writableLength > MAX_UNREAD_BYTES) this.end("it asks and does not read the answers");
  }

  #receive(chunk: Buffer): void {
    if (this.#problem !== undefined) return;
    try {
      for (const frame of this.#reader.read(chunk)) {
        this.#count();
        this.#dispatch(frame);
        if (this.#problem !== undefined) return;
      }
    } catch (error) {
      this.end((error as Error).message);
    }
    if (chunk.byteLength <= MAX_CHUNK_BYTES) return;
    const { channel } = this.#launched;
    channel.pause();
    setImmediate(() => channel.resume());
  }

  #count(): void {
    const now = performance.now();
    if (now - this.#periodStart > MESSAGE_PERIOD_MS) {
      this.#periodStart = now;
      this.#messages = 0;
      this.#periodJson = this.#reader.jsonBytes;
    }
    if (++this.#messages > MAX_MESSAGES)
      throw new Error(`it sent more than ${MAX_MESSAGES} messages in a second`);
    if (this.#reader.jsonBytes - this.#periodJson > MAX_JSON_BYTES)
      throw new Error(`it sent more than ${MAX_JSON_BYTES} bytes of messages in a second`);
  }

  #dispatch({ message, raw }: Frame): void {
    const { id, ask, method, params, error } = message;
    if (method !== undefined && typeof method !== "string")
      throw new Error("it sent a message without a method");
    if (method !== undefined && ask !== undefined) {
      void this.#serve(ask, method, params, raw);
      return;
    }
    if (method === "cancel") {
      this.#serving.get(Number(Object(params).ask))?.abort();
      return;
    }
    if (method !== undefined) {
      this.#listener.notify(method, params, raw);
      return;
    }
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    if (waiting === undefined) throw new Error("it answered a request that was not sent");
    if (error === undefined) waiting.resolve(raw === undefined ? { message } : { message, raw });
    else waiting.reject(wireError(error));
  }

  async #serve(ask: unknown, method: string, params: unknown, raw: Buffer | undefined): Promise<void> {
    if (typeof ask !== "number" || this.#serving.has(ask)) {
      this.end("it sent a request without its own number");
      return;
    }
    if (this.#serving.size >= MAX_OPEN_REQUESTS) {
      this.#write({
        ask,
        error: { message: `more than ${MAX_OPEN_REQUESTS} requests to the host are open` },
      });
      return;
    }
    const controller = new AbortController();
    this.#serving.set(ask, controller);
    try {
      const result = await this.#listener.serve(method, params, raw, controller.signal);
      if (Buffer.isBuffer(result)) this.#write({ ask }, result);
      else this.#write({ ask, result: result ?? null });
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      this.#write({
        ask,
        error: { message: String(message), ...(code !== undefined && { code: `${code}` }) },
      });
    } finally {
      this.#serving.delete(ask);
    }
  }

  #fail(problem: string): void {
    if (this.#problem !== undefined) return;
    this.#problem = problem;
    clearInterval(this.#usageTimer);
    const error = this.#error(problem);
    for (const { reject } of this.#waiting.values()) reject(error);
    for (const controller of this.#serving.values()) controller.abort();
    this.#launched.channel.destroy();
    this.#listener.ended?.(this.#isFault);
  }

  #error(problem: string): Error {
    return new Error(
      this.#isEnding ? `${this.#name} was stopped.` : `The pack ${this.#name} was stopped: ${problem}.`,
    );
  }

  #printed(): string {
    const lines = this.#log
      .trim()
      .split("\n")
      .filter((line) => line.trim() !== "");
    const line = lines.find((one) => /error/i.test(one)) ?? lines.at(-1);
    return line === undefined ? "" : ` (it printed: ${escapeToLine(line.trim()).slice(0, 300)})`;
  }

  /**
   * Polls the memory and the processor time in use, also between calls: the kernel's limit of memory is not exact on Node 24, and
   * shared memory is not among what it counts.
   */
  #watchUsage({ memoryMb, programs = false, idleCpuMs = IDLE_CPU_MS }: ProcessLimits): void {
    const { pid } = this.#launched;
    if (pid === undefined || process.platform !== "linux") return;
    const most = programs ? memoryMb * PROGRAMS_MEMORY_FACTOR : memoryMb;
    let cpuBefore = 0;
    this.#usageTimer = setInterval(() => {
      const { bytes, cpuMs, count } = usageOf(pid, programs);
      if (!this.isIdle || this.#listener.isWorking?.() || cpuMs < cpuBefore) cpuBefore = cpuMs;
      if (count > MAX_PROCESSES) this.end(`it started more than ${MAX_PROCESSES} processes`);
      else if (bytes > most * MIB) this.end(`it used more than ${most} MB of memory`);
      else if (cpuMs - cpuBefore > idleCpuMs) {
        this.end(`it used ${idleCpuMs / 1000} seconds of processor time without a call`);
      }
    }, USAGE_CHECK_MS);
    this.#usageTimer.unref();
  }
}

/** What a process uses, with all that it started, whose parents may have ended. */
interface Usage {
  /** Resident memory. */
  readonly bytes: number;
  readonly cpuMs: number;
  /** Processes. */
  readonly count: number;
}

function usageOf(pid: number, programs: boolean): Usage {
  const found = [pid];
  let bytes = 0;
  let cpuMs = 0;
  for (const one of found) {
    bytes += residentBytes(one);
    cpuMs += cpuTime(one);
    if (programs && found.length <= MAX_PROCESSES) found.push(...childrenOf(one));
  }
  return { bytes, cpuMs, count: found.length };
}

function residentBytes(pid: number): number {
  const [, resident = 0] = procFile(pid, "statm").split(" ").map(Number);
  return resident * PAGE_BYTES;
}

/** The processor time of a process, and of the programs that it started and waited for. */
function cpuTime(pid: number): number {
  // The name of the program may contain spaces.
  const fields = procFile(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ")
    .map(Number);
  return fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) * TICK_MS;
}

/** The text of a file of a process in /proc; empty once it has ended. */
function procFile(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, "utf8");
  } catch {
    return "";
  }
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
    return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
  } catch {
    // It has ended.
    return [];
  }
}

function wireError(error: unknown): Error {
  const { message, code } = Object(error) as { message?: unknown; code?: unknown };
  const text = typeof message === "string" ? message : "it failed without a reason";
  return Object.assign(new Error(text), typeof code === "string" && { code });
}
