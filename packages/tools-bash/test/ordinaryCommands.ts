import { readFileSync } from "node:fs";
import { corpusLines } from "@agent/test-support";

const OWN = new URL("ordinaryCommands.txt", import.meta.url);

/** Commands as people and models type them every day, one per line, including those of a corpus if it is present. */
export function ordinaryCommands(): string[] {
  const lines = [...readFileSync(OWN, "utf8").split("\n"), ...corpusLines("tldr-commands.txt")];
  // Lines such as "<Ctrl c>" are keys to press.
  return lines.filter((line) => /^[^<]/.test(line));
}
