import { readFileSync } from "node:fs";
import type { JsonSchema } from "@agent/core";
import { compileSchema, errorMessage, isRecord } from "@agent/core/toolkit";
import { describeValue } from "@agent/internal";
import { CliError } from "../process/errors.js";
import { checkReadable } from "../settings/config/fileSafety.js";

/** `--schema FILE`: reads the JSON Schema of the answer. Throws a `CliError` for a file without one. */
export function readSchemaFile(file: string): JsonSchema {
  try {
    checkReadable(file);
    const schema: unknown = JSON.parse(readFileSync(file, "utf8"));
    if (!isRecord(schema))
      throw new Error(`it must hold a JSON Schema object, got ${describeValue(schema)}.`);
    compileSchema(schema as JsonSchema);
    return schema as JsonSchema;
  } catch (error) {
    throw new CliError(`--schema ${file}: ${errorMessage(error)}`);
  }
}
