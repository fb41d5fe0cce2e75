import type { ModelFacts } from "@agent/core";
import { countOf, escapeToLine } from "@agent/internal";
import { chooseMain } from "../assembly/provider/choose.js";
import { saveFacts } from "../assembly/provider/facts.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, note, print } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";

export interface ModelsFlags extends SettingsFlags {
  readonly json?: boolean;
  readonly refresh?: boolean;
}

/** `agent models`: lists the models of the chosen provider's server, with their facts. */
export async function modelsCommand(flags: ModelsFlags): Promise<ExitCode> {
  const { settings, keys, projectFile } = await loadSettings(flags);
  const chosen = await chooseMain(settings, { keys, projectFile });
  const { listModels, kind, knownModels } = chosen;
  if (!listModels) {
    throw new CliError(
      `The ${kind} provider has no list of models. Name another: agent models --provider openai`,
    );
  }
  const listed = await listModels();
  if (flags.refresh) {
    const saved = await saveFacts(chosen, listed);
    note(
      saved === 0
        ? "agent: the server lists names only. Nothing was saved."
        : `agent: saved what the server reports about ${countOf(saved, "model")}.`,
    );
  }
  // The server's report takes precedence.
  const models = listed.map((model) => ({ ...knownModels?.facts(model.id), ...model }));
  if (flags.json) {
    print(`${JSON.stringify({ v: 1, provider: kind, models }, undefined, 2)}\n`);
    return EXIT.done;
  }
  const rows = models.map((model) => [
    `${kind}/${model.id}`,
    model.name ?? "",
    model.contextTokens === undefined ? "" : `${model.contextTokens} tokens`,
    priceText(model),
    model.efforts?.join(" ") ?? "",
  ]);
  const head = ["MODEL", "NAME", "CONTEXT", "IN/OUT PER MILLION", "EFFORT"];
  // Many servers list names only.
  const isKnown = head.map((_, at) => at === 0 || rows.some((row) => row[at] !== ""));
  const known = (row: readonly string[]): string[] => row.filter((_, at) => isKnown[at]).map(escapeToLine);
  print(columns(rows.map(known), known(head)));
  if (knownModels && models.some(({ price }) => price?.isEstimate)) {
    note(`agent: ≈ is a list price of ${knownModels.date}.`);
  }
  return EXIT.done;
}

function priceText({ price }: ModelFacts): string {
  return price ? `${price.isEstimate ? "≈ " : ""}$${price.input} / $${price.output}` : "";
}
