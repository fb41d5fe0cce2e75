import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type AccessNeed, type PackHost, ToolRegistry } from "@agent/core";
import { onTestFinished } from "vitest";
import { type FsOptions, register } from "../src/index.js";

const UNSHARE = "unshare";
const MKFIFO = "mkfifo";
const CALL_TOOLS = fileURLToPath(new URL("callTools.mjs", import.meta.url));

/** Where many or huge files cost little: memory, if the machine has a disk made of it. */
export const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export type Run = (
  name: string,
  args: Record<string, unknown>,
  granted?: readonly AccessNeed[],
) => Promise<string>;

/** A fresh directory, under its canonical path, that goes when the test ends. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = realpathSync(mkdtempSync(join(parent, "tools-fs-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/** The pack in a registry of its own, `remove` enabled; runs a tool by name and gives the text. */
export function fileTools(options: FsOptions = {}, host: Partial<PackHost<FsOptions>> = {}): Run {
  const registry = new ToolRegistry();
  const context = { systemPrompt: "", sessionContext: [], sessionContextFilePath: "" };
  register(registry, { context, options, ...host });
  registry.enable("remove");
  return async (name, args, granted) => (await registry.run(name, args, granted && { granted })).text;
}

export interface Call {
  readonly tool: string;
  readonly args: Record<string, unknown>;
}

/** Runs calls in a process of its own that has no more rights than any user. Needs the built package. */
export function asOrdinaryUser(calls: readonly Call[], options: FsOptions = {}): string[] {
  const request = JSON.stringify({ calls, options, dropRights: true });
  return JSON.parse(execFileSync(process.execPath, [CALL_TOOLS], { input: request, encoding: "utf8" }));
}

/** Runs calls in a process of its own, beside this one. Needs the built package. */
export async function inAnotherProcess(calls: readonly Call[]): Promise<void> {
  const child = spawn(process.execPath, [CALL_TOOLS], { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.end(JSON.stringify({ calls }));
  await new Promise((resolve) => child.once("exit", resolve));
}

/**
 * Runs calls in a process that sees a small disk of its own mounted at `directory`; `prepare` is shell that
 * runs there first, `check` afterwards, and its output comes last. Needs the built package.
 */
export function onDiskOf(
  size: string,
  directory: string,
  calls: readonly Call[],
  { prepare = "true", check = "true" } = {},
): { results: string[]; check: string } {
  const script = `mount -t tmpfs -o size="$1" tmpfs "$2" && cd "$2" && { ${prepare}; } >/dev/null </dev/null && "$3" "$4" && { ${check}; }`;
  const request = JSON.stringify({ calls, options: {} });
  const output = execFileSync(
    UNSHARE,
    [...NAMESPACE, "sh", "-c", script, "sh", size, directory, process.execPath, CALL_TOOLS],
    { input: request, encoding: "utf8" },
  );
  const end = output.indexOf("\n");
  return { results: JSON.parse(output.slice(0, end)), check: output.slice(end + 1) };
}

/** A FIFO: reading or writing it waits for the other end. */
export function makeFifo(path: string): void {
  execFileSync(MKFIFO, [path]);
}

const NAMESPACE = process.getuid?.() === 0 ? ["-m"] : ["-U", "-r", "-m"];

/** Whether `onDiskOf` works here: Linux with mount namespaces. */
export const canMount =
  spawnSync(UNSHARE, [...NAMESPACE, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
