import { didYouMean, escapeToLine, quote } from "@agent/internal";

/** What servers and models put before a tool's name. */
const PREFIX = /^(functions?|tools?|default_api|multi_tool_use|namespace|assistant)[.:/]+/i;
const MAX_LISTED = 40;

/**
 * The tool that a model means by a name which no tool has: the only one that is the same without a known prefix, case
 * and separators. `undefined` if there is none.
 */
export function meantTool(name: string, names: readonly string[]): string | undefined {
  const plain = plainName(name);
  const [only, another] = names.filter((one) => plainName(one) === plain);
  return another === undefined ? only : undefined;
}

/** What the model can do about a name that no tool has: the nearest names, and all names. */
export function toolNameHint(name: string, names: readonly string[]): string {
  if (names.length === 0) return "There are no tools.";
  const plain = plainName(name);
  const part = names.filter((one) => one.toLowerCase().split(/[_-]/).includes(plain));
  const hint =
    part.length > 0
      ? `Did you mean ${part.map(quote).join(" or ")}?`
      : didYouMean(name.replace(PREFIX, ""), names, { otherwise: "" });
  const listed = names.slice(0, MAX_LISTED).map(escapeToLine).join(", ");
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
  return `${hint} The tools are: ${listed}${more}.`.trim();
}

function plainName(name: string): string {
  return name
    .replace(PREFIX, "")
    .replace(/[_\-.\s]/g, "")
    .toLowerCase();
}
