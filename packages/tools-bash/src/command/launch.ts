import type { ChildProcess } from "node:child_process";
import { closeSync, writeSync } from "node:fs";
import type { Readable } from "node:stream";
import { type Mount, passGate, type StdioEntry, withoutInherited } from "@agent/core/sandbox";
import { errorMessage, quoteForShell } from "@agent/core/toolkit";
import { FIRST_INPUT, feedInputs } from "../helpers/inputs.js";
import { SYSTEM_SHELL, spawn } from "../helpers/spawn.js";
import type { PipePool } from "../output/pipes.js";
import type { SandboxedStart } from "../sandbox/sandbox.js";
import type { Script } from "./script.js";

/** A running shell and its output. */
export interface ShellProcess {
  readonly child: ChildProcess;
  readonly pid: number;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * In a sandbox: resolves to whether the command may run now; `false` if the sandbox exited before that. Rejects if
   * the sandbox is not the requested one; the process must then be killed.
   */
  readonly entered?: Promise<boolean> | undefined;
}

export interface LaunchOptions {
  readonly shell: string;
  readonly script: Script;
  /** Passed as `"$@"`. */
  readonly args: readonly string[];
  /** Shell text to run first, ending in `; `. */
  readonly prelude: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Wraps the shell and its arguments in a sandbox. */
  readonly enterSandbox?: ((argv: readonly string[]) => Promise<SandboxedStart>) | undefined;
}

/**
 * Starts the shell as leader of its own session and process group: it has no terminal, so no program can prompt on the
 * user's, and the whole group can be killed in one step. Standard input is empty.
 */
export async function launchShell(options: LaunchOptions, pool: PipePool): Promise<ShellProcess> {
  const pipes = [await pool.open(), await pool.open()] as const;
  try {
    const start = await startOf(options);
    const gate = start.mounts && (await pool.openBothEnds());
    const { child, pid } = await spawnShell(
      options,
      start,
      [pipes[0]?.fd ?? "pipe", pipes[1]?.fd ?? "pipe"],
      gate,
    ).catch((error: unknown) => {
      if (gate !== undefined) closeSync(gate);
      throw error;
    });
    const entered = gate === undefined ? undefined : enter(child, start, gate);
    const [stdout, stderr] = [pipes[0]?.stream ?? child.stdout, pipes[1]?.stream ?? child.stderr];
    if (stdout === null || stderr === null) throw new Error("The shell started without its output.");
    return { child, pid, stdout, stderr, entered };
  } catch (error) {
    for (const pipe of pipes) pipe?.stream.destroy();
    throw error;
  } finally {
    // Close our copies of the write ends: while the agent holds one, reading never reaches the end of the file.
    for (const pipe of pipes) if (pipe) closeSync(pipe.fd);
  }
}

/** The program to start with its arguments, and the input for further file descriptors. */
interface Start {
  readonly argv: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly inputs: readonly Uint8Array[];
  /** In a sandbox, the mounts to verify before the command may run. */
  readonly mounts?: readonly Mount[] | undefined;
  readonly network?: SandboxedStart["network"];
  readonly isProxyOpen?: SandboxedStart["isProxyOpen"];
}

function enter(child: ChildProcess, { inputs, mounts = [] }: Start, gate: number): Promise<boolean> {
  const info = child.stdio[FIRST_INPUT + inputs.length] as Readable;
  const entered = passGate({ info, open: () => void writeSync(gate, "x") }, mounts).finally(() => {
    closeSync(gate);
    info.destroy();
  });
  // The caller may start to wait for it later.
  entered.catch(() => undefined);
  return entered;
}

async function startOf({
  shell,
  script,
  prelude,
  args,
  cwd,
  env,
  enterSandbox,
}: LaunchOptions): Promise<Start> {
  const body = script.file === undefined ? script.text : `. ${quoteForShell(script.file)}`;
  if (enterSandbox === undefined) {
    return { argv: [shell, "-c", prelude + body, "sh", ...args], cwd, env, inputs: [] };
  }
  const start = await enterSandbox([shell, "-c", body, "sh", ...args]);
  // The limits are set outside, before any part of the call runs: a variable of the call could undo them.
  const limited =
    prelude === "" ? start.argv : [SYSTEM_SHELL, "-c", `${prelude}exec "$@"`, "sh", ...start.argv];
  return { ...start, argv: limited };
}

function spawnShell(
  options: LaunchOptions,
  { argv: [program = "", ...args], cwd, env, inputs, network, isProxyOpen }: Start,
  output: readonly [number | "pipe", number | "pipe"],
  gate: number | undefined,
) {
  return new Promise<{ child: ChildProcess; pid: number }>((resolve, reject) => {
    const fail = (error: unknown): void => reject(new Error(startFailure(error, options)));
    try {
      const stdio: StdioEntry[] = [
        network && !isProxyOpen ? "ipc" : "ignore",
        ...output,
        ...inputs.map(() => "pipe" as const),
        ...(gate === undefined ? [] : (["pipe", gate] as const)),
      ];
      const start = (given: readonly StdioEntry[]): ChildProcess =>
        spawn(program, args, { cwd, env, detached: true, stdio: [...given] });
      const child = options.enterSandbox ? withoutInherited(stdio, start) : start(stdio);
      child.once("error", fail);
      if (child.pid === undefined) return; // "error" follows
      feedInputs(child, inputs);
      if (!isProxyOpen) network?.attach(child);
      resolve({ child, pid: child.pid });
    } catch (error) {
      fail(error);
    }
  });
}

function startFailure(error: unknown, { shell, args, env, script }: LaunchOptions): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "E2BIG") {
    const sizes = [script.text, ...args].map((text) => Buffer.byteLength(text));
    const variables = Object.entries(env).map(([name, value]) => Buffer.byteLength(name + value) + 2);
    const total = [...sizes, ...variables].reduce((sum, size) => sum + size, 0);
    return `The command, its arguments and its environment are ${total} bytes together, more than the system passes to a program. Write the data to a file and pass the path.`;
  }
  if (code === "ENOENT" || code === "EACCES") return `The shell ${shell} cannot be started: ${code}.`;
  return `The shell ${shell} cannot be started: ${errorMessage(error)}`;
}
