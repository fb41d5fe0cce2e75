import { probeProgram } from "../helpers/probe.js";

const WORD = "ready";

/**
 * Rejects if the program does not run commands: `/bin/true` accepts any command and prints nothing. A program that
 * cannot be started at all is reported by the run itself. `before` are leading arguments; `hint` explains what to do.
 */
export async function confirmShell(
  shell: string,
  before: readonly string[] = [],
  hint?: string,
): Promise<void> {
  const text = await printedBy(shell, before);
  if (text === undefined || text.trim() === WORD) return;
  const problem = hint ?? `The shell ${shell} is not a shell: it did not run "echo ${WORD}".`;
  throw new Error(`${problem} Nothing was run.`);
}

function printedBy(shell: string, before: readonly string[]): Promise<string | undefined> {
  return probeProgram(shell, [...before, "-c", `echo ${WORD}`], "stdout").then(
    ({ output }) => output,
    () => undefined,
  );
}
