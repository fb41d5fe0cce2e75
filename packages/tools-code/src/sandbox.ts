import { Intrinsics, type JSValueHandle, QuickJS } from "quickjs-wasi";
import { PRELUDE } from "./prelude.js";
import {
  type AnsweredCall,
  type CallKind,
  MAX_CALL_CHARACTERS,
  type ScriptCall,
  type ScriptEnd,
  type ScriptLimits,
} from "./protocol.js";

/** The name of the script's text in stack traces. */
const SCRIPT = "script";
const MAX_ERROR_CHARACTERS = 4000;
const MAX_STACK_LINES = 5;
// A script that makes a thousand calls in one go need not wait until it has made the last one.
const CALLS_AT_ONCE = 64;
// Of 1 MiB: frames of async functions need more than the engine counts.
const MAX_STACK_BYTES = 192 * 1024;

/** Weak references depend on the garbage collector, and a script has no clock. */
const INTRINSICS = Intrinsics.ALL & ~(Intrinsics.WEAK_REF | Intrinsics.PERFORMANCE);

/** Removes types from TypeScript and keeps every line and column. Throws for text that is not TypeScript. */
export type StripTypes = (text: string) => string;

export interface SandboxOptions {
  readonly limits: ScriptLimits;
  /** Gets many calls of a script that is still computing. The others are taken with `takeCalls`. */
  readonly onCalls: (calls: readonly ScriptCall[]) => void;
}

/**
 * One script in its own QuickJS instance. The same script with the same answers makes the same calls in the same order:
 * there is no clock, random numbers are seeded with the script's text, and calls are settled in the order in which they
 * were made.
 */
export class Sandbox {
  readonly #vm: QuickJS;
  readonly #limits: ScriptLimits;
  readonly #onCalls: (calls: readonly ScriptCall[]) => void;
  readonly #running = new Map<number, string>();
  #settle: JSValueHandle | undefined;
  #calls: ScriptCall[] = [];
  #count = 0;
  #output: string[] = [];
  #printed = 0;
  #dropped = 0;
  #cpuMs = 0;
  #segmentStart = 0;
  #finished: Pick<ScriptEnd, "type" | "text"> | undefined;
  #stopped: string | undefined;

  private constructor(vm: QuickJS, { limits, onCalls }: SandboxOptions) {
    this.#vm = vm;
    this.#limits = limits;
    this.#onCalls = onCalls;
  }

  static async create(wasm: WebAssembly.Module, script: string, options: SandboxOptions): Promise<Sandbox> {
    const { limits } = options;
    let sandbox: Sandbox | undefined;
    const seed = hash(script);
    const vm = await QuickJS.create({
      wasm,
      memoryLimit: limits.memoryBytes,
      maxStackSize: MAX_STACK_BYTES,
      intrinsics: INTRINSICS,
      timezoneOffset: 0,
      interruptHandler: () => sandbox?.interrupts() ?? false,
      // Random numbers are seeded with the clock.
      wasi: (memory: WebAssembly.Memory) => ({
        clock_time_get: (_clock: number, _precision: bigint, result: number) => {
          new DataView(memory.buffer).setBigUint64(result, seed, true);
          return 0;
        },
      }),
    });
    sandbox = new Sandbox(vm, options);
    return sandbox;
  }

  /** Whether the engine must stop executing. The script cannot catch that. */
  interrupts(): boolean {
    if (this.#stopped === undefined && this.#spentMs() > this.#limits.cpuMs) {
      this.#stopped = `it computed for more than ${this.#limits.cpuMs} ms`;
    }
    return this.#stopped !== undefined;
  }

