import { isRecord } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
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
  const values = effectiveValues(loaded);
  const tools = registry.describeTools();
  if (!explain) {
    const enabled = tools.filter((tool) => tool.enabled).map(({ name }) => name);
    print(`${JSON.stringify({ ...values, tools: enabled, confirm: [...confirm] }, undefined, 2)}\n`);
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

function effectiveValues({ settings }: LoadedSettings): Record<string, unknown> {
  return {
    packs: settings.packs.map(({ name, options }) =>
      options === undefined ? name : [name, hideSecrets(options)],
    ),
    provider: shownProvider(settings.provider),
    model: settings.model ?? "auto",
    fallback: settings.fallback ?? "none",
    systemPrompt: settings.systemPrompt ?? "built-in",
    readOnly: settings.readOnly,
    maxTurns: settings.maxTurns ?? DEFAULT,
    maxRepeats: settings.maxRepeats ?? DEFAULT,
    maxCost: settings.maxCost ?? "no limit",
    maxTokens: settings.maxTokens ?? "no limit",
    waitMs: settings.waitMs ?? "does not wait",
    smallModel: settings.smallModel ?? "the same model",
    contextTokens: settings.contextTokens ?? "the model's own",
    effort: settings.effort ?? "the model's own",
    maxRetries: settings.maxRetries ?? DEFAULT,
    runs: settings.runs,
    mode: settings.mode ?? "edits",
    permissions: settings.permissions,
    notify: settings.notify ?? DEFAULT,
    statusLine: settings.statusLine ?? DEFAULT,
    title: settings.title ?? true,
    progress: settings.progress ?? DEFAULT,
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
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}
