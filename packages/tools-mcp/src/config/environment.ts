import { quote, safeVariables } from "@agent/core/toolkit";
import type { StdioServerOptions } from "./options.js";

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/** A program's environment, and which values in it must never be shown. */
export interface ServerEnvironment {
  readonly variables: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
}

/**
 * The environment of a server: the safe list plus the variables the user named. Throws for a named variable that is not
 * set.
 */
export function serverEnvironment(
  env: StdioServerOptions["env"],
  own: NodeJS.ProcessEnv = process.env,
): ServerEnvironment {
  const variables = safeVariables(own);
  const secrets: string[] = [];
  for (const [name, text] of namedVariables(env)) {
    const value = expand(text, own, secrets);
    if (/[\0=]/.test(name) || value.includes("\0")) {
      throw new Error(`The environment variable ${quote(name)} cannot be passed on: it holds "=" or NUL.`);
    }
    variables[name] = value;
    secrets.push(value);
  }
  return { variables, secrets };
}

/** Name and value of each variable the user named. A name alone refers to the variable of that name. */
function namedVariables(env: StdioServerOptions["env"] = []): [name: string, value: string][] {
  if (!isList(env)) return Object.entries(env);
  return env.map((name) => [name, `\${${name}}`]);
}

function isList(env: NonNullable<StdioServerOptions["env"]>): env is readonly string[] {
  return Array.isArray(env);
}

/** Replaces `${NAME}` and `${NAME:-default}`. Values from the environment are added to `secrets`. */
export function expand(text: string, own: NodeJS.ProcessEnv, secrets: string[]): string {
  return text.replace(REFERENCE, (_, name: string, fallback: string | undefined) => {
    const value = own[name] ?? fallback;
    if (value === undefined) {
      throw new Error(`The environment variable ${name} is not set. Set it before you start the agent.`);
    }
    if (own[name] !== undefined) secrets.push(value);
    return value;
  });
}
