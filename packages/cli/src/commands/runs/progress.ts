import { escapeToLine } from "@agent/internal";

const FIRST_MS = 1000;
const TICK_MS = 1000;

/** Runs `work`, and prints `what` with the elapsed seconds on standard error once it takes longer than a second. */
export async function withProgress<T>(what: string, work: () => Promise<T>): Promise<T> {
  const { stderr } = process;
  const startedAt = performance.now();
  let isShown = false;
  const show = (): void => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    // Overwriting a line needs a terminal; a log gets the line once.
    if (stderr.isTTY) stderr.write(`\r\x1b[K${escapeToLine(what)}… ${seconds}s`);
    else if (!isShown) stderr.write(`${escapeToLine(what)}…\n`);
    isShown = true;
  };
  let timer = setTimeout(function tick() {
    show();
    timer = setTimeout(tick, TICK_MS);
  }, FIRST_MS);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    if (isShown && stderr.isTTY) stderr.write("\r\x1b[K");
  }
}
