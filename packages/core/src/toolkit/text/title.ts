import { isRecord, shorten } from "@agent/internal";
import type { ToolKind } from "../../tools/callDescription.js";

const MAX_TITLE = 400;
const MAX_DRAFT = 16 * 1024;

/** The values of the arguments that name a call, on one line: `x in src` for a search. Empty if there are none. */
export function titleOf(
  names: readonly string[],
  args: Readonly<Record<string, unknown>>,
  kind?: ToolKind,
): string {
  const values = names.map((name) => (Object.hasOwn(args, name) ? args[name] : undefined));
  const texts = values.map((value) =>
    typeof value === "string"
      ? value
      : Array.isArray(value)
        ? value.filter((one) => typeof one === "string").join(", ")
        : "",
  );
  return titleLine(texts.filter((text) => text !== "").join(kind === "search" ? " in " : " → "));
}

/** A text as a title: on one line, and cut if it is long. */
export function titleLine(text: string): string {
  const line = text
    .slice(0, 4 * MAX_TITLE)
    .replace(/\s+/g, " ")
    .trim();
  return shorten(line.toWellFormed(), MAX_TITLE);
}

/**
 * The title of a call whose arguments are still being written. `titleFrom` is in the first `tool_draft` event of the
 * call, `json` is the concatenated text of its events. Not escaped: a model may write anything.
 *
 * @example
 * ```ts
 * import { draftTitle } from "@agent/core/toolkit";
 *
 * console.log(draftTitle(["path"], '{"path": "src/a.ts", "content": "let')); // src/a.ts
 * ```
 */
export function draftTitle(titleFrom: readonly string[], json: string): string {
  const args = readStart(json.slice(0, MAX_DRAFT));
  return args === undefined ? "" : titleOf(titleFrom, args);
}

/** The complete members of the outermost object in a partial JSON text, and the last member as far as it is written. */
function readStart(json: string): Record<string, unknown> | undefined {
  const closing: string[] = [];
  let inString = false;
  // The end of the last complete member, with the brackets that close the object there.
  let complete = "{}";
  for (let at = 0; at < json.length; at++) {
    const character = json[at] as string;
    if (inString) {
      if (character === "\\") at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{" || character === "[") closing.push(character === "{" ? "}" : "]");
    else if (character === "}" || character === "]") closing.pop();
    else if (character === "," && closing.length === 1) complete = `${json.slice(0, at)}}`;
  }
  const end = closing.reverse().join("");
  const open = inString ? `${json.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"${end}` : json + end;
  return parseObject(open) ?? parseObject(complete);
}

function parseObject(json: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
