type FastGlob = typeof import("fast-glob");
type Micromatch = typeof import("micromatch");

let loaded: { readonly fastGlob: FastGlob; readonly micromatch: Micromatch } | undefined;

/** Loads the glob libraries. Only a task with a glob pays for that. */
export async function loadGlobModules(): Promise<void> {
  if (loaded) return;
  const [fastGlob, micromatch] = await Promise.all([import("fast-glob"), import("micromatch")]);
  loaded = { fastGlob: fastGlob.default, micromatch: micromatch.default };
}

/** The libraries, after `loadGlobModules`. */
export function globModules(): { readonly fastGlob: FastGlob; readonly micromatch: Micromatch } {
  if (!loaded) throw new Error("loadGlobModules() has not been awaited.");
  return loaded;
}
