import { delay, type Mortal, type MortalPlaceholders, Watchdog } from "@agent/core/toolkit";
import { PipePool } from "../output/pipes.js";
import { SpillStore } from "../output/spill.js";
import { ControlGroup } from "../processes/controlGroup.js";
import { type Limits, SMALL_LIMIT_MB } from "../processes/limits.js";
import { ProcessTable } from "../processes/processTable.js";
import { ProcessTree } from "../processes/processTree.js";
import { JobList } from "./jobs.js";
import { RunningCommands } from "./runningCommands.js";
import { TemporaryFiles } from "./temporaryFiles.js";

// How long pipes and the watchdog are kept after the last command: creating new ones for each command in a row is slow.
const IDLE_MS = 10_000;
const END_POLL_MS = 5;

/**
 * Everything that outlives one command: processes, temporary files, pipes and background jobs. Each registration of the
 * pack has its own, so that two agents in one process share nothing.
 */
export class CommandHost {
  readonly table = new ProcessTable();
  readonly files = new TemporaryFiles();
  readonly spills = new SpillStore(this.files);
  readonly pipes = new PipePool(this.files);
  readonly running = new RunningCommands();
  readonly survivors = new SurvivorCheck(this.table);
  readonly jobs = new JobList(this);
  /**
   * The prefix of the tags of all commands of this host; no other process on the machine has it. It is a name, not a
   * secret, so no cryptography is needed.
   */
  readonly #tag = `${process.pid}-${Math.random().toString(36).slice(2)}${Date.now().toString(36)}.`;
  readonly #alive = new Set<ProcessTree>();
  readonly #placeholders = new Set<readonly MortalPlaceholders[]>();
  readonly #cleanups = new Set<() => void>();
  #commands = 0;
  #watchdog: Watchdog | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  #releaseExit: (() => void) | undefined;
  #isDisposed = false;
  /** Whether a control group of this user can limit memory, once that was tried. */
  #canLimitMemory: boolean | undefined;

