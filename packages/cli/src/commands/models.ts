import { escapeToLine } from "@agent/internal";
import { chooseProvider } from "../assembly/provider/choose.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, print } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";
import { loadSettings } from "../settings/loadSettings.js";

export interface ModelsFlags extends SettingsFlags {
  readonly json?: boolean;
}

/** `agent models`: what the chosen provider's server offers. */
export async function modelsCommand(flags: ModelsFlags): Promise<ExitCode> {
  const { settings, keys, projectFile } = await loadSettings(flags);
  const { listModels, kind } = await chooseProvider(settings, { keys, projectFile });
  if (!listModels) {
    throw new CliError(
      `The ${kind} provider has no list of models. Name another: agent models --provider openai`,
    );
  }
  const models = await listModels();
  if (flags.json) {
    print(`${JSON.stringify({ v: 1, provider: kind, models }, undefined, 2)}\n`);
    return EXIT.done;
  }
  const rows = models.map(({ id, name, contextTokens }) =>
    [`${kind}/${id}`, name ?? "", contextTokens === undefined ? "" : `${contextTokens} tokens`].map(
      escapeToLine,
    ),
  );
  print(columns([["MODEL", "NAME", "CONTEXT"], ...rows]));
  return EXIT.done;
}
