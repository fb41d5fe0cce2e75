import { checkFunction } from "./checks.js";

/**
 * A module that is loaded by its first use, so that a pack whose work comes later is imported sooner:
 * `lazyModule(() => import("./engine.js"), () => new URL("./engine.js", import.meta.url))`. Node keeps a failed import
 * and repeats the failure for as long as the process lives; here what failed once, for want of file descriptors, say,
 * is tried anew by the next use. `locate` is called only then: where the module was bundled there is no file.
 */
export function lazyModule<T>(load: () => Promise<T>, locate: () => URL): () => Promise<T> {
  checkFunction("load", load);
  checkFunction("locate", locate);
  let failures = 0;
  // Kept here: to ask Node for a module it has takes a while, each time.
  let loading: Promise<T> | undefined;
  return () => {
    // To Node another address is another module, with no failure to its name.
    loading ??= (failures === 0 ? load() : (import(`${locate().href}?try=${failures}`) as Promise<T>)).catch(
      (error: unknown) => {
        failures++;
        loading = undefined;
        throw error;
      },
    );
    return loading;
  };
}
