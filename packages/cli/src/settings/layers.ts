import { dirname, resolve } from "node:path";
import type { TokenPrice, ToolPack } from "@agent/core";
import { CliError } from "../process/errors.js";
import type { ConfigSource } from "./config/checkConfig.js";
import type { AgentConfig, AgentProfile, PackReference } from "./config/types.js";
import type { ModuleLoader } from "./modules/moduleLoader.js";

/** A part of the settings and its source. Later layers win. */
export interface ConfigLayer {
  /** For `agent config --explain` and messages: `agent.config.ts`, `AGENT_MODEL`, `--model`. */
  readonly origin: string;
  readonly config: AgentConfig;
  /** The file, if the layer is one. */
  readonly source?: ConfigSource;
  /** Loads the project files that the config names. */
  readonly modules?: ModuleLoader;
  /** `--pack`: packs in addition to those of the config. */
  readonly morePacks?: readonly string[];
  /** `--watch`: local packs are reloaded when they change. */
  readonly watch?: boolean;
  /** `--tools '-*,read_file'`: in order, `*` meaning every tool. */
  readonly tools?: readonly string[];
}

/** One instruction to turn tools on or off. Instructions are applied in order. */
export interface ToolSwitch {
  readonly action: "enable" | "disable" | "only";
  readonly names: readonly string[];
  readonly origin: string;
  readonly source?: ConfigSource;
}

export interface SelectedPack {
  readonly name: string;
  readonly options: unknown;
  /** The pack itself, if the config contains it. */
  readonly module?: ToolPack;
  readonly origin: string;
  readonly source?: ConfigSource;
  /** Loads the pack if it is a file of the project. */
  readonly modules?: ModuleLoader;
}

/** The merged settings of all layers. */
export interface Settings {
  readonly packs: readonly SelectedPack[];
  /** Whether local packs are reloaded when they change. */
  readonly watch: boolean;
  readonly switches: readonly ToolSwitch[];
  readonly confirm: readonly ToolSwitch[];
  readonly readOnly: boolean;
  /** Rules about calls; those of all layers add up. */
  readonly permissions: Readonly<Record<"allow" | "ask" | "deny", readonly string[]>>;
  readonly mode: AgentConfig["mode"];
  /** Whether commands run in a sandbox if the mode lets them run without asking. */
  readonly sandbox: boolean;
  readonly notify: AgentConfig["notify"];
  readonly statusLine: AgentConfig["statusLine"];
  readonly title: boolean | undefined;
  readonly progress: boolean | undefined;
  readonly theme: AgentConfig["theme"];
  readonly vim: boolean;
  readonly screenReader: boolean;
  /** Key bindings; a later layer wins for each key. */
  readonly keys: NonNullable<AgentConfig["keys"]>;
  /** Absolute. */
  readonly addDirs: readonly string[];
  readonly provider: AgentConfig["provider"];
  readonly model: string | undefined;
  readonly systemPrompt: AgentConfig["systemPrompt"];
  /** The fallback model. */
  readonly fallback: string | undefined;
  /** Dollars per million tokens, by the model's name. */
  readonly prices: Readonly<Record<string, TokenPrice>>;
  readonly maxTurns: number | undefined;
  readonly maxRepeats: number | undefined;
  readonly maxCost: number | undefined;
  readonly maxTokens: number | undefined;
  readonly waitMs: number | undefined;
  /** A cheaper model for summaries and for reading pages. */
  readonly smallModel: string | undefined;
  readonly contextTokens: number | undefined;
  readonly effort: AgentConfig["effort"];
  readonly maxRetries: number | undefined;
  readonly runs: NonNullable<AgentConfig["runs"]>;
  readonly agents: Readonly<Record<string, AgentProfile>>;
  /** The source of each value; a key without one has its default. */
  readonly origins: Readonly<Record<string, string>>;
}

export const DEFAULT_PACK = "@agent/preset-default";

type Values = { -readonly [Key in keyof AgentConfig]: AgentConfig[Key] };

/**
 * Merges the layers, lowest first. `flags` come last, after the chosen profile, so that flags always win. Throws for an
 * unknown profile.
 */
