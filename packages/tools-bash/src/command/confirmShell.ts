import { probeProgram } from "../helpers/probe.js";

const WORD = "ready";

/**
 * Rejects if the program does not run commands: `/bin/true` accepts any command and prints nothing. A program that cannot
 * be started at all is reported by the run itself.
 */
export async function confirmShell(shell: string): Promise<void> {
  const text = await printedBy(shell);
  if (text === undefined || text.trim() === WORD) return;
  throw new Error(`The shell ${shell} is no shell: it did not run "echo ${WORD}". Nothing was run.`);
}

function printedBy(shell: string): Promise<string | undefined> {
  return probeProgram(shell, ["-c", `echo ${WORD}`], "stdout").then(
    ({ output }) => output,
    () => undefined,
  );
}
