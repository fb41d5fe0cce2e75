import { createPolicy, type PolicyOptions, type Verdict } from "../src/policy/policy.js";

/** The verdict of a policy on a command; by default, of one that denies `rm`. */
export function verdict(
  command: string,
  options: PolicyOptions = { deny: ["rm"] },
  env?: Record<string, string>,
): Verdict {
  const result = createPolicy(options)?.check(command, env);
  if (result === undefined) throw new Error("no policy");
  return result;
}

export function allowed(command: string, options?: PolicyOptions): boolean {
  return verdict(command, options).allowed;
}

/** The lines of a list of commands, which may be indented. */
export function lines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
}
