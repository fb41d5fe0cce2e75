import dfa from "./dfa.wat";
import findClasses from "./findClasses.wat";
import findFolded from "./findFolded.wat";
import findMany2 from "./findMany2.wat";
import findMany3 from "./findMany3.wat";
import findRun from "./findRun.wat";
import findText from "./findText.wat";
import newlines from "./newlines.wat";

/** The inner loops of a search, 16 bytes at a time. */
export const PROGRAMS = {
  dfa,
  findClasses,
  findFolded,
  findMany2,
  findMany3,
  findRun,
  findText,
  newlines,
} as const;

/** The part of the WebAssembly API that is used; TypeScript's ES library has no types for it. */
interface WebAssemblyApi {
  readonly Memory: new (size: { initial: number; maximum: number }) => WasmMemory;
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (
    module: object,
    imports: object,
  ) => { readonly exports: Readonly<Record<string, WasmFunction>> };
}

export interface WasmMemory {
  readonly buffer: ArrayBuffer;
}

export type WasmFunction = (...args: number[]) => number;

/** Creates a memory with a fixed number of pages. Throws if WebAssembly is missing. */
export function createMemory(pages: number): WasmMemory {
  return new (webAssembly().Memory)({ initial: pages, maximum: pages });
}

/** Instantiates a program on a memory. Throws if WebAssembly or its vector instructions are missing. */
export function instantiate(
  program: keyof typeof PROGRAMS,
  memory: WasmMemory,
): (name: string) => WasmFunction {
  const { Module, Instance } = webAssembly();
  const { exports } = new Instance(new Module(PROGRAMS[program]), { env: { memory } });
  return (name) => {
    const found = exports[name];
    if (found === undefined) throw new Error(`${program}.wat exports no "${name}".`);
    return found;
  };
}

function webAssembly(): WebAssemblyApi {
  return (globalThis as unknown as { WebAssembly: WebAssemblyApi }).WebAssembly;
}
