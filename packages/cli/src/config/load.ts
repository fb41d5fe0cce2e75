import { existsSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import { CliError } from "../errors.js";
import { configDirectory } from "../paths.js";
import { environmentLayers } from "./environment.js";
import { checkFileSafety } from "./fileSafety.js";
import type { ConfigLayer } from "./layers.js";
import { hashLocalFiles } from "./localFiles.js";
import { USER_PLACES } from "./places.js";
import { type FoundConfig, findProjectConfig, isNarrowing, readConfigFile } from "./readFile.js";
import { requireTrust, type TrustPolicy } from "./trust.js";

export interface LoadOptions {
  readonly cwd: string;
  /** `--config`: this file instead of the project's. Naming it is trusting it. */
  readonly file?: string;
  /** `--no-config`: neither the project's config nor the person's own. */
  readonly none?: boolean;
  readonly trust: TrustPolicy;
  /** `false` leaves out the person's own config. */
  readonly userConfig?: boolean;
}

/** The layers below the flags: the person's own config, the project's, the environment. */
export interface LoadedLayers {
  readonly layers: readonly ConfigLayer[];
  /** The project's config file, if it is in use. */
  readonly projectFile: string | undefined;
}

/** Finds, checks and runs the config files. Throws a `CliError` with one message for whatever is wrong. */
export async function loadLayers(options: LoadOptions): Promise<LoadedLayers> {
  if (options.none) return { layers: environmentLayers(), projectFile: undefined };
  const user = options.userConfig === false ? undefined : await loadUserConfig();
  const project = options.file
    ? await loadNamedFile(resolve(options.cwd, options.file))
    : await loadProjectConfig(options.cwd, options.trust);
  return {
    layers: [...[user, project].flatMap((found) => (found ? [toLayer(found)] : [])), ...environmentLayers()],
    // Data that was taken without trust must not decide where packs come from.
    projectFile: project && !(isNarrowing(project.config) && !options.file) ? project.source.file : undefined,
  };
}

async function loadUserConfig(): Promise<FoundConfig | undefined> {
  const file = USER_PLACES.map((name) => join(configDirectory(), name)).find((path) => existsSync(path));
  if (file === undefined) return undefined;
  checkFileSafety(file);
  return await readConfigFile(file, async () => true);
}

async function loadNamedFile(file: string): Promise<FoundConfig | undefined> {
  if (!existsSync(file)) throw new CliError(`--config ${file}: there is no such file.`);
  checkFileSafety(file, { anyOwner: true });
  return await readConfigFile(file, async () => true);
}

async function loadProjectConfig(cwd: string, trust: TrustPolicy): Promise<FoundConfig | undefined> {
  const found = await findProjectConfig(cwd, (file, text) =>
    requireTrust(file, hashLocalFiles(file, text), trust),
  );
  if (!found || isNarrowing(found.config)) return found;
  // Most packs were seen in the text already; one whose path is put together at run time is seen only now.
  const { file } = found.source;
  const hashes = { ...hashLocalFiles(file, trustedText(found)) };
  for (const pack of relativePacks(found)) Object.assign(hashes, hashLocalFiles(pack));
  return (await requireTrust(file, hashes, trust)) ? found : undefined;
}

function trustedText({ config, source }: FoundConfig): string {
  return basename(source.file) === "package.json" ? JSON.stringify(config) : source.text;
}

function relativePacks({ config, source }: FoundConfig): string[] {
  return (config.packs ?? [])
    .map((pack) => (typeof pack === "string" ? pack : pack[0]))
    .filter((name) => name.startsWith(".") || isAbsolute(name))
    .map((name) => resolve(dirname(source.file), name))
    .filter((path) => existsSync(path));
}

function toLayer({ config, source }: FoundConfig): ConfigLayer {
  const way = relative(process.cwd(), source.file);
  return { origin: way.startsWith("..") ? source.file : way, config, source };
}
