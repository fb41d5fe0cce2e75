/**
 * The glob libraries. They are passed as arguments, since loading them takes time and only a task with a glob needs
 * them.
 */
export interface GlobLibraries {
  readonly fastGlob: typeof import("fast-glob");
  readonly micromatch: typeof import("micromatch");
}

export async function loadGlobLibraries(): Promise<GlobLibraries> {
  const [fastGlob, micromatch] = await Promise.all([import("fast-glob"), import("micromatch")]);
  return { fastGlob: fastGlob.default, micromatch: micromatch.default };
}
