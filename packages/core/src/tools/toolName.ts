// Function names that the chat completions API accepts, also inside the history.
const MAX_LENGTH = 64;
const FORBIDDEN = /[^a-zA-Z0-9_-]/g;

export function isToolName(name: string): boolean {
  return name !== "" && name.length <= MAX_LENGTH && name.search(FORBIDDEN) === -1;
}

/** The name in a form that the API accepts, for names that a model made up. */
export function asToolName(name: string): string {
  return name.replace(FORBIDDEN, "_").slice(0, MAX_LENGTH) || "unknown";
}
