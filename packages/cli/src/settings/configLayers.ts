import { existsSync, realpathSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { CliError } from "../process/errors.js";
import { configDirectory } from "../process/paths.js";
import { checkFileSafety } from "./config/fileSafety.js";
import { findUserConfig } from "./config/places.js";
import { type FoundConfig, findProjectConfig, isNarrowing, readConfigFile } from "./config/readFile.js";
import type { ConfigLayer } from "./layers.js";
import type { LoadedLayers, LoadOptions } from "./loadLayers.js";
import { ModuleLoader } from "./modules/moduleLoader.js";
import { isInstalled } from "./modules/resolveModule.js";
import { resolvePack } from "./packs/resolve.js";
import { configFiles } from "./trust/configFiles.js";
import { type ProjectFiles, readProjectFile } from "./trust/projectFiles.js";
import { requireTrust, TrustedSources, type TrustPolicy } from "./trust/trust.js";

/** Finds, checks and runs the config files: the user's own, then the project's. */
export async function loadConfigLayers(options: LoadOptions): Promise<LoadedLayers> {
  const user = options.userConfig === false ? undefined : await loadUserConfig();
  const project = options.file
    ? await loadNamedFile(resolve(options.cwd, options.file))
    : await loadProjectConfig(options.cwd, options.trust);
  return {
    layers: [user, project].flatMap((found) => (found ? [toLayer(found)] : [])),
    // A config that was accepted without trust must not decide where packs come from.
    projectFile: project && !(isNarrowing(project.config) && !options.file) ? project.source.file : undefined,
  };
}

async function loadUserConfig(): Promise<FoundConfig | undefined> {
  const file = findUserConfig();
  if (file === undefined) return undefined;
  checkFileSafety(file);
  return await readConfigFile(file, admitAnything);
}

async function loadNamedFile(file: string): Promise<FoundConfig | undefined> {
  if (!existsSync(file)) throw new CliError(`--config ${file}: there is no such file.`);
  checkFileSafety(file, { anyOwner: true });
  return await readConfigFile(file, admitAnything);
}

/** Admits a file the user wrote or named: it and its imports run without asking. */
async function admitAnything(file: string, text: string): Promise<ModuleLoader> {
  const canonical = realpathSync(file);
  return new ModuleLoader(dirname(canonical), {
    read: (path) => (path === canonical ? text : readProjectFile(path)),
  });
}

async function loadProjectConfig(cwd: string, trust: TrustPolicy): Promise<FoundConfig | undefined> {
  let files: ProjectFiles | undefined;
  const found = await findProjectConfig(cwd, async (file, text) => {
    files = configFiles(file, text);
    if (!(await requireTrust(file, files, trust))) return undefined;
    return new ModuleLoader(files.root, new TrustedSources(file, files, trust));
  });
  if (found?.config.screenReader !== undefined) {
    throw new CliError(
      `${found.source.file}: "screenReader" holds for every project. Move it to your own config in ${configDirectory()}.`,
    );
  }
  if (!found || !files || isNarrowing(found.config)) return found;
  // Most packs were already found in the text; one whose path is computed at run time is known only now.
  for (const { file, isInstalled } of selectedPacks(found, files.root)) {
    if (isInstalled) files.addPackage(file);
    else files.add(file);
  }
  return (await requireTrust(found.source.file, files, trust)) ? found : undefined;
}

/** The files of selected packs, in the project or installed. Packs that came with the command are excluded. */
function selectedPacks(
  { config, source }: FoundConfig,
  root: string,
): { readonly file: string; readonly isInstalled: boolean }[] {
  return (config.packs ?? []).flatMap((pack) => {
    const name: unknown = Array.isArray(pack) ? pack[0] : pack;
    const found = typeof name === "string" ? resolvePack(name, [dirname(source.file)]) : undefined;
    if (!found || found.own) return [];
    return [{ file: found.file, isInstalled: !found.local && isInstalled(found.file, root) }];
  });
}

function toLayer({ config, source, modules }: FoundConfig): ConfigLayer {
  const way = relative(process.cwd(), source.file);
  return {
    origin: way.startsWith("..") ? source.file : way,
    config,
    source,
    ...(modules && { modules }),
  };
}
