import type { ContentPart, ToolCall } from "@agent/core";
import { errorMessage, isRecord, truncateMiddle } from "@agent/core/toolkit";
import type { ToolAnswer } from "../connection/session.js";
import type { SpillDirectory } from "./spill.js";

/** The maximum text of one result: as much as the output of a shell command. */
const MAX_TEXT_BYTES = 50 * 1024;

/** The maximum text of a prompt or a resource in a message: as much as a mentioned file. */
const MAX_MENTIONED_BYTES = 64 * 1024;

/** How many blocks of one result are examined: a server can send millions of empty ones. */
const MAX_BLOCKS = 1000;

/**
 * The text a model reads; images and files are passed to `attach`. Text that is too long goes to a file, which is
 * named.
 */
export function resultText(
  name: string,
  result: ToolAnswer,
  attach: ToolCall["attach"],
  spill: SpillDirectory,
): string {
  const blocks = result.content.slice(0, MAX_BLOCKS);
  const texts = blocks.map((block) => blockText(block, attach)).filter((text) => text !== "");
  const left = result.content.length - blocks.length;
  if (left > 0) texts.push(`[${left} more blocks are left out: a result may have ${MAX_BLOCKS}]`);
  if (texts.length === 0 && result.structuredContent !== undefined) {
    texts.push(JSON.stringify(result.structuredContent));
  }
  return bounded(name, texts.join("\n\n") || "(no content)", spill);
}

/** Content of prompts and resources as parts of a message. */
export function blockParts(blocks: readonly unknown[]): ContentPart[] {
  const parts: ContentPart[] = [];
  for (const block of blocks.slice(0, MAX_BLOCKS)) {
    const attached: ContentPart[] = [];
    const text = blockText(block, (part) => attached.push(part));
    if (text !== "" && attached.length === 0) parts.push({ type: "text", text });
    parts.push(...attached);
  }
  return parts;
}

/**
 * Limits the texts of message parts to the limit for a mentioned file together: the first are kept, and the rest is
 * counted.
 */
export function boundedParts(parts: readonly ContentPart[]): ContentPart[] {
  let room = MAX_MENTIONED_BYTES;
  const kept = parts.flatMap((part): ContentPart[] => {
    if (part.type !== "text") return [part];
    if (room <= 0) return [];
    const text = truncateMiddle(part.text, room);
    room -= Buffer.byteLength(text);
    return [{ ...part, text }];
  });
  const left = parts.length - kept.length;
  return left > 0 ? [...kept, { type: "text", text: `[${left} more texts are left out]` }] : kept;
}

function bounded(name: string, text: string, spill: SpillDirectory): string {
  if (text.length <= MAX_TEXT_BYTES && Buffer.byteLength(text) <= MAX_TEXT_BYTES) return text;
  const path = spill.write(`${name}.txt`, text);
  const rest =
    path === undefined ? "The rest could not be kept in a file." : `The whole result is in ${path}`;
  return truncateMiddle(text, MAX_TEXT_BYTES, rest);
}

function blockText(block: unknown, attach: ToolCall["attach"]): string {
  if (!isRecord(block)) return "";
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === "text" && typeof text === "string") return text;
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return attachData(attach, data, String(mimeType), undefined);
  }
  if (type === "resource_link") return `[resource ${String(name ?? "")}: ${String(uri)}]`;
  if (type === "resource" && isRecord(resource)) return resourceText(resource, attach);
  return `[content of the type ${JSON.stringify(type)} is not supported]`;
}

/** A resource's content as text, or as a part if it is binary. */
export function resourceText(resource: Record<string, unknown>, attach: ToolCall["attach"]): string {
  const { uri, text, blob, mimeType } = resource;
  if (typeof text === "string") return `[${String(uri)}]\n${text}`;
  if (typeof blob !== "string") return `[${String(uri)}: empty]`;
  return attachData(attach, blob, String(mimeType ?? "application/octet-stream"), String(uri));
}

function attachData(
  attach: ToolCall["attach"],
  data: string,
  mediaType: string,
  name: string | undefined,
): string {
  const type = mediaType.startsWith("image/") ? "image" : "file";
  const label = `[${type} ${mediaType}${name === undefined ? "" : ` ${name}`}]`;
  if (!attach) return label;
  try {
    attach({ type, mediaType, data, ...(name !== undefined && { name }) });
    return label;
  } catch (error) {
    return `${label} (not passed on: ${errorMessage(error)})`;
  }
}
