import type { ProcessTable } from "../processes/processTable.js";
import type { ProcessTree } from "../processes/processTree.js";

interface Question {
  readonly tree: ProcessTree;
  readonly answer: (hasSurvivors: boolean) => void;
}

/** Finds out whether something outlives the shell of a command: cheap enough to be asked after every command. */
export class SurvivorCheck {
  readonly #table: ProcessTable;
  /** Shells of commands that run: they are no survivors of another command. */
  readonly #shells = new Set<number>();
  #questions: Question[] = [];

  constructor(table: ProcessTable) {
    this.#table = table;
  }

  /** Notes that the shell of a command runs, until the returned function is called. */
  noteShell(pid: number): () => void {
    this.#shells.add(pid);
    return () => this.#shells.delete(pid);
  }

  /**
   * Whether anything that a command started is alive. Only processes younger than its shell are looked at, and commands
   * that end at the same moment share one look.
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
