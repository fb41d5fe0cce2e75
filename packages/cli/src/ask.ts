import { createInterface } from "node:readline";
import { escapeInvisible } from "@agent/core/toolkit";

/** Whether a person is there to be asked. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/** Asks on the terminal and resolves to the line, without its ends; "" if the person closed the input. */
export function ask(question: string): Promise<string> {
  return new Promise((resolve) => {
    const lines = createInterface({ input: process.stdin, output: process.stderr });
    let answer = "";
    lines.on("close", () => resolve(answer));
    // Ctrl-C at a question means no, and is left to the process as everywhere else.
    lines.on("SIGINT", () => {
      lines.close();
      process.kill(process.pid, "SIGINT");
    });
    lines.question(escapeInvisible(question), (line) => {
      answer = line.trim();
      lines.close();
    });
  });
}

/** Asks until the answer is yes or no; an empty line is no. */
export async function askYesNo(question: string): Promise<boolean> {
  for (let tries = 0; tries < 3; tries++) {
    const answer = (await ask(`${question} [y/N] `)).toLowerCase();
    if (answer === "y" || answer === "yes") return true;
    if (answer === "" || answer === "n" || answer === "no") return false;
  }
  return false;
}
