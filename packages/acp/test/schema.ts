import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isRecord } from "@agent/core/toolkit";
import { Ajv2020 } from "ajv/dist/2020.js";

/** The schema that the protocol's own package publishes. */
const SCHEMA = JSON.parse(
  readFileSync(
    createRequire(import.meta.url).resolve("@agentclientprotocol/sdk/schema/v1/schema.json"),
    "utf8",
  ),
) as { $defs: Record<string, { "x-method"?: string }> };

const ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
ajv.addSchema(SCHEMA, "acp");

/** The name of the definition for a method: `NewSessionResponse` for the answer to `session/new`. */
function definitionOf(method: string, kind: "Request" | "Response" | "Notification"): string | undefined {
  return Object.keys(SCHEMA.$defs).find(
    (name) => SCHEMA.$defs[name]?.["x-method"] === method && name.endsWith(kind),
  );
}

/** Why a message of the agent violates the published schema, if it does; `method` is the request it answers. */
export function schemaProblem(message: unknown, method?: string): string | undefined {
  if (!isRecord(message) || message.jsonrpc !== "2.0") return `no message: ${JSON.stringify(message)}`;
  if (typeof message.method === "string") {
    return problemOf(message.method, "id" in message ? "Request" : "Notification", message.params);
  }
  if ("error" in message) return problem("Error", message.error);
  return method === undefined ? "it answers no request" : problemOf(method, "Response", message.result);
}

function problemOf(method: string, kind: Parameters<typeof definitionOf>[1], value: unknown) {
  const name = definitionOf(method, kind);
  return name === undefined ? `there is no ${kind} ${method}` : problem(name, value);
}

function problem(name: string, value: unknown): string | undefined {
  const check = ajv.getSchema(`acp#/$defs/${name}`);
  if (!check) return `there is no schema ${name}`;
  return check(value)
    ? undefined
    : `${name}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value).slice(0, 1000)}`;
}
