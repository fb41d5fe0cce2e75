import type { ToolPack } from "@agent/core";
import type { ProviderKeys } from "../../settings/providerKeys.js";
import type { LoadedPack } from "./load.js";

/** What one pack declares as secret, and what of it is set. */
export interface PackSecret {
  readonly pack: string;
  readonly variable: string;
  readonly isSet: boolean;
}

/** The secrets of all packs, out of reach of tools and commands. */
export interface TakenSecrets {
  readonly declared: readonly PackSecret[];
  /** All variables no command may see, those of the providers included. */
  readonly variables: readonly string[];
  /** All values that results must not show. */
  readonly values: readonly string[];
  /** What a pack gets of its own. */
  of(pack: LoadedPack): Readonly<Record<string, string>>;
}

/** Takes the variables that packs declare as secrets out of the environment, and keeps their values for those packs. */
export function takePackSecrets(
  packs: readonly LoadedPack[],
  keys: ProviderKeys,
  env: NodeJS.ProcessEnv = process.env,
): TakenSecrets {
  const declared = packs.flatMap(({ name, module }) =>
    declaredSecrets(module).map((variable) => ({ pack: name, variable, isSet: Boolean(keys.env[variable]) })),
  );
  for (const { variable } of declared) delete env[variable];
  const own = declared.map(({ variable }) => variable);
  return {
    declared,
    variables: [...new Set([...keys.variables, ...own])],
    values: [...new Set([...keys.values, ...own.flatMap((variable) => keys.env[variable] ?? [])])],
    of: ({ module }) =>
      Object.fromEntries(
        declaredSecrets(module).flatMap((variable) => {
          const value = keys.env[variable];
          return value ? [[variable, value]] : [];
        }),
      ),
  };
}

/** Registration says what is wrong with a declaration that is none. */
function declaredSecrets(module: ToolPack | undefined): readonly string[] {
  const secrets: unknown = module?.secrets;
  return Array.isArray(secrets) ? secrets.filter((one) => typeof one === "string") : [];
}
