import type { LockedTool } from "./lock/lock.js";

// What providers charge for JSON, roughly.
const CHARACTERS_PER_TOKEN = 4;

/** About how many tokens the schemas of these tools cost in every request. */
export function schemaTokens(tools: readonly LockedTool[]): number {
  const characters = tools.reduce(
    (sum, { name, description, inputSchema }) =>
      sum + JSON.stringify({ name, description, inputSchema }).length,
    0,
  );
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}
