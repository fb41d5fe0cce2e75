import { fstatSync, readFileSync } from "node:fs";
import { delay, errorMessage, quotePath } from "@agent/internal";
import { withOpened } from "./inspect.js";
import { expectedIdentity, type Mount } from "./mounts.js";

/** bubblewrap drops its capabilities once all mounts exist, and waits for the gate right after that. */
const NO_CAPABILITIES = /^CapPrm:\s*0+$/m;
const CHILD_PID = /"child-pid":\s*(\d+)\s*[,}]/;
const RECHECK_MS = 5;
const POLL_MS = 1;
const FILE_SYSTEMS = {
  bind: undefined,
  device: undefined,
  "empty file": undefined,
  tmpfs: "tmpfs",
  dev: "tmpfs",
  proc: "proc",
};

/** A readable stream. Declared here, since programs with these declarations may not have Node's types. */
interface Source {
  on(event: string, listener: (chunk: { toString(): string }) => void): unknown;
  once(event: string, listener: () => void): unknown;
}

/** The agent's ends of a gate. */
export interface Gate {
  /** What bubblewrap writes to its `--info-fd`. */
  readonly info: Source;
  /**
   * Writes to bubblewrap's `--block-fd`. bubblewrap also runs the command at end of file, for example when the agent
   * dies.
   */
  open(): void;
}

/**
 * Lets the command run once its mounts are verified. bubblewrap resolves paths again when it mounts, and a concurrent
 * command may have replaced a directory with a symlink. Throws in that case: the command has not started and never
 * will. Resolves to `false` if bubblewrap exited by itself.
 */
export async function passGate({ info, open }: Gate, mounts: readonly Mount[]): Promise<boolean> {
  const pid = await childPid(info);
  if (pid === undefined) return false;
  for (;;) {
    const status = read(`/proc/${pid}/status`);
    if (status === undefined) return false;
    if (NO_CAPABILITIES.test(status)) break;
    await delay(POLL_MS);
  }
  let problem = findDifference(pid, mounts);
  if (problem !== undefined) {
    // A setuid bubblewrap becomes readable for this user only a moment after it has dropped its capabilities.
    await delay(RECHECK_MS);
    problem = findDifference(pid, mounts);
  }
  if (problem !== undefined) {
    kill(pid);
    throw new Error(
      `${problem} while the sandbox was being prepared: another command may be changing the directory. Nothing was run. Try again when nothing else runs there.`,
    );
  }
  open();
  return true;
}

/** Kills a process that waits at the gate: it does not exit together with bubblewrap yet. */
function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It exited by itself.
  }
}

function childPid(info: Source): Promise<number | undefined> {
  return new Promise((resolve) => {
    let text = "";
    const find = (): void => {
      const [, pid] = CHILD_PID.exec(text) ?? [];
      if (pid !== undefined) resolve(Number(pid));
    };
    info.on("data", (chunk) => {
      text += chunk.toString();
      find();
    });
    info.once("error", () => resolve(undefined));
    info.once("close", () => resolve(undefined));
  });
}

/**
 * Lists the mounts of a process that differ from the plan. Each bubblewrap operation creates one mount, so if all
 * expected ones are in place with the right root, there are no others.
 */
function findDifference(pid: number, mounts: readonly Mount[]): string | undefined {
  const table = mountTable(pid);
  const root = `/proc/${pid}/root/.`;
  const seen = new Set<number>();
  for (const mount of mounts) {
    const { path, kind } = mount;
    try {
      const found = withOpened(root, `${root}${path === "/" ? "" : path}`, identityAndMount);
      const entry = table.get(found.mount);
      const isInPlace = entry?.path === path && !seen.has(found.mount);
      seen.add(found.mount);
      const expected = expectedIdentity(mount);
      const isWritable = kind === "device" || ("isWritable" in mount && mount.isWritable);
      const fileSystem = FILE_SYSTEMS[kind];
      if (
        !isInPlace ||
        (expected !== undefined && expected !== found.identity) ||
        (fileSystem !== undefined && fileSystem !== entry.fileSystem) ||
        (!isWritable && !entry.isReadOnly)
      ) {
        return `${quotePath(path)} was replaced`;
      }
    } catch (error) {
      return `${quotePath(path)} could not be checked (${errorMessage(error)})`;
    }
  }
  return undefined;
}

function identityAndMount(descriptor: number): { readonly identity: string; readonly mount: number } {
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  const [, mount] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "utf8")) ?? [];
  return { identity: `${dev}:${ino}`, mount: Number(mount) };
}

interface MountEntry {
  readonly path: string;
  readonly isReadOnly: boolean;
  readonly fileSystem: string;
}

/** The mounts of a process, by mount id. */
function mountTable(pid: number): Map<number, MountEntry> {
  const table = new Map<number, MountEntry>();
  for (const line of (read(`/proc/${pid}/mountinfo`) ?? "").split("\n")) {
    const [id, , , , path = "", options = "", ...rest] = line.split(" ");
    const fileSystem = rest[rest.indexOf("-") + 1] ?? "";
    // The kernel writes space, tab, newline and backslash as octal escapes.
    const plain = path.replace(/\\([0-7]{3})/g, (_, digits) =>
      String.fromCharCode(Number.parseInt(digits, 8)),
    );
    table.set(Number(id), { path: plain, isReadOnly: options.split(",").includes("ro"), fileSystem });
  }
  return table;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
