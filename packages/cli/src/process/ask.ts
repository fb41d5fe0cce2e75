import { closeSync, constants, openSync, readSync } from "node:fs";
import { createInterface } from "node:readline";
import { escapeInvisible, onAbort } from "@agent/core/toolkit";
import { wrapWords } from "../display/width.js";

/** Whether a person is there to be asked. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/** Lets something that asks have the terminal to itself, wherever else the person is writing. */
export type Aside = <T>(work: () => Promise<T>) => Promise<T>;

/** For a terminal on which nothing else goes on. */
export const atOnce: Aside = (work) => work();

/**
 * Asks on the terminal and resolves to the line, without its ends; "" if the person closed the input, or the
 * signal took the question back. What was typed before the question appeared is no answer to it, and is dropped.
 */
export function ask(question: string, signal?: AbortSignal): Promise<string> {
  if (signal?.aborted) return Promise.resolve("");
  dropTypedAhead();
  return new Promise((resolve) => {
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
    // Ctrl-C at a question means no, and is left to the process as everywhere else. A signal is not there at once:
    // where one will take the question back, closing it now would let the run go on, and end, with a no.
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

/** The question with its lines broken between words. */
function asRows(question: string): string {
  const width = process.stderr.columns || Number.POSITIVE_INFINITY;
  const lines = escapeInvisible(question).split("\n");
  // A blank at the end keeps the answer apart from the question.
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

/** Takes everything out of the terminal's input that is there already, a line that was not ended yet included. */
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

/** The terminal opened once more, so that reading it does not wait. */
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
