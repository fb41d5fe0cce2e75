import { KEY_VARIABLES } from "@agent/internal";

/** The variables that usually hold the providers' keys: withheld from commands and redacted in results. */
export const PROVIDER_KEY_VARIABLES: readonly string[] = KEY_VARIABLES;

/** The values of variables in this process's environment, if it has one, as far as they are set. */
export function readVariables(names: readonly string[]): Readonly<Record<string, string>> {
  const env = globalThis.process?.env ?? {};
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = env[name];
      return value ? [[name, value]] : [];
    }),
  );
}

/** The providers' keys that are set. */
export function defaultSecrets(): readonly string[] {
  const env = globalThis.process?.env ?? {};
  return PROVIDER_KEY_VARIABLES.flatMap((name) => env[name] || []);
}
