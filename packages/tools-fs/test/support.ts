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

/** A directory where many or huge files are cheap: a file system in memory, if the machine has one. */
export const MEMORY = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export type Run = (
  name: string,
  args: Record<string, unknown>,
  granted?: readonly AccessNeed[],
) => Promise<string>;

/** A new directory, as a canonical path; it is removed when the test ends. */
export function temporaryDirectory(parent = tmpdir()): string {
  const directory = realpathSync(mkdtempSync(join(parent, "tools-fs-")));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }));
  return directory;
}

/** Registers the pack in a new registry, with `remove` enabled. Returns a function that runs a tool by name. */
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

/** Runs calls in a separate process without the rights of root. Needs the built package. */
export function asOrdinaryUser(calls: readonly Call[], options: FsOptions = {}): string[] {
  const request = JSON.stringify({ calls, options, dropRights: true });
  return JSON.parse(execFileSync(process.execPath, [CALL_TOOLS], { input: request, encoding: "utf8" }));
}

/** Runs calls in a separate process, at the same time as this one. Needs the built package. */
export async function inAnotherProcess(calls: readonly Call[]): Promise<void> {
  const child = spawn(process.execPath, [CALL_TOOLS], { stdio: ["pipe", "ignore", "inherit"] });
  child.stdin.end(JSON.stringify({ calls }));
  await new Promise((resolve) => child.once("exit", resolve));
}

/**
 * Runs calls in a process with a separate small file system mounted at `directory`. The shell command `prepare` runs
 * there first and `check` last; the output of `check` is returned. Needs the built package.
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

/** Creates a FIFO: opening it normally waits for the other end. */
export function makeFifo(path: string): void {
  execFileSync(MKFIFO, [path]);
}

const NAMESPACE = process.getuid?.() === 0 ? ["-m"] : ["-U", "-r", "-m"];

/** Whether `onDiskOf` works here: Linux with mount namespaces. */
export const canMount =
  spawnSync(UNSHARE, [...NAMESPACE, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
