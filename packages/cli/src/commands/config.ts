import { isRecord } from "@agent/core/toolkit";
import { escapeToLine, shorten } from "@agent/internal";
import { type ToolsInUse, withTools } from "../assembly/withTools.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { columns, note, print } from "../process/output.js";
import type { SettingsFlags } from "../settings/flags.js";
import type { LoadedSettings } from "../settings/loadSettings.js";
import { hideSecrets } from "../settings/secrets.js";

export interface ConfigFlags extends SettingsFlags {
  readonly explain?: boolean;
}

const DEFAULT = "default";

/** `agent config`: the settings of all layers merged; with `--explain`, where each value comes from. */
export async function configCommand(flags: ConfigFlags): Promise<ExitCode> {
  return await withTools(flags, (tools) => printSettings(tools, flags.explain ?? false));
}

function printSettings(
  { loaded, registry, reasons, confirm, problems }: ToolsInUse,
  explain: boolean,
): ExitCode {
  for (const problem of problems) note(`agent: ${problem}`);
  // In JSON an unset value is null; in the table the text explains what applies instead.
  const values = effectiveValues(loaded, (words) => (explain ? words : null));
  const tools = registry.describeTools();
  if (!explain) {
    const enabled = tools.filter((tool) => tool.enabled).map(({ name }) => name);
    print(`${JSON.stringify({ ...values, tools: enabled, confirm: [...confirm] }, undefined, 2)}\n`);
    if (process.stdout.isTTY) note("null: not set. To see the value in effect: agent config --explain");
    return EXIT.done;
  }
  const rows = Object.entries(values).map(([key, value]) => [
    key,
    oneLine(value),
    loaded.settings.origins[key] ?? DEFAULT,
  ]);
  const toolRows = tools.map(({ name, enabled }) => [
    `tool ${name}`,
    enabled ? "on" : "off",
    reasons.get(name) ?? "",
  ]);
  const confirmRows = loaded.settings.confirm.flatMap(({ names, origin }) =>
    names.map((name) => [`confirm ${name}`, "asks first", origin]),
  );
  print(
    columns(
      [...rows, ...toolRows, ...confirmRows].map((row) => row.map(escapeToLine)),
      ["KEY", "VALUE", "FROM"],
    ),
  );
  print(`\nLayers, lowest first: ${["default", ...loaded.layers.map(({ origin }) => origin)].join(" < ")}\n`);
  return EXIT.done;
}

function effectiveValues(
  { settings }: LoadedSettings,
  unset: (words: string) => string | null,
): Record<string, unknown> {
  return {
    packs: settings.packs.map(({ name, options }) =>
      options === undefined ? name : [name, hideSecrets(options)],
    ),
    provider: shownProvider(settings.provider),
    model: settings.model ?? "auto",
    fallback: settings.fallback ?? unset("none"),
    systemPrompt: settings.systemPrompt ?? unset("built-in"),
    readOnly: settings.readOnly,
    maxTurns: settings.maxTurns ?? unset(DEFAULT),
    maxRepeats: settings.maxRepeats ?? unset(DEFAULT),
    maxCost: settings.maxCost ?? unset("no limit"),
    maxTokens: settings.maxTokens ?? unset("no limit"),
    waitMs: settings.waitMs ?? unset("does not wait"),
    smallModel: settings.smallModel ?? unset("the same model"),
    contextTokens: settings.contextTokens ?? unset("the model's own"),
    effort: settings.effort ?? unset("the model's own"),
    maxRetries: settings.maxRetries ?? unset(DEFAULT),
    runs: settings.runs,
    mode: settings.mode ?? "edits",
    permissions: settings.permissions,
    notify: settings.notify ?? unset(DEFAULT),
    statusLine: settings.statusLine ?? unset(DEFAULT),
    title: settings.title ?? true,
    progress: settings.progress ?? unset(DEFAULT),
    theme: settings.theme ?? "auto",
    vim: settings.vim,
    keys: settings.keys,
    agents: Object.keys(settings.agents),
  };
}

function shownProvider(provider: unknown): unknown {
  if (isRecord(provider) && typeof provider.respond === "function") return "from the config";
  return hideSecrets(provider) ?? "auto";
}

function oneLine(value: unknown): string {
  return shorten(typeof value === "string" ? value : JSON.stringify(value), 60);
}
