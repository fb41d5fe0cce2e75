import { readFileSync, statSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import type { ContentPart, ToolCapability } from "@agent/core";
import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";

const MAX_TITLE_BYTES = 200;
const MAX_DIFF_BYTES = 4 * 1024 * 1024;

type Args = Readonly<Record<string, unknown>>;

/** What an editor shows of a call: all of it that a person needs to decide. */
export interface CallView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
}

/** Describes a call before it runs: the whole command, the difference it makes to a file, or all its arguments. */
export function describeCall(
  name: string,
  args: Args,
  capabilities: readonly ToolCapability[],
  cwd: string,
): CallView {
  const paths = pathsOf(args, cwd);
  return {
    title: escapeToLine(truncateUtf8(titleOf(name, args), MAX_TITLE_BYTES)) || name,
    kind: kindOf(name, capabilities),
    content: contentOf(name, args, cwd),
    locations: paths.map((path) => ({ path })),
  };
}

/** The result of a call as an editor shows it. */
export function resultContent(text: string, parts: readonly ContentPart[] = []): ToolCallContent[] {
  const blocks = parts.flatMap((part): ToolCallContent[] =>
    part.type === "image"
      ? [{ type: "content", content: { type: "image", data: part.data, mimeType: part.mediaType } }]
      : [],
  );
  return text === "" ? blocks : [textContent(text), ...blocks];
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

function titleOf(name: string, args: Args): string {
  if (typeof args.command === "string") return args.command;
  const subject = [args.path, args.source, args.pattern, args.query].find((one) => typeof one === "string");
  return subject === undefined ? name : `${name} ${String(subject)}`;
}

function kindOf(name: string, capabilities: readonly ToolCapability[]): ToolKind {
  if (capabilities.includes("execute")) return "execute";
  if (name === "move") return "move";
  if (capabilities.includes("destroy")) return "delete";
  if (capabilities.includes("write")) return capabilities.includes("network") ? "other" : "edit";
  if (name.startsWith("search_")) return "search";
  if (capabilities.includes("network")) return "fetch";
  return capabilities.includes("read") ? "read" : "other";
}

function pathsOf(args: Args, cwd: string): string[] {
  const named = [args.path, args.source, args.destination].filter(
    (one): one is string => typeof one === "string",
  );
  return named.map((path) => (isAbsolute(path) ? path : resolve(cwd, path)));
}

function contentOf(name: string, args: Args, cwd: string): ToolCallContent[] {
  const diff = diffOf(args, cwd);
  if (diff) return [diff];
  if (typeof args.command === "string") {
    // The fence is longer than any in the command, so that nothing in it can end the block.
    const fence = "`".repeat(
      Math.max(3, ...(args.command.match(/`+/g) ?? []).map(({ length }) => length + 1)),
    );
    const rest = Object.entries(args).filter(([key]) => key !== "command");
    const more = rest.length === 0 ? "" : `\n${JSON.stringify(Object.fromEntries(rest), undefined, 2)}`;
    return [textContent(`${fence}sh\n${args.command}\n${fence}${more}`)];
  }
  return Object.keys(args).length === 0 ? [] : [textContent(`${name} ${JSON.stringify(args, undefined, 2)}`)];
}

/** The difference a write or an edit would make: judged by its arguments, so that tools of other packs have it too. */
function diffOf(
  { path, content, old_text, new_text, replace_all }: Args,
  cwd: string,
): ToolCallContent | undefined {
  if (typeof path !== "string") return undefined;
  const file = isAbsolute(path) ? path : resolve(cwd, path);
  if (typeof content === "string") {
    const before = readText(file);
    return { type: "diff", path: file, newText: content, ...(before !== undefined && { oldText: before }) };
  }
  if (typeof old_text !== "string" || typeof new_text !== "string") return undefined;
  const before = readText(file);
  if (before === undefined || !before.includes(old_text)) {
    return { type: "diff", path: file, oldText: old_text, newText: new_text };
  }
  const after =
    replace_all === true
      ? before.replaceAll(old_text, () => new_text)
      : before.replace(old_text, () => new_text);
  return { type: "diff", path: file, oldText: before, newText: after };
}

function readText(path: string): string | undefined {
  try {
    const info = statSync(path);
    return info.isFile() && info.size <= MAX_DIFF_BYTES ? readFileSync(path, "utf8") : undefined;
  } catch {
    return undefined;
  }
}
