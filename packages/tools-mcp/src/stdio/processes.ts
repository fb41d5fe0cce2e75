import { delay, killWindowsTree } from "@agent/core/toolkit";
import { nodeFs } from "../nodeModules.js";

const POLL_MS = 10;
/**
 * How long a server has to exit after its input ended, and again after SIGTERM. Together with the kill less than two
 * seconds.
 */
const GRACE_MS = 500;
const KILL_ROUNDS = 60;
const SYNC_KILL_ROUNDS = 5;

interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
}

/**
 * Everything a server started: its process group and session, their descendants, and processes that left both
 * (`setsid`, a double fork) but still have the mark in their environment. Without /proc only the group can be found; on
 * Windows, the descendants that are still attached.
 */
export class ServerProcesses {
  readonly #leader: number;
  readonly #mark: string;

  /** `leader` leads the group; `mark` is the text in the environment of everything it starts. */
  constructor(leader: number, mark: string) {
    this.#leader = leader;
    this.#mark = mark;
  }

  /** Waits for a voluntary exit, then sends SIGTERM, then kills. Resolves once nothing is left. */
  async end(hasLeaderEnded: () => boolean): Promise<void> {
    if (await within(GRACE_MS, hasLeaderEnded)) {
      // The leader may have left children behind, and the group may still hold them.
      if (this.isEmpty()) return;
    }
    if (process.platform === "win32") {
      await killWindowsTree(this.#leader);
      return;
    }
    this.#signal("SIGTERM");
    if (await within(GRACE_MS, () => this.isEmpty())) return;
    for (let round = 0; round < KILL_ROUNDS; round++) {
      this.#signal("SIGKILL");
      await delay(POLL_MS);
      if (this.isEmpty()) return;
    }
  }

  /** Kills without waiting, for the moment when the agent itself exits. */
  kill(): void {
    if (process.platform === "win32") {
      void killWindowsTree(this.#leader, true);
      return;
    }
    for (let round = 0; round < SYNC_KILL_ROUNDS; round++) {
      this.#signal("SIGKILL");
      if (this.isEmpty()) return;
    }
  }

  isEmpty(): boolean {
    if (process.platform === "win32") return !send(this.#leader, 0);
    const members = this.#members();
    return members === undefined ? !send(-this.#leader, 0) : members.length === 0;
  }

  #signal(signal: NodeJS.Signals): void {
    send(-this.#leader, signal);
    for (const { pid, group } of this.#members() ?? []) {
      if (group !== this.#leader) send(pid, signal);
    }
  }

  /** The living members; `undefined` without a readable process table. */
  #members(): ProcessEntry[] | undefined {
    const table = readProcesses();
    if (table === undefined) return undefined;
    const found = new Map<number, ProcessEntry>();
    for (const entry of table) {
      const belongs =
        entry.group === this.#leader ||
        entry.session === this.#leader ||
        hasInEnvironment(entry.pid, this.#mark);
      if (belongs) found.set(entry.pid, entry);
    }
    for (let before = -1; before !== found.size; ) {
      before = found.size;
      for (const entry of table) if (found.has(entry.parent)) found.set(entry.pid, entry);
    }
    return [...found.values()];
  }
}

/** All living processes but this one. Zombies are omitted. */
function readProcesses(): ProcessEntry[] | undefined {
  try {
    const entries: ProcessEntry[] = [];
    for (const name of nodeFs.readdirSync("/proc")) {
      const entry = Number(name) > 0 && Number(name) !== process.pid ? readProcess(Number(name)) : undefined;
      if (entry) entries.push(entry);
    }
    return entries.length > 0 || process.platform === "linux" ? entries : undefined;
  } catch {
    return undefined;
  }
}

function readProcess(pid: number): ProcessEntry | undefined {
  try {
    const stat = nodeFs.readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name in parentheses may contain spaces and parentheses: parse only what follows the last one.
    const [state, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    if (state === "Z" || state === "X") return undefined;
    return { pid, parent: Number(parent), group: Number(group), session: Number(session) };
  } catch {
    return undefined; // it exited meanwhile
  }
}

function hasInEnvironment(pid: number, text: string): boolean {
  try {
    return nodeFs.readFileSync(`/proc/${pid}/environ`).includes(text);
  } catch {
    return false; // it exited meanwhile, or belongs to another user
  }
}

function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}

async function within(milliseconds: number, isDone: () => boolean): Promise<boolean> {
  const deadline = performance.now() + milliseconds;
  while (!isDone()) {
    if (performance.now() >= deadline) return false;
    await delay(POLL_MS);
  }
  return true;
}
