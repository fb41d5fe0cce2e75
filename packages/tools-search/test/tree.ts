import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExecutableTool } from "@agent/core";
import { onTestFinished } from "vitest";

/** Creates a temporary directory with these files, removed after the test. Returns its path. */
export function makeTree(files: Readonly<Record<string, string | Buffer>> = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "agent-search-")));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) put(root, path, content);
  return root;
}

export function put(root: string, path: string, content: string | Buffer): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
}

/** A parsed result: its lines without the leading directory, and the summary at the end. */
export interface Parsed {
  readonly lines: readonly string[];
  readonly account: string;
  readonly text: string;
}

/** Runs a tool on a directory; paths in the result are shown from there. */
export async function run(
  tool: ExecutableTool,
  root: string,
  args: Record<string, unknown>,
): Promise<Parsed> {
  const text = (await tool.execute(args)).replaceAll(`${root}/`, "");
  const lines = text.split("\n");
  const account = lines.pop() ?? "";
  return { lines, account, text };
}

/** The same random numbers in every run, so that a failure can be reproduced. */
export function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
