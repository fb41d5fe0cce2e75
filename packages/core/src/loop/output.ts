import { errorMessage } from "@agent/internal";
import { AgentError } from "../errors.js";
import type { OutputFormat } from "../providers/interface.js";
import { type Parsed, readSchema } from "../toolkit/jsonSchema/standardSchema.js";

const FENCE = "```";

/** A structured answer that is wanted: what the model is told, and how its text becomes a value. */
export interface OutputReader {
  readonly format: OutputFormat;
  read(text: string): Promise<Parsed>;
}

/** Throws `invalid_argument` for a schema that is none. */
export function createOutputReader(schema: unknown): OutputReader {
  const reader = readSchema(schema, "output");
  return {
    format: { name: "answer", schema: reader.jsonSchema },
    async read(text) {
      let value: unknown;
      try {
        value = JSON.parse(withoutFence(text));
      } catch (error) {
        return { problem: `it is not JSON (${errorMessage(error)})` };
      }
      return await reader.parse(value);
    },
  };
}

/** What a model without a native mode for JSON is told in its system prompt. */
export function outputInstruction({ schema }: OutputFormat): string {
  return `When you give your final answer, write only JSON that fits this JSON Schema, without any other text:\n${JSON.stringify(schema)}`;
}

/** What is sent back when an answer does not fit. */
export function outputCorrection(problem: string): string {
  return `Your answer does not fit the required form: ${problem}. Answer again, with only the corrected JSON.`;
}

export function outputFailure(problem: string, attempts: number): AgentError {
  return new AgentError(
    "output_invalid",
    `The model gave no answer of the required form in ${attempts} attempts. The last one: ${problem}. Check that the schema can be satisfied, or raise maxOutputRetries.`,
  );
}

function withoutFence(text: string): string {
  const trimmed = text.trim();
  const firstLine = trimmed.indexOf("\n");
  const isFenced = trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE) && firstLine !== -1;
  return isFenced ? trimmed.slice(firstLine, -FENCE.length) : trimmed;
}
