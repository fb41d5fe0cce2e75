import { isDeepStrictEqual } from "node:util";
import { AgentError } from "@agent/core";
import type { NewRun } from "./run.js";

/**
 * Throws `invalid_argument` if an existing run with this id is not the one to be created. The message reveals nothing
 * about the run of another tenant.
 */
export function checkSameRun(
  run: Pick<NewRun, "id" | "tenant" | "definition" | "input">,
  existing: Pick<NewRun, "tenant" | "definition" | "input">,
): void {
  const difference = differenceOf(run, existing);
  if (difference === undefined) return;
  throw new AgentError(
    "invalid_argument",
    `id "${run.id}" belongs to another run${difference}. Choose another id, or leave it out.`,
  );
}

function differenceOf(
  run: Pick<NewRun, "tenant" | "definition" | "input">,
  existing: Pick<NewRun, "tenant" | "definition" | "input">,
): string | undefined {
  if (run.tenant !== existing.tenant) return "";
  if (run.definition !== existing.definition) return ` of the definition "${existing.definition}"`;
  const isSame = isDeepStrictEqual(JSON.parse(JSON.stringify(run.input)), existing.input);
  return isSame ? undefined : ", with another input";
}
