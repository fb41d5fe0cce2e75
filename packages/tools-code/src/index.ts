import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { definePack, defineTool } from "@agent/core";
import { truncateMiddle } from "@agent/core/toolkit";
import { Catalog } from "./catalog.js";
import { type ScriptOutcome, ScriptRun } from "./scriptRun.js";

/** Options of the pack. */
interface CodeOptions {
  /** The CPU time of a script in milliseconds. Waiting for its calls does not count. Default 10000. */
  readonly cpuMs?: number;
  /** Milliseconds until a script is stopped, with everything it waits for. Default 1800000 (30 minutes). */
  readonly timeoutMs?: number;
  /** The memory limit of a script in megabytes. Default 64. */
  readonly memoryMb?: number;
  /** The maximum number of calls of a script. Default 1000. */
  readonly maxCalls?: number;
  /** The maximum number of characters of output that the model gets; longer output goes to a file. Default 20000. */
  readonly maxOutput?: number;
  /**
   * The approximate number of tokens of tool declarations for the model. Further tools are found with `find`. Default
   * 2000.
   */
  readonly declarationTokens?: number;
}

const OPTIONS = {
  type: "object",
  properties: {
    cpuMs: { type: "integer", minimum: 1, maximum: 3_600_000 },
    timeoutMs: { type: "integer", minimum: 1, maximum: 24 * 3_600_000 },
    memoryMb: { type: "integer", minimum: 4, maximum: 1024 },
    maxCalls: { type: "integer", minimum: 1, maximum: 100_000 },
    maxOutput: { type: "integer", minimum: 1000, maximum: 1_000_000 },
    declarationTokens: { type: "integer", minimum: 0, maximum: 50_000 },
  },
  additionalProperties: false,
} as const;

function withDefaults(options: CodeOptions): Required<CodeOptions> {
  return {
    cpuMs: 10_000,
    timeoutMs: 30 * 60_000,
    memoryMb: 64,
    maxCalls: 1000,
    maxOutput: 20_000,
    declarationTokens: 2000,
    ...options,
  };
}

export type { CodeOptions };

declare module "@agent/core" {
  interface NamedPacks {
    "@agent/tools-code": { register: typeof register };
  }
}

const RUN_SCRIPT = "run_script";
// The maximum number of characters that a script may print and return; the rest is dropped.
const MAX_OUTPUT = 8 * 1024 * 1024;

const DESCRIPTION = `Run a JavaScript or TypeScript program that calls your other tools. Use it for many calls, or for results that need filtering, counting or combining: only what the program prints or returns comes back to you.
- \`await tools.NAME(args)\` calls a tool. It takes the same arguments as the function NAME and needs the same approval. A call that fails or is denied throws a ToolError whose message is the reason. Calls in Promise.all run at the same time.
- \`print(value)\` and \`return value\` are the result. \`await find("words")\` lists further tools, \`await describe("name")\` shows one whole, \`await agent({ task, tools? })\` starts a child agent and returns its answer. Agents that can only read run at the same time, others one after the other.
- There are no imports, files, network, timers or clock: use tools. Await every call.
`;

/** Registers `run_script`, enabled. Throws for an unknown or mistyped option. */
export const { packName, packApiVersion, followsDirectory, needs, register } = definePack({
  name: "@agent/tools-code",
  options: OPTIONS,
  followsDirectory: true,
  needs: { calls: true },
  setup(host, registry) {
    const options = withDefaults(host.options);
    const threads = new Threads();
    const files = new OutputFiles();
    const catalog = new Catalog(registry, RUN_SCRIPT);
    const runScript = (declarations: string) =>
      scriptTool(`${DESCRIPTION}${declarations}`, options, catalog, threads, files);
    let isDeclared = false;
    // All packs are registered before the first request. The text never changes afterwards, so that it stays in the
    // prompt cache when tools change.
    registry.onRefresh?.((later) => {
      if (isDeclared) return;
      isDeclared = true;
      if (!later.describeTool) return;
      later.unregister(RUN_SCRIPT);
      later.register(runScript(catalog.declare(options.declarationTokens)));
    });
    return {
      tools: [runScript("")],
      warmUp: () => threads.warmUp(),
      dispose: async () => {
        await Promise.all([threads.dispose(), files.dispose()]);
      },
    };
  },
});

