import { probeProgram } from "./host/probe.js";

const WORD = "ready";
const probed = new Map<string, Promise<void>>();

/**
 * Rejects if the program runs no commands, as `/bin/true`, which would take any and say nothing. Asked once. One
 * that cannot be started at all is for the run itself to report.
 */
export function confirmShell(shell: string): Promise<void> {
  const known = probed.get(shell);
  if (known) return known;
  const probe = printedBy(shell).then((text) => {
    if (text === undefined || text.trim() === WORD) return;
    throw new Error(`The shell ${shell} is no shell: it did not run "echo ${WORD}". Nothing was run.`);
  });
  probed.set(shell, probe);
  return probe;
}

function printedBy(shell: string): Promise<string | undefined> {
  return probeProgram(shell, ["-c", `echo ${WORD}`], "stdout").then(
    ({ output }) => output,
    () => undefined,
  );
}
