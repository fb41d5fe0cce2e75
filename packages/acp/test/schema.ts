import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { isRecord } from "@agent/core/toolkit";
import { Ajv2020 } from "ajv/dist/2020.js";

type Definitions = { $defs: Record<string, { "x-method"?: string }> };

const ajv = new Ajv2020({ strict: false, validateFormats: false, discriminator: false });
const [SCHEMA, DRAFT] = [schema("schema.json", "acp"), schema("schema.unstable.json", "draft")];

/** A schema that the protocol's own package publishes. */
function schema(file: string, name: string): Definitions {
  const path = createRequire(import.meta.url).resolve(`@agentclientprotocol/sdk/schema/v1/${file}`);
  const definitions = JSON.parse(readFileSync(path, "utf8")) as Definitions;
  ajv.addSchema(definitions, name);
  return definitions;
}

/** The name of the definition for a method: `NewSessionResponse` for the answer to `session/new`. */
function definitionOf(
  { $defs }: Definitions,
  method: string,
  kind: "Request" | "Response" | "Notification",
): string | undefined {
  return Object.keys($defs).find((name) => $defs[name]?.["x-method"] === method && name.endsWith(kind));
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

/** Methods that are not stable yet are checked against their draft. */
function problemOf(method: string, kind: Parameters<typeof definitionOf>[2], value: unknown) {
  const stable = definitionOf(SCHEMA, method, kind);
  if (stable !== undefined) return problem(stable, value);
  const draft = definitionOf(DRAFT, method, kind);
  return draft === undefined ? `there is no ${kind} ${method}` : problem(draft, value, "draft");
}

function problem(name: string, value: unknown, schema = "acp"): string | undefined {
  const check = ajv.getSchema(`${schema}#/$defs/${name}`);
  if (!check) return `there is no schema ${name}`;
  return check(value)
    ? undefined
    : `${name}: ${ajv.errorsText(check.errors)} in ${JSON.stringify(value).slice(0, 1000)}`;
}