function scriptTool(
  description: string,
  options: Required<CodeOptions>,
  catalog: Catalog,
  threads: Threads,
  files: OutputFiles,
) {
  const { cpuMs, memoryMb, maxCalls, timeoutMs, maxOutput } = options;
  const limits = { cpuMs, memoryBytes: memoryMb * 1024 * 1024, maxCalls, maxOutput: MAX_OUTPUT };
  return defineTool({
    name: RUN_SCRIPT,
    description,
    input: {
      type: "object",
      properties: {
        script: { type: "string", minLength: 1, description: "The body of an async function" },
      },
      required: ["script"],
      additionalProperties: false,
    },
    // The call itself does nothing: its nested calls are decided about individually, by their own capabilities.
    capabilities: ["read"],
    kind: "execute",
    // All its effects are calls. A journal has their results, and the same script makes the same calls again.
    repeatable: true,
    // The script's own limits stop it; a nested call may wait for approval longer than the registry would.
    deadlineMs: Number.POSITIVE_INFINITY,
    describe: ({ script }) => ({ title: titleOf(script), targets: [] }),
    async execute({ script }, call) {
      const outcome = await threads.use(
        async (worker) => {
          const wasm = await compiledEngine();
          return await new ScriptRun(worker, { wasm, script, limits, timeoutMs, catalog, call }).run();
        },
        ({ type }) => type !== "stopped",
      );
      const { type, calls } = outcome;
      // A display shows what was printed: the returned value, or the error, belongs to it.
      const ending = endingOf(outcome);
      if (outcome.output !== "" && ending !== "") call.onOutput(ending.slice(0, maxOutput));
      const text = await resultText(outcome, maxOutput, files);
      const summary = `${calls} ${calls === 1 ? "call" : "calls"}`;
      call.report({
        ok: type === "returned",
        summary: type === "returned" ? summary : `${summary}, ${type === "threw" ? "failed" : "stopped"}`,
        view: { type: "output", text },
      });
      return text;
    },
  });
}

/** The first meaningful line of a script. */
function titleOf(script: string): string {
  const lines = script.split("\n").map((line) => line.replace(/^\s*(\/\/|\/\*+|\*)\s*/, "").trim());
  return (lines.find((line) => line !== "") ?? "").slice(0, 200);
}

async function resultText(outcome: ScriptOutcome, maxOutput: number, files: OutputFiles): Promise<string> {
  const { output, unawaited, dropped, unattached } = outcome;
  const whole = `${output}${endingOf(outcome)}`;
  const notes = [
    ...(unawaited.length > 0
      ? [
          `[${unawaited.length} ${unawaited.length === 1 ? "call was" : "calls were"} not awaited and aborted: ${[...new Set(unawaited)].join(", ")}. Await every call.]`,
        ]
      : []),
    ...(unattached > 0 ? [`[${unattached} images or files did not fit into the result.]`] : []),
    ...(dropped > 0 ? [`[${dropped} characters of output beyond ${MAX_OUTPUT} were dropped.]`] : []),
  ];
  if (whole.length <= maxOutput) return joined([whole, ...notes]);
  const path = await files.write(whole);
  const where = path === undefined ? "It could not be written to a file." : `The whole output is in ${path}.`;
  return joined([truncateMiddle(whole, maxOutput, where), ...notes]);
}

/** What follows the output. */
function endingOf({ type, text, output }: ScriptOutcome): string {
  const ending = type === "stopped" ? `The script was stopped: ${text}.` : text;
  return output === "" || output.endsWith("\n") ? ending : `\n${ending}`;
}

function joined(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n") || "The script returned nothing.";
}

/** Files for output that is too long for the model, in a private directory that is removed with the agent. */
class OutputFiles {
  #directory: Promise<string> | undefined;
  #count = 0;

  /** The path of a new file, or `undefined` if it cannot be written. */
  async write(text: string): Promise<string | undefined> {
    try {
      this.#directory ??= mkdtemp(join(tmpdir(), "agent-script-"));
      const path = join(await this.#directory, `output-${++this.#count}.txt`);
      await writeFile(path, text, { mode: 0o600, flag: "wx" });
      return path;
    } catch {
      return undefined;
    }
  }

  async dispose(): Promise<void> {
    const directory = await this.#directory?.catch(() => undefined);
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  }
}

/** The threads of one registration: a script gets its own, and one free thread is kept for the next. */
class Threads {
  #spare: Worker | undefined;
  #isDisposed = false;

  /** Starts a thread ahead of the first script. */
  warmUp(): void {
    if (!this.#isDisposed) this.#spare ??= startThread();
    compiledEngine().catch(() => undefined);
  }

  /** Runs `work` with its own thread. A thread whose work failed, or which `isReusable` rejects, is terminated. */
  async use<T>(work: (worker: Worker) => Promise<T>, isReusable: (result: T) => boolean): Promise<T> {
    const worker = this.#spare ?? startThread();
    this.#spare = undefined;
    worker.ref();
    let isFree = false;
    try {
      const result = await work(worker);
      isFree = isReusable(result);
      return result;
    } finally {
      if (isFree && this.#spare === undefined && !this.#isDisposed) {
        worker.unref();
        this.#spare = worker;
      } else await worker.terminate();
    }
  }

  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await this.#spare?.terminate();
  }
}

let engine: Promise<WebAssembly.Module> | undefined;

/** The interpreter, compiled once for the process: functions that V8 has optimized stay so for later threads. */
async function compiledEngine(): Promise<WebAssembly.Module> {
  engine ??= readFile(createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm")).then((bytes) =>
    WebAssembly.compile(bytes),
  );
  try {
    return await engine;
  } catch (error) {
    // The next script tries again: the process may have had no free file descriptor.
    engine = undefined;
    throw error;
  }
}

function startThread(): Worker {
  // Without the environment, and without an output that could reach the terminal.
  const worker = new Worker(new URL("./worker.js", import.meta.url), {
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  worker.unref();
  // A thread that fails while no script uses it must not crash the process.
  worker.on("error", () => undefined);
  return worker;
}
