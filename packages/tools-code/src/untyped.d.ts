/** The package has no types. */
declare module "amaro" {
  export function transformSync(
    text: string,
    options: { readonly mode: "strip-only" },
  ): { readonly code: string };
}

/** The part of WebAssembly in use: the language's own library has no types for it. */
declare namespace WebAssembly {
  interface Module {
    readonly __brand: "Module";
  }
  interface Memory {
    readonly buffer: ArrayBuffer;
  }
  class Instance {
    constructor(module: Module, imports?: object);
  }
  function compile(bytes: Uint8Array): Promise<Module>;
}
