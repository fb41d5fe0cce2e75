import type { Content, ContentPart } from "@agent/core";
import type { ContentBlock } from "@agentclientprotocol/sdk";

/** Converts an editor's message to the agent's content parts. */
export function toContent(blocks: readonly ContentBlock[]): Content {
  const parts = blocks.map(toPart);
  if (parts.every((part) => part.type === "text")) return parts.map(({ text }) => text).join("\n\n");
  return parts;
}

function toPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text };
    case "image":
      return { type: "image", mediaType: block.mimeType, data: block.data };
    case "audio":
      return { type: "file", mediaType: block.mimeType, data: block.data };
    case "resource_link":
      return { type: "text", text: `[${block.name}: ${toPath(block.uri)}]` };
    case "resource": {
      const { resource } = block;
      if ("text" in resource) return { type: "text", text: `[${toPath(resource.uri)}]\n${resource.text}` };
      const mediaType = resource.mimeType ?? "application/octet-stream";
      const type = mediaType.startsWith("image/") ? "image" : "file";
      return { type, mediaType, data: resource.blob, name: toPath(resource.uri) };
    }
  }
}

/** Converts a `file:` URL to a path, which tools understand. A URL that cannot be read stays as it is. */
function toPath(uri: string): string {
  if (!uri.startsWith("file://") || !URL.canParse(uri)) return uri;
  try {
    return decodeURIComponent(new URL(uri).pathname);
  } catch {
    return uri;
  }
}
