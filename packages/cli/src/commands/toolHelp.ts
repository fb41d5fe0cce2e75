import type { JsonSchema, ToolRegistry } from "@agent/core";
import { escapeInvisible, isRecord } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { typesOf } from "../offline/toolArguments.js";
import { columns } from "../process/output.js";

/** `agent tool run NAME --help`: what the tool does and which arguments it takes. */
export function toolHelp(name: string, registry: ToolRegistry): string {
  const { description = "", parameters } = registry.describeTool(name) ?? {};
  const required = parameters?.required;
  const rows = Object.entries(toolProperties(name, registry)).map(([key, property]) => [
    `  --${key.replaceAll("_", "-")}`,
    typesOf(property).join(" or ") || "any",
    [
      Array.isArray(required) && required.includes(key) ? "required" : "",
      typeof property.description === "string" ? property.description : "",
      Array.isArray(property.enum) ? `One of: ${property.enum.map(String).join(", ")}.` : "",
      property.default === undefined ? "" : `Default: ${JSON.stringify(property.default)}.`,
    ]
      .filter((part) => part !== "")
      .join(". ")
      .replaceAll("..", "."),
  ]);
  const lines = [
    `Usage: agent tool run ${name} [--key value …] [--args JSON]\n`,
    escapeInvisible(description),
    "",
    "Arguments:",
  ];
  const list = rows.length === 0 ? "  none\n" : columns(rows.map((row) => row.map(escapeToLine)));
  return `${lines.join("\n")}\n${list}`;
}

/** The schemas of a tool's arguments, by name. */
export function toolProperties(name: string, registry: ToolRegistry): Record<string, JsonSchema> {
  const properties = registry.describeTool(name)?.parameters?.properties;
  return isRecord(properties) ? (properties as Record<string, JsonSchema>) : {};
}
