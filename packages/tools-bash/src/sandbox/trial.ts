import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { release } from "node:os";
import { join } from "node:path";
import { isRecord, writeFileAtomic } from "@agent/core/toolkit";
import type { Sandbox } from "./sandbox.js";
import { attemptNames, testSandbox } from "./selfTest.js";
import type { SandboxStatus } from "./status.js";

const FILE = "sandbox-test.json";
/** After this time the sandbox is tested again: system settings may have changed. */
const VALID_MS = 30 * 24 * 60 * 60 * 1000;

export interface TrialOptions {
  /** Where a passed test is recorded. Absent: only in this process. */
  readonly directory?: string | undefined;
  /** Tells the user why a command waits. */
  readonly notice?: ((message: string) => void) | undefined;
}

/**
 * Whether commands can rely on the sandbox here. Before the first command it is attacked for real, which takes seconds;
 * a passed test is recorded for this machine and this version of bubblewrap.
 */
export class SandboxTrial {
  readonly #sandbox: Sandbox;
  readonly #options: TrialOptions;
  #problem: Promise<string | undefined> | undefined;

  constructor(sandbox: Sandbox, options: TrialOptions = {}) {
    this.#sandbox = sandbox;
    this.#options = options;
  }

  /** Why the sandbox is not reliable; `undefined` if it is. */
  problem(): Promise<string | undefined> {
    this.#problem ??= this.#try();
    return this.#problem;
  }

  async #try(): Promise<string | undefined> {
    const status = await this.#sandbox.status();
    if (status.level === "none") return status.problem ?? "There is none for this system.";
    const key = keyOf(status);
    if (this.#hasPassed(key)) return undefined;
    this.#options.notice?.(
      "Testing the sandbox for commands. This takes some seconds, once on this machine.",
    );
    // Retry: on a busy machine an attempt may fail to run, which proves nothing about the sandbox.
    const failed = (await failure()) && (await failure());
    if (failed) return `${failed.subject} ${failed.detail}. agent doctor repeats the test.`;
    await this.#record(key);
    return undefined;
  }

  #hasPassed(key: string): boolean {
    if (this.#options.directory === undefined) return false;
    try {
      const passed: unknown = JSON.parse(readFileSync(join(this.#options.directory, FILE), "utf8"));
      if (!isRecord(passed) || passed.key !== key || typeof passed.at !== "number") return false;
      const age = Date.now() - passed.at;
      return age >= 0 && age < VALID_MS;
    } catch {
      return false;
    }
  }

  async #record(key: string): Promise<void> {
    const { directory } = this.#options;
    if (directory === undefined) return;
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      await writeFileAtomic(join(directory, FILE), `${JSON.stringify({ key, at: Date.now() })}\n`, {
        mode: 0o600,
      });
    } catch {
      // The next process tests again.
    }
  }
}

async function failure() {
  return (await testSandbox()).find(({ ok }) => !ok);
}

/** Changes with everything that the result of a test depends on, as far as it is visible from here. */
function keyOf({ level, program, userNamespace, sizes }: SandboxStatus): string {
  const file = program === undefined ? undefined : statSync(program);
  const facts = [
    level,
    program,
    file && [file.size, file.mtimeMs, file.ino, file.mode],
    userNamespace,
    sizes,
    release(),
    process.version,
    process.execPath,
    process.getuid?.(),
    attemptNames(),
  ];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}