export function mergeLayers(
  files: readonly ConfigLayer[],
  flags: readonly ConfigLayer[],
  profileName?: string,
): Settings {
  const agents: Record<string, AgentProfile> = Object.assign({}, ...files.map(({ config }) => config.agents));
  const profile = profileName === undefined ? [] : [profileLayer(profileName, agents)];
  const layers = [...files, ...profile, ...flags];
  const values: Values = {};
  const origins: Record<string, string> = {};
  let packs: readonly SelectedPack[] = [{ name: DEFAULT_PACK, options: undefined, origin: "default" }];
  for (const { config, origin, source, modules, morePacks = [] } of layers) {
    for (const key of [
      "provider",
      "model",
      "fallback",
      "systemPrompt",
      "maxTurns",
      "maxRepeats",
      "maxCost",
      "maxTokens",
      "waitMs",
      "smallModel",
      "contextTokens",
      "effort",
      "maxRetries",
      "runs",
      "readOnly",
      "mode",
      "sandbox",
      "notify",
      "statusLine",
      "title",
      "progress",
      "theme",
      "vim",
      "screenReader",
    ] as const) {
      const value = key === "model" ? (config.model ?? providerModel(config)) : config[key];
      if (value === undefined || (key === "readOnly" && value === false)) continue;
      Object.assign(values, { [key]: value });
      origins[key] = origin;
    }
    if (config.packs) {
      packs = config.packs.map((pack) => ({
        ...readPack(pack),
        origin,
        ...(source && { source }),
        ...(modules && { modules }),
      }));
      origins.packs = origin;
    }
    packs = [...packs, ...morePacks.map((name) => ({ name, options: undefined, origin }))];
  }
  return {
    packs,
    watch: layers.some(({ watch }) => watch === true),
    switches: layers.flatMap(toSwitches),
    confirm: layers.flatMap((layer) => named(layer, "enable", layer.config.confirm)),
    readOnly: values.readOnly ?? false,
    permissions: {
      allow: layers.flatMap(({ config }) => config.permissions?.allow ?? []),
      ask: layers.flatMap(({ config }) => config.permissions?.ask ?? []),
      deny: layers.flatMap(({ config }) => config.permissions?.deny ?? []),
    },
    mode: values.mode,
    sandbox: values.sandbox ?? true,
    notify: values.notify,
    statusLine: values.statusLine,
    title: values.title,
    progress: values.progress,
    theme: values.theme,
    vim: values.vim ?? false,
    screenReader: values.screenReader ?? false,
    keys: Object.assign({}, ...layers.map(({ config }) => config.keys)),
    addDirs: layers.flatMap(({ config, source }) =>
      (config.addDirs ?? []).map((path) => resolve(source ? dirname(source.file) : ".", path)),
    ),
    provider: values.provider,
    model: values.model,
    systemPrompt: values.systemPrompt,
    fallback: values.fallback,
    prices: Object.assign({}, ...layers.map(({ config }) => config.prices)),
    maxTurns: values.maxTurns,
    maxRepeats: values.maxRepeats,
    maxCost: values.maxCost,
    maxTokens: values.maxTokens,
    waitMs: values.waitMs,
    smallModel: values.smallModel,
    contextTokens: values.contextTokens,
    effort: values.effort,
    maxRetries: values.maxRetries,
    runs: values.runs ?? {},
    agents,
    origins,
  };
}

function profileLayer(
  name: string,
  agents: Readonly<Record<string, AgentProfile>>,
): ConfigLayer & { only?: readonly string[] } {
  const profile = Object.hasOwn(agents, name) ? agents[name] : undefined;
  if (!profile) {
    const known = Object.keys(agents);
    throw new CliError(
      known.length === 0
        ? `--agent ${name}: the config defines no agents.`
        : `--agent ${name}: there is no such agent. Defined: ${known.join(", ")}.`,
    );
  }
  const { tools, ...config } = profile;
  return { origin: `agent ${name}`, config, ...(tools && { only: tools }) };
}

function toSwitches(layer: ConfigLayer & { only?: readonly string[] }): ToolSwitch[] {
  return [
    ...named(layer, "only", layer.only),
    ...named(layer, "enable", layer.config.enable),
    ...named(layer, "disable", layer.config.disable),
    ...(layer.tools ?? []).flatMap((item) =>
      named(layer, item.startsWith("-") ? "disable" : "enable", [item.replace(/^[+-]/, "")]),
    ),
  ];
}

function named(
  { origin, source }: ConfigLayer,
  action: ToolSwitch["action"],
  names: readonly string[] | undefined,
): ToolSwitch[] {
  return names === undefined ? [] : [{ action, names, origin, ...(source && { source }) }];
}

function readPack(reference: PackReference): Pick<SelectedPack, "name" | "options" | "module"> {
  const [pack, options] = Array.isArray(reference) ? reference : [reference, undefined];
  if (typeof pack === "string") return { name: pack, options };
  if ("register" in pack)
    return { name: pack.packName ?? "(unnamed pack of the config)", options, module: pack };
  const module: ToolPack = { packName: pack.name, register: (registry) => registry.register(pack) };
  return { name: pack.name, options, module };
}

function providerModel({ provider }: AgentConfig): string | undefined {
  return typeof provider === "object" ? provider.model : undefined;
}
