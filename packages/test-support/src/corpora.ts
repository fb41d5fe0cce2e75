import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The lines of a corpus in the directory that `AGENT_TEST_CORPORA` names, or none. Suites need only the repository;
 * third-party collections are optional.
 */
export function corpusLines(name: string): string[] {
  const { AGENT_TEST_CORPORA: directory } = process.env;
  if (!directory) return [];
  const file = join(directory, name);
  return existsSync(file)
    ? readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
}
