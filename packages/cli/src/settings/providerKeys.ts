import { isRecord } from "@agent/core/toolkit";
import { isSecretName, KEY_VARIABLES } from "@agent/internal";
import type { AgentConfig } from "./config/types.js";
import { wipeEnvironment } from "./wipeEnvironment.js";

// A shorter text may occur by chance: hiding it would damage results and protect nothing.
const SHORTEST_SECRET = 8;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The keys of model providers, removed from the environment that tools and their children see: the known variables, and
 * every other one with the same value as a known one or as a key of the config. Made after the config was loaded, which
 * may read a key.
 */
export class ProviderKeys {
  /** The original environment, to create the provider with. */
  readonly env: Environment;
  readonly #current: NodeJS.ProcessEnv;
  #variables: readonly string[] = [];
  #values: readonly string[] = [];
  /** How many requests of a provider have the keys now. */
  #lent = 0;

  constructor(env: NodeJS.ProcessEnv, provider: AgentConfig["provider"]) {
    this.env = { ...env };
    this.#current = env;
    this.#take(KEY_VARIABLES, configuredKeys(provider));
  }

  /** Names of all variables that held or could hold a key: no command gets them. */
  get variables(): readonly string[] {
    return this.#variables;
  }

  /** The keys themselves, to be hidden in results. */
  get values(): readonly string[] {
    return this.#values;
  }

  /** Removes further variables: those that a provider package names for its key. */
  take(variables: readonly string[]): void {
    if (variables.some((name) => !this.#variables.includes(name))) this.#take(variables, []);
  }

  /**
   * Puts the variables back into the environment until the returned function was called: for a provider that reads its key
   * itself. Commands do not get them even then, and other processes cannot read what is set this late.
   */
  lend(): () => void {
    this.#lent++;
    for (const name of this.#variables) {
      const value = this.env[name];
      if (value !== undefined) this.#current[name] = value;
    }
    return () => {
      this.#lent--;
      if (this.#lent === 0) for (const name of this.#variables) delete this.#current[name];
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
