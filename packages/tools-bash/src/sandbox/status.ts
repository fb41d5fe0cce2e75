import { mountArguments, seccompFilter } from "@agent/core/sandbox";
import { errorMessage, findProgram } from "@agent/core/toolkit";
import { probeProgram } from "../helpers/probe.js";
import { planMounts } from "./mounts.js";
import { probeBehindGate } from "./probeGate.js";
import { seatbeltProblem } from "./seatbelt.js";

/** The sandbox program in use for a command. */
export type SandboxLevel = "none" | "bubblewrap" | "sandbox-exec";

/** Whether and how commands can be sandboxed on this system. */
export interface SandboxStatus {
  readonly level: SandboxLevel;
  /** The path of bubblewrap, if it works. */
  readonly program?: string;
  /** Why no sandbox works. */
  readonly problem?: string;
  /** Whether the sandbox gets a user namespace. Without one, root in the sandbox is root outside, without capabilities. */
  readonly userNamespace: boolean;
  /** Whether private file systems can be limited in size. */
  readonly sizes: boolean;
  /** Protections that are weaker on this system, as text for a user. */
  readonly weaknesses: readonly string[];
}

const NONE = { level: "none" as const, userNamespace: false, sizes: false, weaknesses: [] };
/** The minimum that every command gets; the rest cannot fail if this works. */
const BASE = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"];
const NAMESPACES = ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--cap-drop", "ALL", "--clearenv"];

/**
 * Finds a sandbox program and tests it. `writable` are directories that commands may change: no program in there is
 * used.
 */
export async function findSandbox(writable: readonly string[]): Promise<SandboxStatus> {
  if (process.platform === "darwin") {
    const problem = await seatbeltProblem();
    return problem === undefined ? { ...NONE, level: "sandbox-exec" } : { ...NONE, problem };
  }
  if (process.platform !== "linux") {
    return { ...NONE, problem: `There is no sandbox for ${process.platform}.` };
  }
  const program = findProgram("bwrap", writable);
  if (program === undefined) {
    return {
      ...NONE,
      problem:
        "bubblewrap (bwrap) is not installed, or only where commands can change it. Install it with the system's package manager.",
    };
  }
  const run = (...options: string[]) =>
    tryRun(program, [...BASE, ...NAMESPACES, ...options, "--", "/bin/sh", "-c", ":"]);
  const complaint = await run("--unshare-user");
  const isRoot = process.getuid?.() === 0;
  if (complaint !== undefined && (!isRoot || (await run()) !== undefined)) {
    return { ...NONE, problem: `bubblewrap does not work here: ${complaint}.` };
  }
  const userNamespace = complaint === undefined;
  const sizes = (await run("--size", "4096", "--tmpfs", "/tmp")) === undefined;
  const unchecked = await tryGate(program, userNamespace);
  if (unchecked !== undefined) {
    return { ...NONE, problem: `What bubblewrap mounts cannot be checked here: ${unchecked}` };
  }
  return {
    level: "bubblewrap",
    program,
    userNamespace,
    sizes,
    weaknesses: [
      ...(userNamespace
        ? []
        : [
            `no user namespace (${complaint}): root in the sandbox is root outside without capabilities, and writes what root owns in the workspace`,
          ]),
      ...(seccompFilter({ unixSockets: false })
        ? []
        : [
            `no system-call filter for ${process.arch}: sockets that listen are hidden one by one, and later ones are in reach`,
          ]),
      ...(sizes ? [] : ["bubblewrap before 0.7: private /tmp and /dev/shm have no size limit"]),
    ],
  };
}

/** Why the mounts of a sandbox cannot be verified; `undefined` if they can. */
async function tryGate(program: string, userNamespace: boolean): Promise<string | undefined> {
  try {
    const mounts = planMounts({ writable: [], shown: [], hidden: [] }, [], undefined);
    const options = [...mountArguments(mounts), ...NAMESPACES, ...(userNamespace ? ["--unshare-user"] : [])];
    const argv = [program, ...options, "--info-fd", "3", "--block-fd", "4", "--", "/bin/sh", "-c", ":"];
    const { code, output } = await probeBehindGate({ argv, mounts }, "stderr");
    return code === 0 ? undefined : output.trim() || `exit code ${code}`;
  } catch (error) {
    return errorMessage(error);
  }
}

/** The program's error message; `undefined` if it succeeds. */
function tryRun(program: string, args: readonly string[]): Promise<string | undefined> {
  return probeProgram(program, args, "stderr").then(
    ({ code, output }) => (code === 0 ? undefined : output.trim() || `exit code ${code}`),
    (error: Error) => error.message,
  );
}
