import { errorMessage } from "@agent/internal";
import { AgentError } from "../errors.js";
import type { OutputFormat } from "../providers/interface.js";
import { checkObject } from "../toolkit/hostOptions/checks.js";
import { type Parsed, readSchema } from "../toolkit/jsonSchema/standardSchema.js";

const FENCE = "```";

/** A requested structured answer: the instructions for the model, and the parser of its text. */
export interface OutputReader {
  readonly format: OutputFormat;
  read(text: string): Promise<Parsed>;
}

/** Throws `invalid_argument` for an invalid schema. */
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

/** The system prompt for a model without a native JSON mode. */
export function outputInstruction(format: OutputFormat): string {
  checkObject("format", format);
  return `When you give your final answer, write only JSON that fits this JSON Schema, without any other text:\n${JSON.stringify(format.schema)}`;
}

/** The message to the model after an answer that does not fit. */
export function outputCorrection(problem: string): string {
  return `Your answer does not fit the required form: ${problem}. Answer again, with only the corrected JSON.`;
}

export function outputFailure(problem: string, attempts: number): AgentError {
  return new AgentError(
    "output_invalid",
    `The model gave no answer of the required form in ${attempts} attempts. The last one: ${problem}. Check that the schema can be satisfied, or try another model.`,
  );
}

function withoutFence(text: string): string {
  const trimmed = text.trim();
  const firstLine = trimmed.indexOf("\n");
  const isFenced = trimmed.startsWith(FENCE) && trimmed.endsWith(FENCE) && firstLine !== -1;
  return isFenced ? trimmed.slice(firstLine, -FENCE.length) : trimmed;
}
