import { accessSync, constants, statSync } from "node:fs";
import { basename } from "node:path";
import { errorMessage } from "@agent/core/toolkit";
import type { CosmiconfigResult, Loaders } from "cosmiconfig";
import { CliError } from "../../process/errors.js";
import { requireCosmiconfigFile } from "../../process/requireCjs.js";
import { checkFileSafety, checkReadable } from "./fileSafety.js";
import { isThere, PACKAGE, PACKAGE_KEY, PROJECT_PLACES } from "./places.js";

/** The part of cosmiconfig's class `Explorer` that is used here. The package keeps it out of its types. */
export interface ConfigExplorer {
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
export function createExplorer(loaders: Loaders, stop?: string): ConfigExplorer {
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
