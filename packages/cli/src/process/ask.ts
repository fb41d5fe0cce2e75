import { closeSync, constants, openSync, readSync } from "node:fs";
import { escapeInvisible, onAbort } from "@agent/core/toolkit";
import { type Aside, wrapWords } from "@agent/terminal/host";

/** Whether a user can be asked on the terminal. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/** The `Aside` for a terminal that nothing else uses. */
export const atOnce: Aside = (work) => work();

/**
 * Asks on the terminal and resolves to the trimmed line; "" if the user closed the input or the signal aborted. Text
 * typed before the question appeared is not an answer and is dropped.
 */
export async function ask(question: string, signal?: AbortSignal): Promise<string> {
  const { createInterface } = await import("node:readline");
  if (signal?.aborted) return "";
  dropTypedAhead();
  return await new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    let answer = "";
    const release = onAbort(signal, () => {
      process.stderr.write("\n");
      lines.close();
    });
    lines.on("close", () => {
      release();
      resolve(answer);
    });
    // Ctrl-C at a question means no, and is also passed to the process as everywhere else. The signal arrives later: if
    // it will abort `signal`, closing the question now would let the run continue, and finish, with a no.
    lines.on("SIGINT", () => {
      if (!signal) lines.close();
      process.kill(process.pid, "SIGINT");
    });
    lines.question(asRows(question), (line) => {
      answer = line.trim();
      lines.close();
    });
  });
}

/** The question with its lines wrapped between words. */
function asRows(question: string): string {
  const width = process.stderr.columns || Number.POSITIVE_INFINITY;
  const lines = escapeInvisible(question).split("\n");
  // Keep a space at the end: it separates the answer from the question.
  return lines
    .map((line) => wrapWords(line.trimEnd(), width).join("\n") + (/\s*$/.exec(line)?.[0] ?? ""))
    .join("\n");
}

/** Asks until the answer is yes or no; an empty line is `fallback`. After three unclear answers it is no. */
export async function askYesNo(question: string, fallback = false): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const answer = (await ask(`${question} ${fallback ? "[Y/n]" : "[y/N]"} `)).toLowerCase();
    if (answer === "y" || answer === "yes") return true;
    if (answer === "n" || answer === "no") return false;
    if (answer === "") return fallback;
    process.stderr.write("Please answer y or n.\n");
  }
  return false;
}

/**
 * Asks a question that one key answers: y, n, or Enter and Escape for "not now". Any other key asks again. Closed input is
 * "not now".
 */
export async function askOneKey(question: string): Promise<"yes" | "no" | "later"> {
  const { stdin, stderr } = process;
  dropTypedAhead();
  stderr.write(asRows(`${question} [y]es, [n]o, [Enter] not now: `));
  return await new Promise((resolve) => {
    const end = (answer: "yes" | "no" | "later"): void => {
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.pause();
      if (stdin.isTTY) stdin.setRawMode(false);
      stderr.write(`${answer === "later" ? "not now" : answer}\n`);
      resolve(answer);
    };
    const onEnd = (): void => end("later");
    const onData = (chunk: Buffer): void => {
      const key = chunk.toString("utf8").toLowerCase();
      if (key.startsWith("y")) end("yes");
      else if (key.startsWith("n")) end("no");
      // Enter, Escape, Ctrl-D.
      else if (key === "\x1b" || ["\r", "\n", "\x04"].some((one) => key.startsWith(one))) end("later");
      else if (key.startsWith("\x03")) {
        end("later");
        process.kill(process.pid, "SIGINT");
      } else stderr.write("\nPress y or n, or Enter to decide later: ");
    };
    if (stdin.isTTY) stdin.setRawMode(true);
    stdin.on("data", onData);
    stdin.on("end", onEnd);
    stdin.resume();
  });
}

/** Discards all pending input of the terminal, including an unfinished line. */
function dropTypedAhead(): void {
  const { stdin } = process;
  while (stdin.read() !== null);
  if (!stdin.isTTY) return;
  // Only in raw mode an unfinished line can be read.
  stdin.setRawMode(true);
  const descriptor = openTerminal();
  if (descriptor !== undefined) {
    readAll(descriptor);
    closeSync(descriptor);
  }
  stdin.setRawMode(false);
}

/** Opens the terminal again, in non-blocking mode. */
function openTerminal(): number | undefined {
  for (const path of ["/proc/self/fd/0", "/dev/tty"]) {
    try {
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
    } catch {
      // Not available on this system: try the next device.
    }
  }
  return undefined;
}

function readAll(descriptor: number): void {
  const buffer = Buffer.alloc(4096);
  try {
    while (readSync(descriptor, buffer) > 0);
  } catch {
    // EAGAIN: the input is drained.
  }
}
