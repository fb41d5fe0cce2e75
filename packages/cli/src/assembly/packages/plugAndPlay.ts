import nodeModule from "node:module";
import { join } from "node:path";

/** The part of Yarn's `pnpapi` that is used: https://yarnpkg.com/advanced/pnpapi */
interface PnpApi {
  findPackageLocator(path: string): object | null;
  getLocator(name: string, reference: unknown): object;
  getPackageInformation(locator: object): {
    readonly packageLocation: string;
    readonly packageDependencies: ReadonlyMap<string, unknown>;
  };
}

/**
 * The folders of the dependencies of the package in `directory`, by name, under Yarn Plug'n'Play, which has no
 * `node_modules`. Empty without it.
 */
export function plugAndPlayFolders(directory: string): ReadonlyMap<string, string> {
  const folders = new Map<string, string>();
  const api = findApi(join(directory, "/"));
  const self = api?.findPackageLocator(join(directory, "/"));
  if (!api || !self) return folders;
  for (const [name, reference] of api.getPackageInformation(self).packageDependencies) {
    // A peer dependency that no package provides has no folder.
    if (reference === null) continue;
    folders.set(name, api.getPackageInformation(api.getLocator(name, reference)).packageLocation);
  }
  return folders;
}

function findApi(path: string): PnpApi | null {
  if (!("findPnpApi" in nodeModule) || typeof nodeModule.findPnpApi !== "function") return null;
  return nodeModule.findPnpApi(path);
}
