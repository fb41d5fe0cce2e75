/** Where the programs that a package.json outside the workspace names are installed: another place for other versions. */
export function externalDirectory(manifest: URL): string;
/** Whether all of the programs are installed completely. */
export function isExternalInstalled(manifest: URL): boolean;
