import type { ToolPack } from "@agent/core";
import type { ProviderKeys } from "../../settings/providerKeys.js";
import type { LoadedPack } from "./load.js";

/** The secrets one pack declares, with the values that are set. */
export interface PackSecret {
  readonly pack: string;
  readonly variable: string;
  readonly isSet: boolean;
}

/** The secrets of all packs, including packs inside presets, withheld from tools and commands. Its lists are live. */
export class PackSecrets {
  readonly declared: PackSecret[] = [];
  /** All variables that are withheld from commands, including those of the providers. */
  readonly variables: string[];
  /** All values that are redacted in results. */
  readonly values: string[];
  readonly #keys: ProviderKeys;
  readonly #env: NodeJS.ProcessEnv;

  constructor(keys: ProviderKeys, env: NodeJS.ProcessEnv = process.env) {
    this.#keys = keys;
    this.#env = env;
    this.variables = [...keys.variables];
    this.values = [...keys.values];
  }

  /** Removes the variables that loaded packs declare from the environment, before any code of the packs runs again. */
  take(packs: readonly LoadedPack[]): void {
    for (const { name, module } of packs) this.#take(name, declaredSecrets(module));
  }

  /**
   * The values of the variables that a pack declares, as far as they are set. A pack inside a preset is first seen
   * here.
   */
  claim(pack: string, variables: readonly string[]): Readonly<Record<string, string>> {
    const isKnown = (variable: string): boolean => this.declared.some((one) => one.variable === variable);
    this.#take(
      pack,
      variables.filter((variable) => !isKnown(variable)),
    );
    return Object.fromEntries(
      variables.flatMap((variable) => {
        const value = this.#keys.env[variable];
        return value ? [[variable, value]] : [];
      }),
    );
  }

  #take(pack: string, variables: readonly string[]): void {
    for (const variable of variables) {
      const value = this.#keys.env[variable];
      this.declared.push({ pack, variable, isSet: Boolean(value) });
      this.variables.push(variable);
      if (value) this.values.push(value);
      delete this.#env[variable];
    }
  }
}

/** Ignores an invalid declaration: registration reports it. */
function declaredSecrets(module: ToolPack | undefined): readonly string[] {
  const secrets: unknown = module?.secrets;
  return Array.isArray(secrets) ? secrets.filter((one) => typeof one === "string") : [];
}
