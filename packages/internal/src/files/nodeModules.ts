/**
 * A Node module, loaded on first access. Core also runs in runtimes without Node modules, such as edge workers; only
 * code that needs files fails there, with the error of `missing`. Bundlers see no import. An import would also load all
 * of it immediately: `node:fs` loads streams (3 ms), `node:crypto` OpenSSL (3 ms), `node:child_process` sockets (4 ms).
 * They are built into Node, so loading them late cannot fail.
 */
export function nodeModule<T extends object>(name: string, missing: (name: string) => Error): T {
  let found: T | undefined;
  return new Proxy({} as T, {
    get(_target, key) {
      found ??= globalThis.process?.getBuiltinModule?.(name) as T | undefined;
      if (found) return found[key as keyof T];
      throw missing(name);
    },
  });
}

const missing = (name: string): Error => new Error(`This runtime has no ${name}.`);

export const nodeFs = /* @__PURE__ */ nodeModule<typeof import("node:fs")>("node:fs", missing);
export const nodePath = /* @__PURE__ */ nodeModule<typeof import("node:path")>("node:path", missing);
export const nodeCrypto = /* @__PURE__ */ nodeModule<typeof import("node:crypto")>("node:crypto", missing);
export const nodeNet = /* @__PURE__ */ nodeModule<typeof import("node:net")>("node:net", missing);
export const nodeChildProcess = /* @__PURE__ */ nodeModule<typeof import("node:child_process")>(
  "node:child_process",
  missing,
);
export const nodeOs = /* @__PURE__ */ nodeModule<typeof import("node:os")>("node:os", missing);
