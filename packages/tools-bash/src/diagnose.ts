import type { Diagnosis } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { confirmShell } from "./command/confirmShell.js";
import { ControlGroup } from "./processes/controlGroup.js";
import { shellHasUlimit } from "./processes/limits.js";
import { ProcessTable } from "./processes/processTable.js";
import { Sandbox } from "./sandbox/sandbox.js";
import { testSandbox } from "./sandbox/selfTest.js";
import { resolveSandbox } from "./sandbox/settings.js";
import { findPowerShell, NO_BASH, type WindowsShell } from "./windows/shells.js";

const ANY_LIMITS = { memoryMb: 1024, processes: 1024 };

/** Reports which limits and protections work on this system with this shell, for `agent doctor`. */
export async function diagnose(shell = "/bin/sh", windowsShell?: () => WindowsShell): Promise<Diagnosis[]> {
  if (windowsShell) return await diagnoseWindows(windowsShell, findPowerShell());
  const table = new ProcessTable().isAvailable;
  const ulimit = shellHasUlimit(shell);
  const group = canGroup();
  const limitsMemory = group && canLimitMemory();
  const sandbox = await new Sandbox(resolveSandbox("auto")).status();
  return [
    { subject: "timeout", ok: true, detail: "the command and its process group are stopped" },
    {
      subject: "limits per process",
      ok: ulimit,
      detail: ulimit
        ? `ulimit of ${shell}: CPU time, data size, file size${isRoot() ? "; the process limit does not bind root" : ", processes"}`
        : `the ulimit of ${shell} is not known; use sh, dash, bash, ksh or zsh`,
    },
    {
      subject: "limits for the whole tree",
      ok: table,
      detail: table
        ? "memory, CPU time and processes are added up from /proc"
        : `${process.platform} has no /proc: only the limits per process hold`,
    },
    {
      subject: "ending what left the process group",
      ok: table,
      detail: table
        ? "found by parentage and by a tag in the environment"
        : `${process.platform} has no /proc: a daemon that called setsid is not found`,
    },
    {
      subject: "control group",
      ok: group,
      detail: group
        ? `the kernel adds up CPU time of processes that ended unseen${limitsMemory ? ", and holds the whole tree to its memory limit" : "; it cannot hold the whole tree to a memory limit, because this user has no memory controller"}`
        : "this user may make none: CPU time of detached short processes is not seen without a sandbox",
    },
    {
      subject: "sandbox",
      ok: sandbox.level !== "none" && sandbox.weaknesses.length === 0,
      detail:
        sandbox.problem ??
        [
          `${sandbox.program ?? sandbox.level}: read-only system, writable workspace${sandbox.program ? ", own processes" : ""}`,
          ...sandbox.weaknesses,
        ].join("; "),
    },
    ...(sandbox.level === "none" ? [] : inOneRow(await testSandbox())),
  ];
}

/** The result of the self-test in one row, and a row for each escape that was not blocked. */
function inOneRow(attempts: readonly Diagnosis[]): Diagnosis[] {
  const open = attempts.filter(({ ok }) => !ok);
  const detail = `${attempts.length} ways out tried, ${open.length === 0 ? "all" : attempts.length - open.length} blocked`;
  return [{ subject: "sandbox test", ok: open.length === 0, detail }, ...open];
}

/** The protections available on Windows. */
export async function diagnoseWindows(
  findShell: () => WindowsShell,
  powershell: WindowsShell | undefined,
): Promise<Diagnosis[]> {
  const instead = powershell
    ? `run_powershell can be enabled: it uses ${powershell.label}`
    : "and PowerShell was not found";
  const problem = await shellProblem(findShell);
  return [
    {
      subject: "commands",
      ok: problem === undefined,
      detail:
        problem === undefined
          ? `run_bash uses ${findShell().label}; ${instead}`
          : `${problem} Here ${instead}`,
    },
    {
      subject: "timeout",
      ok: true,
      detail: "the command and its child processes are stopped by taskkill /T",
    },
    {
      subject: "limits",
      ok: false,
      detail:
        "Windows has none of the limits for memory, CPU time, processes and file size. Run agent in WSL to have them",
    },
    { subject: "sandbox", ok: false, detail: "Windows has none. Run agent in WSL to have one" },
  ];
}

/** Why `run_bash` cannot run commands. WSL may be installed without a distribution. */
async function shellProblem(findShell: () => WindowsShell): Promise<string | undefined> {
  try {
    const { kind, program } = findShell();
    if (kind === "wsl") await confirmShell(program, ["--exec", "bash"], NO_BASH);
    return undefined;
  } catch (error) {
    return errorMessage(error).replace(" Nothing was run.", "");
  }
}

function canGroup(): boolean {
  const group = ControlGroup.create(ANY_LIMITS);
  group?.remove();
  return group !== undefined;
}

function canLimitMemory(): boolean {
  const group = ControlGroup.createLimitingMemory(ANY_LIMITS);
  group?.remove();
  return group !== undefined;
}

function isRoot(): boolean {
  return process.getuid?.() === 0;
}