  /** Throws once the host is disposed of: a command started then could not be stopped. */
  assertUsable(): void {
    if (this.#isDisposed) throw new Error("The agent has ended, and run_bash with it. Nothing was run.");
  }

  /**
   * The tag for the next command. Every process of the command has it in its environment. The watchdog gets it before
   * the command starts, so nothing is left behind if the agent is killed in between.
   */
  newTag(): string {
    this.assertUsable();
    this.#releaseExit ??= onProcessExit(() => this.terminate());
    this.#watchdog ??= new Watchdog(this.#tag, this.#mortal());
    this.#restLater();
    this.#commands++;
    return `${this.#tag}${this.#commands};`;
  }

  /** A control group for a command, if its memory limit is small and the kernel can enforce it. */
  groupForStart(limits: Limits): ControlGroup | undefined {
    if (!(limits.memoryMb < SMALL_LIMIT_MB) || this.#canLimitMemory === false) return undefined;
    const group = ControlGroup.createLimitingMemory(limits);
    this.#canLimitMemory = group !== undefined;
    return group;
  }

  /** Registers the tree of a started command. From now on it is killed together with the agent. */
  killOnExit(root: number, tag: string, group?: ControlGroup): ProcessTree {
    const tree = new ProcessTree(root, tag, this.table, group);
    this.#alive.add(tree);
    if (this.#isDisposed) tree.kill(); // the agent was disposed of while the shell was being started
    clearTimeout(this.#idleTimer);
    // The idle timer may have fired while a command was slow to start, such as in a sandbox.
    if (this.#watchdog) this.#watchdog.update(this.#mortal());
    else this.#watchdog = new Watchdog(this.#tag, this.#mortal());
    return tree;
  }

  /** Forgets a tree without remaining processes. */
  release(tree: ProcessTree): void {
    if (!this.#alive.delete(tree)) return;
    tree.dispose();
    this.#watchdog?.update(this.#mortal());
    this.#restLater();
  }

  /**
   * Registers empty placeholder files and directories that a command is about to create. The watchdog removes them if
   * the agent is killed before the returned function is called.
   */
  removeIfKilled(placeholders: readonly MortalPlaceholders[]): () => void {
    this.#placeholders.add(placeholders);
    this.#watchdog?.update(this.#mortal());
    return () => {
      this.#placeholders.delete(placeholders);
      this.#watchdog?.update(this.#mortal());
    };
  }

  /** Runs `cleanUp` when the returned function is called, or when the agent is disposed of before that. Never twice. */
  cleanUpLater(cleanUp: () => void): () => void {
    const once = (): void => {
      if (this.#cleanups.delete(once)) cleanUp();
    };
    this.#cleanups.add(once);
    return once;
  }

  /** Calls `end` when the returned function is called, or when the agent is disposed of before that. */
  endOnExit(end: () => void): () => void {
    this.assertUsable();
    this.#releaseExit ??= onProcessExit(() => this.terminate());
    this.#restLater();
    return this.cleanUpLater(end);
  }

  /** Kills everything immediately, without waiting, for a process that is about to exit. */
  terminate(): void {
    for (const tree of this.#alive) tree.kill();
    if (this.#commands > 0) this.#killTagged();
    for (const cleanUp of this.#cleanups) cleanUp();
    this.files.remove();
  }

  /** Stops every command and job, and releases all system resources of the host. Waiting calls return. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    this.running.endAll();
    await this.jobs.endAll();
    while (this.running.size > 0) await delay(END_POLL_MS);
    this.terminate();
    this.#alive.clear();
    this.#rest();
  }

  /** A process that left its tree unnoticed still has the tag. */
  #killTagged(): void {
    for (const pid of this.table.listPids()) {
      if (pid !== process.pid && this.table.environmentHolds(pid, this.#tag)) kill(pid);
    }
  }

  #mortal(): Mortal {
    return {
      groups: [...this.#alive].map((tree) => tree.root),
      placeholders: [...this.#placeholders].flat(),
    };
  }

  #restLater(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#rest(), IDLE_MS).unref();
  }

  /** Releases what an idle agent does not need. Output that a model may still read stays. */
  #rest(): void {
    if (this.#alive.size > 0) return;
    clearTimeout(this.#idleTimer);
    this.#watchdog?.dismiss();
    this.#watchdog = undefined;
    this.pipes.removeFree();
    if (!this.files.isEmpty || this.#cleanups.size > 0 || this.running.size > 0) return;
    this.files.remove();
    this.#releaseExit?.();
    this.#releaseExit = undefined;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It exited by itself.
  }
}

// Node warns about the eleventh listener of `process`: all hosts of this process share one.
const callbacks = new Set<() => void>();

/** Calls `callback` when the process (or the worker thread) exits, until the returned function is called. */
function onProcessExit(callback: () => void): () => void {
  if (callbacks.size === 0) process.on("exit", runAll);
  callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
    if (callbacks.size === 0) process.off("exit", runAll);
  };
}

function runAll(): void {
  for (const callback of callbacks) {
    try {
      callback();
    } catch {
      // Continue after an error: the next host has processes to kill, too.
    }
  }
}

interface Question {
  readonly tree: ProcessTree;
  readonly answer: (hasSurvivors: boolean) => void;
}

/** Detects processes that outlive the shell of a command: cheap enough to run after every command. */
class SurvivorCheck {
  readonly #table: ProcessTable;
  /** Shells of running commands: they are not survivors of another command. */
  readonly #shells = new Set<number>();
  #questions: Question[] = [];

  constructor(table: ProcessTable) {
    this.#table = table;
  }

  /** Registers the shell of a running command, until the returned function is called. */
  noteShell(pid: number): () => void {
    this.#shells.add(pid);
    return () => this.#shells.delete(pid);
  }

  /**
   * Whether any process started by a command is alive. Checks only processes younger than its shell, and commands that
   * end at the same moment share one check.
   */
  hasSurvivors(tree: ProcessTree): Promise<boolean> {
    return new Promise((answer) => {
      this.#questions.push({ tree, answer });
      // If other commands run, wait for this turn of the event loop: those that end in it share the same check.
      if (this.#shells.size === 0) this.#answerAll();
      else if (this.#questions.length === 1) setImmediate(() => this.#answerAll());
    });
  }

  #answerAll(): void {
    const asked = this.#questions;
    this.#questions = [];
    if (asked.length === 0) return;
    const table = this.#table;
    const younger = table.isAvailable ? table.youngerPids(asked.map(({ tree }) => tree.root)) : undefined;
    const suspects = younger?.filter((pid) => !this.#shells.has(pid));
    const tags = asked.map(({ tree }) => tree.tag);
    const found = new Set(suspects?.flatMap((pid) => table.heldByEnvironment(pid, tags)));
    for (const { tree, answer } of asked) {
      // This check comes last: signalling a group that no longer exists is slower than all other checks.
      answer(suspects?.length !== 0 && (found.has(tree.tag) || tree.groupLives()));
    }
  }
}
