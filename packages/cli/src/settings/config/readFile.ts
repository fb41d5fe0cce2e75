import { accessSync, constants, realpathSync, statSync } from "node:fs";
import { basename, extname } from "node:path";
import { errorMessage, isRecord } from "@agent/core/toolkit";
import type { CosmiconfigResult, Loaders } from "cosmiconfig";
import { CliError } from "../../process/errors.js";
import { requireCosmiconfig, requireCosmiconfigFile } from "../../process/requireCjs.js";
import type { ModuleLoader } from "../modules/moduleLoader.js";
import { loadProblem, withinTime } from "../modules/runModule.js";
import { type ConfigSource, checkConfig } from "./checkConfig.js";
import { checkFileSafety, checkReadable } from "./fileSafety.js";
import { locate } from "./locate.js";
import { hasPlace, isThere, PACKAGE, PACKAGE_KEY, PROJECT_PLACES, stopDirectory } from "./places.js";
import type { AgentConfig } from "./types.js";

const CODE = new Set([".ts", ".js", ".mjs"]);

/** A config as it was found in a file. */
export interface FoundConfig {
  readonly config: AgentConfig;
  readonly source: ConfigSource;
  /** Runs the files that the config names. Absent for data that only narrows permissions: it runs nothing. */
  readonly modules?: ModuleLoader;
}

/**
 * Called with the exact text that would run, before it runs. Resolves to its loader, or to `undefined` to skip the
 * file.
 */
export type Admit = (file: string, text: string) => Promise<ModuleLoader | undefined>;

class LeftOut extends Error {}

/** Finds the project's config with cosmiconfig. Resolves to `undefined` if there is none, or it may not run. */
export async function findProjectConfig(cwd: string, admit: Admit): Promise<FoundConfig | undefined> {
  const stop = stopDirectory(cwd);
  // Most directories have no config: loading cosmiconfig only to find none would take a fifth of the start.
  if (!hasPlace(cwd, stop)) return undefined;
  return await readWith((explorer) => explorer.search(cwd), cwd, admit, stop);
}

/** Reads one file. Resolves to `undefined` if it may not run. */
export async function readConfigFile(path: string, admit: Admit): Promise<FoundConfig | undefined> {
  return await readWith((explorer) => explorer.load(path), path, admit);
}

async function readWith(
  read: (explorer: ConfigExplorer) => Promise<CosmiconfigResult>,
  where: string,
  admit: Admit,
  stop?: string,
): Promise<FoundConfig | undefined> {
  let source: ConfigSource | undefined;
  let modules: ModuleLoader | undefined;
  const remember =
    (parse: (file: string, content: string) => unknown) =>
    async (file: string, text: string): Promise<unknown> => {
      source = { file, text };
      return await parse(file, text);
    };
  const runCode = remember(async (file, content) => {
    modules = await admit(file, content);
    if (modules) return await runConfig(file, content, modules);
    throw new LeftOut();
  });
  try {
    const explorer = createExplorer(
      {
        ".ts": runCode,
        ".js": runCode,
        ".mjs": runCode,
        ".json": remember(parseJson),
        ".yaml": remember(parseYaml),
      },
      stop,
    );
    const result = await read(explorer);
    if (!result) return undefined;
    if (result.isEmpty || !source) {
      throw new CliError(`${result.filepath}: it contains no config. Write {} or remove it.`);
    }
    const { filepath: file, config } = result;
    const isPackage = basename(file) === PACKAGE;
    // Check the permissions of package.json only if it has a config.
    if (isPackage && stop !== undefined) checkFileSafety(file);
    // Of package.json only the key counts, so that a new dependency does not ask for trust again.
    const own = isPackage ? JSON.stringify(config) : source.text;
    if (!CODE.has(extname(file)) && !isNarrowing(config)) {
      modules = await admit(file, own);
      if (!modules) return undefined;
    }
    return { config: checkConfig(config, source), source, ...(modules && { modules }) };
  } catch (error) {
    if (error instanceof LeftOut) return undefined;
    if (error instanceof CliError) throw error;
    throw new CliError(`${source?.file ?? where}: ${errorMessage(error)}`, undefined, { cause: error });
  }
}

async function runConfig(file: string, content: string, modules: ModuleLoader): Promise<unknown> {
  const exports = await withinTime(file, () => modules.import(realpathSync(file))).catch((error: unknown) => {
    if (error instanceof CliError) throw error;
    throw new CliError(loadProblem(file, error), undefined, { cause: error });
  });
  if (exports.default === null) checkConfig(null, { file, text: content });
  if (exports.default !== undefined) return withoutImport(file, content, exports.default);
  throw new CliError(`${file}: it has no default export. Write: export default defineConfig({ … })`);
}

