import type { ChildProcess } from "node:child_process";
import { HELPER_ENVIRONMENT, onAbort } from "@agent/core/toolkit";
import type { CommandNetwork } from "../sandbox/network/commandNetwork.js";
import { feedInputs } from "./inputs.js";
import { spawn } from "./spawn.js";

const TIMEOUT_MS = 10_000;
const MAX_CHARACTERS = 4096;

interface ProbeOptions {
  readonly signal?: AbortSignal | undefined;
  /** Input for file descriptors 3, 4… of the program. */
  readonly inputs?: readonly Uint8Array[];
  /** Descriptors that follow the inputs. */
  readonly descriptors?: readonly ("pipe" | number)[];
  /** Called when it has been started. */
  readonly onStart?: (child: ChildProcess) => void;
  /** The proxy of a command in a sandbox. */
  readonly network?: CommandNetwork | undefined;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whether it gets its own session, without a terminal, as every command of a tool does. */
  readonly detached?: boolean;
}

interface Probe {
  /** `null` if it was killed: on abort or timeout. */
  readonly code: number | null;
  /** The start of its output. */
  readonly output: string;
}

/**
 * Runs a program to query it, without standard input and without the agent's variables, and resolves to the start of
 * one output stream. Rejects if it cannot be started.
 */
export function probeProgram(
  program: string,
  args: readonly string[],
  stream: "stdout" | "stderr",
  {
    signal,
    inputs = [],
    descriptors = [],
    onStart,
    network,
    env = HELPER_ENVIRONMENT,
    cwd,
    detached = false,
  }: ProbeOptions = {},
): Promise<Probe> {
  return new Promise((resolve, reject) => {
    let output = "";
    const child = spawn(program, args, {
      stdio: [
        network ? "ipc" : "ignore",
        stream === "stdout" ? "pipe" : "ignore",
        stream === "stderr" ? "pipe" : "ignore",
        ...inputs.map(() => "pipe" as const),
        ...descriptors,
      ],
      timeout: TIMEOUT_MS,
      killSignal: "SIGKILL",
      env,
      cwd,
      detached,
    });
    feedInputs(child, inputs);
    if (child.pid !== undefined) onStart?.(child);
    network?.attach(child);
    // Do not pass `signal` to `spawn`: it adds a listener per run, and Node warns about the eleventh on one signal.
    const release = onAbort(signal, () => {
      child.kill("SIGKILL");
      // Do not wait for the stream: a process that the program started may hold it open.
      resolve({ code: null, output });
    });
    child[stream]?.setEncoding("utf8").on("data", (text: string) => {
      if (output.length < MAX_CHARACTERS) output = (output + text).slice(0, MAX_CHARACTERS);
    });
    child.on("error", (error) => {
      release();
      reject(error);
    });
    // Not "close" of the process: with an IPC channel that this side has closed, Node does not emit it.
    child.on("exit", (code) => {
      const finish = (): void => {
        release();
        resolve({ code, output });
      };
      const rest = child[stream];
      if (rest === null || rest.closed) finish();
      else rest.once("close", finish);
    });
  });
}
