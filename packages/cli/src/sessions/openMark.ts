import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { isRecord } from "@agent/core/toolkit";

/** Marks a session as open in this process. Returns `false` if it is open in another running process. */
export function markOpen(sessionFile: string): boolean {
  const file = markOf(sessionFile);
  const content = JSON.stringify({ pid: process.pid, startedAt: startOf(process.pid) });
  for (;;) {
    try {
      writeFileSync(file, content, { flag: "wx", mode: 0o600 });
      return true;
    } catch (error) {
      // Without a mark the session can still be used.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") return true;
      if (isOpenElsewhere(sessionFile)) return false;
      rmSync(file, { force: true });
    }
  }
}

/** Never throws: a stale mark does not belong to a running process. */
export function removeMark(sessionFile: string): void {
  try {
    if (!isOpenElsewhere(sessionFile)) rmSync(markOf(sessionFile), { force: true });
  } catch {
    // The directory is not writable, which was reported before.
  }
}

/** Whether another running process has the session open. */
export function isOpenElsewhere(sessionFile: string): boolean {
  try {
    const mark: unknown = JSON.parse(readFileSync(markOf(sessionFile), "utf8"));
    if (!isRecord(mark) || typeof mark.pid !== "number" || mark.pid === process.pid) return false;
    process.kill(mark.pid, 0);
    return mark.startedAt === startOf(mark.pid);
  } catch (error) {
    // A process of another user.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The file next to a session that names the process which has it open. */
export function markOf(sessionFile: string): string {
  return sessionFile.replace(/(\.jsonl)?$/, ".open");
}

/** The start time of a process, in the kernel's own unit: process ids are reused. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name of the program is in brackets and may contain anything.
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return undefined;
  }
}
