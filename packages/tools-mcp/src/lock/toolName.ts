import { nodeCrypto } from "../nodeModules.js";

const MAX_LENGTH = 64;
const HASH_LENGTH = 8;
const PREFIX = "mcp__";

/**
 * The name under which the model calls a server's tool: `mcp__github__create_issue`. Always the same for the same
 * pair. A name that is too long, or has characters that model APIs refuse, is shortened and ends in a hash of the
 * original, so that two tools never get the same name.
 */
export function toolName(server: string, tool: string): string {
  const prefix = `${PREFIX}${server}__`;
  const plain = tool.replace(/[^A-Za-z0-9_-]/g, "_");
  if (plain === tool && tool !== "" && prefix.length + tool.length <= MAX_LENGTH) return prefix + tool;
  return `${prefix}${plain.slice(0, MAX_LENGTH - prefix.length - HASH_LENGTH - 1)}_${shortHash(tool)}`;
}

/**
 * The name under which a user runs a server's prompt in the chat: `github:review`. Characters that cannot be typed in
 * one word are removed, and a hash keeps such names unique.
 */
export function commandName(server: string, prompt: string): string {
  const plain = prompt.replace(/[^A-Za-z0-9_-]+/g, "-");
  return plain === prompt ? `${server}:${prompt}` : `${server}:${plain}-${shortHash(prompt)}`;
}

function shortHash(text: string): string {
  return nodeCrypto.createHash("sha256").update(text).digest("hex").slice(0, HASH_LENGTH);
}
