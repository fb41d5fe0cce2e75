import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { isRecord } from "@agent/core/toolkit";
import { isSecretName, KEY_VARIABLES } from "@agent/internal";
import type { AgentConfig } from "./config/types.js";

// A shorter text may occur by chance: redacting it would damage results and protect nothing.
const SHORTEST_SECRET = 8;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The keys of model providers, removed from the environment that tools and their children see: the known variables, and
 * every other one with the same value as a known one or as a key of the config. Created after the config was loaded,
 * which may read a key.
 */
export class ProviderKeys {
  /** The original environment, for creating the provider. */
  readonly env: Environment;
  readonly #current: NodeJS.ProcessEnv;
  #variables: readonly string[] = [];
  #values: readonly string[] = [];
  /** The number of provider requests that currently have the keys. */
  #exposed = 0;

  constructor(env: NodeJS.ProcessEnv, provider: AgentConfig["provider"]) {
    this.env = { ...env };
    this.#current = env;
    this.#take(KEY_VARIABLES, configuredKeys(provider));
  }

  /** Names of all variables that held or could hold a key: they are withheld from commands. */
  get variables(): readonly string[] {
    return this.#variables;
  }

  /** The keys themselves, for redaction in results. */
  get values(): readonly string[] {
    return this.#values;
  }

  /** Removes further variables: those that a provider package names for its key. */
  take(variables: readonly string[]): void {
    if (variables.some((name) => !this.#variables.includes(name))) this.#take(variables, []);
  }

  /**
   * Restores the variables in the environment until the returned function is called, for a provider that reads its key
   * itself. Commands do not get them even then, and other processes cannot read variables that are set this late.
   */
  expose(): () => void {
    this.#exposed++;
    for (const name of this.#variables) {
      const value = this.env[name];
      if (value !== undefined) this.#current[name] = value;
    }
    return () => {
      this.#exposed--;
      if (this.#exposed === 0) for (const name of this.#variables) delete this.#current[name];
    };
  }

  #take(names: readonly string[], keys: readonly string[]): void {
    const found = [...names.map((name) => this.env[name] ?? ""), ...keys];
    const values = found.filter((value) => value.length >= SHORTEST_SECRET);
    this.#values = [...new Set([...this.#values, ...values])];
    const same = Object.keys(this.env).filter((name) => this.#values.includes(bare(this.env[name] ?? "")));
    this.#variables = [...new Set([...this.#variables, ...names, ...same])];
    for (const name of this.#variables) delete this.#current[name];
    if (this.#current === process.env) wipeEnvironment(this.#variables);
  }
}

function configuredKeys(provider: AgentConfig["provider"]): string[] {
  if (!isRecord(provider)) return [];
  const headers = isRecord(provider.headers) ? Object.entries(provider.headers) : [];
  const inHeaders = headers.filter(([name]) => isSecretName(name)).map(([, value]) => bare(String(value)));
  return [...(typeof provider.apiKey === "string" ? [provider.apiKey] : []), ...inHeaders];
}

function bare(value: string): string {
  return value.replace(/^bearer /i, "");
}

// Counted from the third field on, as proc_pid_stat(5) numbers them: the second may hold blanks.
const ENV_START = 50 - 3;

const ENV_END = 51 - 3;

/**
 * Overwrites these variables in the memory that `/proc/PID/environ` shows: a deleted variable stays readable there for
 * every process of the same user. Call it after deleting them from `process.env`. Does nothing except on Linux.
 */
function wipeEnvironment(names: readonly string[]): void {
  if (process.platform !== "linux") return;
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const [start, end] = [Number(fields[ENV_START]), Number(fields[ENV_END])];
    const block = readFileSync("/proc/self/environ", "latin1");
    // The process may have moved its environment; then these are not the addresses of the block that was read.
    if (!(start > 0) || block.length !== end - start) return;
    overwrite(start, block, names);
  } catch {
    // Without /proc no other process can read the variables either.
  }
}

function overwrite(start: number, block: string, names: readonly string[]): void {
  const memory = openSync("/proc/self/mem", "r+");
  try {
    let at = 0;
    for (const entry of block.split("\0")) {
      const name = entry.slice(0, entry.indexOf("="));
      if (names.includes(name)) writeSync(memory, Buffer.alloc(entry.length), 0, entry.length, start + at);
      at += entry.length + 1;
    }
  } finally {
    closeSync(memory);
  }
}
