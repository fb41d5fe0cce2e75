import { shellHasUlimit } from "./limits.js";
import { hasProcessTable } from "./processTable.js";
import { sandboxStatus } from "./sandbox.js";

/** One protection of `run_bash` and whether this system provides it. */
export interface Mechanism {
  readonly name: string;
  readonly works: boolean;
  /** What that means, for a person. */
  readonly detail: string;
}

/** Says which limits and protections work on this system with this shell, for `agent doctor`. */
export async function describePlatform(shell = "/bin/sh"): Promise<Mechanism[]> {
  const table = hasProcessTable();
  const ulimit = shellHasUlimit(shell);
  const sandbox = await sandboxStatus();
  return [
    { name: "timeout", works: true, detail: "the command and its process group are ended" },
    {
      name: "limits per process",
      works: ulimit,
      detail: ulimit
        ? `ulimit of ${shell}: CPU time, data size, file size${isRoot() ? "; the process limit does not bind root" : ", processes"}`
        : `the ulimit of ${shell} is not known; use sh, dash, bash, ksh or zsh`,
    },
    {
      name: "limits for the whole tree",
      works: table,
      detail: table
        ? "memory, CPU time and processes are added up from /proc"
        : `${process.platform} has no /proc: only the limits per process hold`,
    },
    {
      name: "ending what left the process group",
      works: table,
      detail: table
        ? "found by parentage and by a mark in the environment"
        : `${process.platform} has no /proc: a daemon that called setsid is not found`,
    },
    {
      name: "sandbox",
      works: sandbox.level !== "none",
      detail: sandbox.problem ?? "bubblewrap: read-only system, writable workspace, own process table",
    },
  ];
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
