import { isAbsolute, resolve } from "node:path";
import type { ContentPart, ToolCapability } from "@agent/core";
import { escapeToLine, truncateUtf8 } from "@agent/internal";
import type { ToolCallContent, ToolCallLocation, ToolKind } from "@agentclientprotocol/sdk";
import { changedLine, predictDiffs } from "./diffs.js";
import type { TextReader } from "./textReader.js";

const MAX_TITLE_BYTES = 200;

type Args = Readonly<Record<string, unknown>>;

/** A call, as far as an editor shows it. */
export interface ShownCall {
  readonly name: string;
  readonly args: Args;
  readonly capabilities: readonly ToolCapability[];
}

/** What an editor shows of a call: all of it that a person needs to decide. */
export interface CallView {
  readonly title: string;
  readonly kind: ToolKind;
  readonly content: ToolCallContent[];
  readonly locations: ToolCallLocation[];
}

/** Describes a call before it runs: the whole command, the difference it makes to a file, or all its arguments. */
export async function describeCall(
  { name, args, capabilities }: ShownCall,
  cwd: string,
  read: TextReader,
): Promise<CallView> {
  const onlyReads = capabilities.length > 0 && capabilities.every((one) => one === "read");
  const diffs = onlyReads ? [] : await predictDiffs(args, cwd, read);
  const line = diffs[0] === undefined ? args.offset : changedLine(diffs[0]);
  const isLine = typeof line === "number" && Number.isInteger(line) && line >= 0 && line < 2 ** 32;
  return {
    title: escapeToLine(truncateUtf8(titleOf(name, args), MAX_TITLE_BYTES)) || name || "(unnamed tool)",
    kind: kindOf(name, capabilities),
    content: diffs.length > 0 ? diffs : argumentContent(name, args),
    locations: pathsOf(args, cwd).map((path, at) => ({ path, ...(at === 0 && isLine && { line }) })),
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

/** A text that is shown as it is: the fence is longer than any in it, so that nothing in it can end the block. */
export function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)));
  return `${fence}${language}\n${text.replace(/\n$/, "")}\n${fence}`;
}

/** The files a call names, as absolute paths. */
export function pathsOf(args: Args, cwd: string): string[] {
  const several: unknown[] = Array.isArray(args.paths) ? args.paths : [];
  const named = [args.path, args.source, args.destination, ...several].filter(
    (one): one is string => typeof one === "string" && one !== "",
  );
  return [...new Set(named.map((path) => (isAbsolute(path) ? path : resolve(cwd, path))))];
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

function argumentContent(name: string, args: Args): ToolCallContent[] {
  if (typeof args.command === "string") {
    const rest = Object.entries(args).filter(([key]) => key !== "command");
    const more =
      rest.length === 0 ? "" : `\n${fenced(JSON.stringify(Object.fromEntries(rest), undefined, 2), "json")}`;
    return [textContent(`${fenced(args.command, "sh")}${more}`)];
  }
  if (Object.keys(args).length === 0) return [];
  return [textContent(`${name}\n${fenced(JSON.stringify(args, undefined, 2), "json")}`)];
}
