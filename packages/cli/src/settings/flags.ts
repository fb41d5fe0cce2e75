import { resolve } from "node:path";
import { CliError } from "../process/errors.js";
import {
  countFromZero,
  effortName,
  modeName,
  positiveNumber,
  providerName,
  splitNames,
  timeSpan,
} from "./environment.js";
import type { ConfigLayer } from "./layers.js";
import { isLocal } from "./packs/resolve.js";
import { hideCredentials } from "./secrets.js";

/** The flags of every command that needs settings, as parsed. */
export interface SettingsFlags {
  readonly cwd?: string;
  readonly config?: string | false;
  readonly trust?: boolean;
  readonly agent?: string;
  readonly pack?: readonly string[];
  readonly watch?: boolean;
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
  readonly confirm?: readonly string[];
  readonly tools?: string;
  readonly mode?: string;
  /** `false` for `--no-sandbox`. */
  readonly sandbox?: boolean;
  readonly readOnly?: boolean;
  readonly addDir?: readonly string[];
  readonly provider?: string;
  readonly model?: string;
  readonly baseUrl?: string;
  readonly fallback?: string;
  readonly effort?: string;
  readonly maxTurns?: string;
  readonly maxRetries?: string;
  readonly maxCost?: string;
  readonly maxTokens?: string;
  readonly smallModel?: string;
  readonly wait?: string;
}

/** The layers of the flags, each named after its flag. */
export function flagLayers(flags: SettingsFlags): ConfigLayer[] {
  const layers: ConfigLayer[] = [];
  const add = (origin: string, layer: Omit<ConfigLayer, "origin">): void =>
    void layers.push({ origin, ...layer });
  const provider = flags.provider === undefined ? undefined : providerName(flags.provider, "--provider");
  if (flags.baseUrl !== undefined) {
    const baseURL = checkedUrl(flags.baseUrl);
    add("--base-url", {
      config: { provider: { ...(provider !== undefined && { name: provider }), baseURL } },
    });
  } else if (provider !== undefined) {
    add("--provider", { config: { provider } });
  }
  if (flags.pack !== undefined) {
    add("--pack", {
      config: {},
      morePacks: flags.pack.map((name) => (isLocal(name) ? resolve(name) : name)),
    });
  }
  if (flags.watch === true) add("--watch", { config: {}, watch: true });
  if (flags.fallback !== undefined) add("--fallback", { config: { fallback: flags.fallback } });
  if (flags.model !== undefined) add("--model", { config: { model: flags.model } });
  if (flags.effort !== undefined)
    add("--effort", { config: { effort: effortName(flags.effort, "--effort") } });
  if (flags.maxTurns !== undefined)
    add("--max-turns", { config: { maxTurns: positiveNumber(flags.maxTurns, "--max-turns") } });
  if (flags.maxCost !== undefined)
    add("--max-cost", { config: { maxCost: positiveNumber(flags.maxCost, "--max-cost") } });
  if (flags.maxTokens !== undefined)
    add("--max-tokens", { config: { maxTokens: positiveNumber(flags.maxTokens, "--max-tokens") } });
  if (flags.smallModel !== undefined) add("--small-model", { config: { smallModel: flags.smallModel } });
  if (flags.wait !== undefined) add("--wait", { config: { waitMs: timeSpan(flags.wait, "--wait") } });
  if (flags.maxRetries !== undefined)
    add("--max-retries", { config: { maxRetries: countFromZero(flags.maxRetries, "--max-retries") } });
  if (flags.tools !== undefined) add("--tools", { config: {}, tools: splitNames(flags.tools) });
  if (flags.enable) add("--enable", { config: { enable: flags.enable.flatMap(splitNames) } });
  if (flags.disable) add("--disable", { config: { disable: flags.disable.flatMap(splitNames) } });
  if (flags.confirm) add("--confirm", { config: { confirm: flags.confirm.flatMap(splitNames) } });
  if (flags.mode !== undefined) add("--mode", { config: { mode: modeName(flags.mode, "--mode") } });
  if (flags.sandbox === false) add("--no-sandbox", { config: { sandbox: false } });
  if (flags.readOnly) add("--read-only", { config: { readOnly: true } });
  if (flags.addDir) add("--add-dir", { config: { addDirs: flags.addDir } });
  return layers;
}

function checkedUrl(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url;
  throw new CliError(
    `--base-url must be an http or https URL, such as http://127.0.0.1:11434/v1, got "${hideCredentials(url)}".`,
  );
}
