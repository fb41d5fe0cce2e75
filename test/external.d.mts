/** Where the programs of a package.json outside the workspace are installed: a separate directory per version. */
export function externalDirectory(manifest: URL): string;
/** Whether all of the programs are installed completely. */
export function isExternalInstalled(manifest: URL): boolean;
