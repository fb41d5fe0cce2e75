import { isRecord, quote } from "@agent/core/toolkit";

const KEY = "x-mcp-header";
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES = ["string", "integer", "boolean"];

/**
 * Throws for a schema that asks for an argument as a header in a way the protocol forbids: clients must not call such
 * a tool. Allowed are names that are header names, each once, on texts, integers and booleans below `properties`.
 */
export function assertParameterHeaders(schema: unknown): void {
  visit(schema, true, new Set());
}

function visit(schema: unknown, isReachable: boolean, seen: Set<string>): void {
  if (Array.isArray(schema)) for (const item of schema) visit(item, false, seen);
  if (!isRecord(schema)) return;
  if (Object.hasOwn(schema, KEY)) checkDeclaration(schema, isReachable, seen);
  for (const [key, value] of Object.entries(schema)) {
    if (key !== "properties" || !isRecord(value)) visit(value, false, seen);
    else for (const property of Object.values(value)) visit(property, isReachable, seen);
  }
}

function checkDeclaration(schema: Record<string, unknown>, isReachable: boolean, seen: Set<string>): void {
  const name = schema[KEY];
  if (typeof name !== "string" || !HEADER_NAME.test(name)) {
    throw new Error(
      `its schema wants an argument as a header with a name that is none: ${quote(String(name))}`,
    );
  }
  if (!isReachable || typeof schema.type !== "string" || !TYPES.includes(schema.type)) {
    throw new Error(
      `its schema wants an argument as the header ${quote(name)}, which only a text, an integer or a boolean can be`,
    );
  }
  if (seen.has(name.toLowerCase())) throw new Error(`its schema wants the header ${quote(name)} twice`);
  seen.add(name.toLowerCase());
}
