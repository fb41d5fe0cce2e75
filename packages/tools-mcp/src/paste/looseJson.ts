import { errorMessage } from "@agent/core/toolkit";

// Matches a whole string, or what JSON in editors' settings has in addition: comments and trailing commas. A comment
// without an end goes to the end: to look for it again from each of its beginnings would take minutes.
const EXTRA = /("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*(?:[\s\S]*?\*\/|[\s\S]*)|,(?=\s*[}\]])/g;

/**
 * Reads JSON as people paste it: with comments and surplus commas, and also without the braces around it, as when one
 * entry was copied out of a file. Throws with what is wrong.
 */
export function parseLooseJson(text: string): unknown {
  const strip = (from: string): string => from.replace(EXTRA, (_, string?: string) => string ?? "");
  const bare = strip(strip(text)).trim().replace(/,$/, "");
  try {
    return JSON.parse(bare.startsWith('"') ? `{${bare}}` : bare);
  } catch (error) {
    throw new Error(`This is not JSON: ${errorMessage(error)}`);
  }
}
