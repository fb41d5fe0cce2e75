import { isRecord } from "@agent/core/toolkit";
import type { McpServer } from "@agentclientprotocol/sdk";
import { invalidParams } from "./requestErrors.js";

/** The method that copies a session. It is not stable in the protocol yet, so the SDK does not support it. */
export const FORK_SESSION = "session/fork";

/** The common parameters of the requests that open a session. */
export interface OpenParams {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[] | null;
  readonly additionalDirectories?: readonly string[] | null;
}

/** Reads the parameters of `session/fork`. */
export function readForkParams(params: unknown): OpenParams & { readonly sessionId: string } {
  const { sessionId, cwd, mcpServers, additionalDirectories } = isRecord(params) ? params : {};
  const isText = (value: unknown): value is string => typeof value === "string";
  if (!isText(sessionId) || !isText(cwd)) throw invalidParams("sessionId and cwd must be strings");
  const directories = listOf(
    additionalDirectories,
    isText,
    "additionalDirectories must be a list of strings",
  );
  const isServer = (value: unknown): value is McpServer =>
    isRecord(value) && isText(value.name) && (isText(value.command) || isText(value.type));
  const servers = listOf(mcpServers, isServer, "mcpServers must be a list of servers");
  return { sessionId, cwd, mcpServers: servers, additionalDirectories: directories };
}

function listOf<Item>(value: unknown, isItem: (item: unknown) => item is Item, expected: string): Item[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every(isItem)) throw invalidParams(expected);
  return value;
}