/** Whether a config only restricts what the user allowed. Such data needs no trust: it can do no harm. */
export function isNarrowing(config: unknown): boolean {
  const narrowing = ["$schema", "disable", "confirm", "readOnly"];
  return isRecord(config) && Object.keys(config).every((key) => narrowing.includes(key));
}

async function parseJson(file: string, content: string): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content.replace(/^\ufeff/, ""));
  } catch (error) {
    // Skip a package.json that cannot be parsed, like one without the key: it is not our file to report on.
    if (basename(file) === PACKAGE) return {};
    // Not every version of Node reports the position of an error. The YAML parser does, and YAML includes JSON.
    await parseYaml(file, content);
    throw new CliError(`${file}: ${errorMessage(error).replace(/\s*\n\s*/g, " ")}`);
  }
  if (basename(file) === PACKAGE) {
    if (!isRecord(value)) return {};
    withoutImport(file, content, value[PACKAGE_KEY]);
  }
  return withoutImport(file, content, value);
}

async function parseYaml(file: string, content: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await requireCosmiconfig().defaultLoaders[".yaml"](file, content);
  } catch (error) {
    const { reason, mark } = (error ?? {}) as { reason?: string; mark?: { line?: number } };
    const line = mark?.line === undefined ? "" : `:${mark.line + 1}`;
    throw new CliError(`${file}${line}: ${reason ?? errorMessage(error).split("\n")[0]}`);
  }
  return withoutImport(file, content, value);
}

function withoutImport(file: string, content: string, value: unknown): unknown {
  if (!isRecord(value) || !Object.hasOwn(value, "$import")) return value;
  throw new CliError(
    `${locate(file, content, /\$import/)}: "$import" is not known. Use a .ts config to share parts.`,
  );
}

/** The part of cosmiconfig's class `Explorer` that is used here. The package keeps it out of its types. */
interface ConfigExplorer {
  search(from: string): Promise<CosmiconfigResult>;
  load(file: string): Promise<CosmiconfigResult>;
  getSearchPlacesForDir(directory: SearchedDirectory, globalPlaces: readonly string[]): string[];
  toCosmiconfigResult(file: string, config: unknown): CosmiconfigResult;
}

interface SearchedDirectory {
  readonly path: string;
  /** The user's own directory for configs, which cosmiconfig searches last. */
  readonly isGlobalConfig: boolean;
}

type ExplorerClass = new (options: Readonly<Record<string, unknown>>) => ConfigExplorer;

/**
 * cosmiconfig's explorer with our places and loaders. `stop` is the last directory of a search.
 *
 * The class itself is used, not the function `cosmiconfig()`: that one first reads, and runs, `.config/config.js` and
 * others below the working directory to configure itself, which an untrusted project must not get to do. The version of
 * cosmiconfig is pinned for that reason.
 */
function createExplorer(loaders: Loaders, stop?: string): ConfigExplorer {
  // Node 20's realpathSync, which require() uses, ends early if the last file that was looked at is a FIFO: look at another.
  statSync(process.execPath);
  const { Explorer } = requireCosmiconfigFile("dist/Explorer.js") as { Explorer: ExplorerClass };
  class CheckedExplorer extends Explorer {
    /**
     * The file to read in a directory, if there is one. It is checked before it is opened: reading a FIFO would never
     * return, and cosmiconfig skips a file that cannot be read, so that the run would continue without it.
     */
    override getSearchPlacesForDir(directory: SearchedDirectory): string[] {
      if (directory.isGlobalConfig) return [];
      const first = super.getSearchPlacesForDir(directory, []).find(isThere);
      if (first === undefined) return [];
      if (basename(first) === PACKAGE) checkReadable(first);
      else checkFileSafety(first);
      checkPermission(first);
      return [first];
    }

    /** Skips an empty package.json like one without the key; any other empty file is an error. */
    override toCosmiconfigResult(file: string, config: unknown): CosmiconfigResult {
      if (config === undefined && basename(file) === PACKAGE) return null;
      return super.toCosmiconfigResult(file, config);
    }
  }
  return new CheckedExplorer({
    moduleName: "agent",
    packageProp: PACKAGE_KEY,
    searchPlaces: [...PROJECT_PLACES],
    loaders,
    ...(stop === undefined ? { searchStrategy: "none" } : { searchStrategy: "global", stopDir: stop }),
    ignoreEmptySearchPlaces: false,
    cache: false,
    transform: (result: CosmiconfigResult) => result,
    metaConfigFilePath: null,
    mergeImportArrays: false,
    mergeSearchPlaces: false,
    applyPackagePropertyPathToConfiguration: false,
  });
}

function checkPermission(file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (error) {
    throw new CliError(`${file}: it cannot be read: ${errorMessage(error)}`, undefined, { cause: error });
  }
}
