import { hasProcessTable, heldByEnvironment, youngerPids } from "./processTable.js";
import type { ProcessTree } from "./tree.js";

interface Question {
  readonly tree: ProcessTree;
  readonly answer: (isLeft: boolean) => void;
}

const shells = new Set<number>();
let questions: Question[] = [];

/** Says that the shell of a command runs, until the returned function is called: it is nobody's leftover. */
export function noteShell(pid: number): () => void {
  shells.add(pid);
  return () => shells.delete(pid);
}

/**
 * Whether anything a command started outlives its shell. Only processes younger than the shell are looked at,
 * and commands that end in the same moment share one look: cheap enough for every command.
 */
export function leftAnything(tree: ProcessTree): Promise<boolean> {
  return new Promise((answer) => {
    questions.push({ tree, answer });
    // With others under way, more may end in this turn of the event loop.
    if (shells.size === 0) answerAll();
    else if (questions.length === 1) setImmediate(answerAll);
  });
}

function answerAll(): void {
  const asked = questions;
  questions = [];
  if (asked.length === 0) return;
  const younger = hasProcessTable() ? youngerPids(asked.map(({ tree }) => tree.root)) : undefined;
  const suspects = younger?.filter((pid) => !shells.has(pid));
  const marks = asked.map(({ tree }) => tree.mark);
  const found = new Set(suspects?.flatMap((pid) => heldByEnvironment(pid, marks)));
  for (const { tree, answer } of asked) {
    // Last, because asking for a group that is gone costs more than all the rest.
    answer(suspects?.length !== 0 && (found.has(tree.mark) || tree.groupLives()));
  }
}
