import { existsSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { isInside } from "@agent/core/toolkit";
import { runShortly } from "./shortRun.js";

/** `off`: no sandbox. `auto`: one if the system has it. `require`: nothing runs without. */
export type SandboxMode = "off" | "auto" | "require";

export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** `false` cuts commands off from the network. Default `true`. */
  readonly network?: boolean;
  /** Directories that may be written besides the agent's working directory. */
  readonly writable?: readonly string[];
}

/** The level in force for a command. */
export type SandboxLevel = "none" | "bubblewrap";

export interface SandboxStatus {
  readonly level: SandboxLevel;
  /** Why there is none. */
  readonly problem?: string;
}

/** Puts a sandbox around commands: the file system read-only but for the workspace, and a process table of their own. */
export class Sandbox {
  readonly mode: SandboxMode;
  readonly #network: boolean;
  readonly #writable: readonly string[];

  constructor(options: SandboxMode | SandboxOptions = "off") {
    const { mode, network = true, writable = [] } = typeof options === "string" ? { mode: options } : options;
    this.mode = mode;
    this.#network = network;
    this.#writable = writable;
  }

  /** The level for the next command. Throws in `require` mode if there is no sandbox. */
  async level(): Promise<SandboxLevel> {
    if (this.mode === "off") return "none";
    const status = await sandboxStatus();
    if (status.level === "none" && this.mode === "require") {
      throw new Error(
        `A sandbox is required (sandbox: "require") and there is none: ${status.problem} Nothing was run.`,
      );
    }
    return status.level;
  }

  /** The command line that runs `argv` inside. `readable` is shown although /tmp is the sandbox's own. */
  wrap(argv: readonly string[], cwd: string, workspace: string, readable: string | undefined): string[] {
    const writable = [workspace, ...this.#writable.map((path) => resolve(path))];
    // Outside the workspace a directory under /tmp would be hidden by the sandbox's own.
    const shown = [readable, isInside("/tmp", cwd) ? cwd : undefined].filter((path) => path !== undefined);
    return [
      bubblewrap() ?? "bwrap",
      // First, because it would cover what is mounted below it.
      ...[writable.includes("/") ? "--bind" : "--ro-bind", "/", "/"],
      ...["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"],
      ...shown.flatMap((path) => ["--ro-bind", path, path]),
      ...writable.filter((path) => path !== "/").flatMap((path) => ["--bind-try", path, path]),
      ...["--unshare-pid", "--unshare-ipc", "--die-with-parent"],
      ...(this.#network ? [] : ["--unshare-net"]),
      ...["--chdir", cwd, "--"],
      ...argv,
    ];
  }
}

let status: Promise<SandboxStatus> | undefined;

/** Whether commands can be sandboxed on this system, tried once with a real one. */
export function sandboxStatus(): Promise<SandboxStatus> {
  status ??= probe();
  return status;
}

async function probe(): Promise<SandboxStatus> {
  if (process.platform !== "linux") {
    return { level: "none", problem: `There is no sandbox for ${process.platform}.` };
  }
  if (bubblewrap() === undefined) {
    return { level: "none", problem: "bubblewrap (bwrap) is not installed." };
  }
  const [program = "", ...args] = new Sandbox("auto").wrap(["/bin/sh", "-c", ":"], "/", "/tmp", undefined);
  const complaint = await tryRun(program, args);
  return complaint === undefined
    ? { level: "bubblewrap" }
    : { level: "none", problem: `bubblewrap does not work here: ${complaint}.` };
}

function bubblewrap(): string | undefined {
  const directories = (process.env.PATH ?? "").split(delimiter).filter((path) => path.startsWith("/"));
  return directories.map((path) => join(path, "bwrap")).find((path) => existsSync(path));
}

/** What the program complains about; `undefined` if it succeeds. */
function tryRun(program: string, args: readonly string[]): Promise<string | undefined> {
  return runShortly(program, args, "stderr").then(
    ({ code, said }) => (code === 0 ? undefined : said.trim() || `exit code ${code}`),
    (error: Error) => error.message,
  );
}