  /** Starts the script. `strip` is loaded only for text that is not JavaScript. */
  async start(script: string, loadStripper: () => Promise<StripTypes>): Promise<ScriptEnd | undefined> {
    // The script stays on its own lines, so that positions in errors are right.
    const wrapped = `(async () => {${script}\n})`;
    let main: JSValueHandle | undefined;
    try {
      main = await this.#compile(wrapped, loadStripper);
    } catch (error) {
      return this.#end({ type: "threw", text: errorText(error) });
    }
    return this.#segment(() => {
      const vm = this.#vm;
      const { start, settle } = this.#loadPrelude();
      this.#settle = settle;
      vm.callFunction(start, vm.getUndefined(), main).dispose();
    });
  }

  /** Settles calls one by one, each with its consequences before the next. */
  answer(answers: readonly AnsweredCall[]): ScriptEnd | undefined {
    return this.#segment(() => {
      const vm = this.#vm;
      for (const { id, json } of answers) {
        this.#running.delete(id);
        const [number, text] = [vm.newNumber(id), vm.newString(json)];
        vm.callFunction(this.#settle as JSValueHandle, vm.getUndefined(), number, text).dispose();
        number.dispose();
        text.dispose();
        vm.executePendingJobs();
        if (this.#finished) return;
      }
    });
  }

  /** Takes the calls made since the last time. */
  takeCalls(): ScriptCall[] {
    return this.#calls.splice(0);
  }

  /** Takes the output since the last time. */
  takeOutput(): string {
    return this.#output.splice(0).join("");
  }

  async #compile(wrapped: string, loadStripper: () => Promise<StripTypes>): Promise<JSValueHandle> {
    const evaluate = (text: string) => this.#vm.evalCode(text, SCRIPT);
    // In JavaScript this is a comparison, in TypeScript a call with a type argument. The second is what is meant.
    const looksTyped = /\w<[\w\s,.|[\]{}:;"']+>\s*\(/.test(wrapped);
    let failure: unknown;
    if (!looksTyped) {
      try {
        return evaluate(wrapped);
      } catch (error) {
        failure = error;
      }
    }
    let stripped: string;
    try {
      stripped = (await loadStripper())(wrapped);
    } catch (error) {
      if (looksTyped) return evaluate(wrapped);
      throw failure ?? error;
    }
    return evaluate(stripped);
  }

  #loadPrelude(): { readonly start: JSValueHandle; readonly settle: JSValueHandle } {
    const vm = this.#vm;
    const send = vm.newFunction("send", (kind, name, json) =>
      vm.newNumber(this.#send(textOf(kind) as CallKind, textOf(name), textOf(json))),
    );
    const output = vm.newFunction("output", (text) => {
      this.#print(textOf(text));
      return vm.getUndefined();
    });
    const finish = vm.newFunction("finish", (type, text) => {
      this.#finish(textOf(type) as "returned" | "threw", textOf(text));
      return vm.getUndefined();
    });
    const prelude = vm.evalCode(PRELUDE, "prelude");
    const parts = vm.callFunction(prelude, vm.getUndefined(), send, output, finish);
    return { start: parts.getProp("start"), settle: parts.getProp("settle") };
  }

  /** The id of the call; negative if the script must stop. */
  #send(kind: CallKind, name: string, json: string): number {
    if (this.#count >= this.#limits.maxCalls) {
      this.#stopped ??= `it made more than ${this.#limits.maxCalls} calls`;
    }
    if (this.#stopped !== undefined) return -1;
    if (json.length > MAX_CALL_CHARACTERS) {
      throw new Error(
        `the arguments of ${name} have ${json.length} characters of JSON, more than ${MAX_CALL_CHARACTERS}`,
      );
    }
    const id = this.#count++;
    this.#calls.push({ id, kind, json });
    this.#running.set(id, name);
    if (this.#calls.length === CALLS_AT_ONCE) this.#onCalls(this.takeCalls());
    return id;
  }

  #print(text: string): void {
    const room = Math.max(0, this.#limits.maxOutput - this.#printed);
    const kept = text.slice(0, room);
    this.#printed += kept.length;
    this.#dropped += text.length - kept.length;
    if (kept !== "") this.#output.push(kept);
  }

  #finish(type: "returned" | "threw", text: string): void {
    if (this.#finished) return;
    const room = Math.max(0, this.#limits.maxOutput - this.#printed);
    const readable = type === "threw" ? readableError(text) : text.slice(0, room);
    if (type === "returned") this.#dropped += text.length - readable.length;
    this.#finished = { type, text: readable };
  }

  /** Runs the script until it waits, and returns its outcome if it has ended. */
  #segment(work: () => void): ScriptEnd | undefined {
    this.#segmentStart = performance.now();
    try {
      work();
      if (!this.#finished) this.#vm.executePendingJobs();
    } catch (error) {
      // An interruption arrives here as an error; so does an out-of-memory error that no code of the script could
      // catch.
      if (this.#stopped === undefined) this.#finished ??= { type: "threw", text: errorText(error) };
    }
    this.#cpuMs = this.#spentMs();
    this.#segmentStart = 0;
    if (this.#stopped !== undefined) return this.#end({ type: "stopped", text: this.#stopped });
    if (this.#finished) return this.#end(this.#finished);
    if (this.#running.size > 0) return undefined;
    return this.#end({ type: "threw", text: "The script waits for something that cannot happen." });
  }

  #spentMs(): number {
    return this.#cpuMs + (this.#segmentStart === 0 ? 0 : performance.now() - this.#segmentStart);
  }

  #end(how: Pick<ScriptEnd, "type" | "text">): ScriptEnd {
    // Calls made in the last steps of the script, which were not passed on yet, are never started.
    this.#calls = [];
    return { ...how, unawaited: [...this.#running.values()], dropped: this.#dropped };
  }
}

/** A string from the prelude. It passes nothing else. */
function textOf(handle: JSValueHandle | undefined): string {
  return handle === undefined ? "" : handle.toString();
}

function errorText(error: unknown): string {
  const { name, message, stack } = error as Error;
  return readableError(`${name}: ${message}\n${stack ?? ""}`);
}

/** The message with the lines of the script, without those of the prelude. */
function readableError(text: string): string {
  const [message = "", ...stack] = text.slice(0, MAX_ERROR_CHARACTERS).split(/\n(?=\s+at )/);
  const places = stack.map((line) => line.trim()).filter((line) => line.includes(`${SCRIPT}:`));
  return [message.trim(), ...places.slice(0, MAX_STACK_LINES).map((place) => `  ${place}`)].join("\n");
}

/** FNV-1a, never 0. */
function hash(text: string): bigint {
  let value = 0xcbf29ce484222325n;
  for (let index = 0; index < text.length; index++) {
    value = BigInt.asUintN(64, (value ^ BigInt(text.charCodeAt(index))) * 0x100000001b3n);
  }
  return value === 0n ? 1n : value;
}
