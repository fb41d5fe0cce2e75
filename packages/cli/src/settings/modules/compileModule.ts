import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { runInThisContext } from "node:vm";
import { writeFileAtomic } from "@agent/core/toolkit";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { stateDirectory } from "../../process/paths.js";
import { requireJiti } from "../../process/requireCjs.js";
import { checkFileSafety } from "../config/fileSafety.js";
import { hashOf } from "../trust/projectFiles.js";
import type { ModuleKind } from "./resolveModule.js";

const TYPESCRIPT = /\.[mc]?tsx?$/;
const MODULE_SYNTAX = /\b(?:import|export)\b/;
const PRIVATE_FILE = 0o600;
const PARAMETERS = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";

/** A module's code as a function. The compiler chooses the names of its parameters. */
export type ModuleFunction = (
  exports: unknown,
  require: unknown,
  module: unknown,
  filename: string,
  directory: string,
  importModule: (specifier: string) => Promise<unknown>,
  resolveUrl: (specifier: string) => string,
) => unknown;

/** Turns a module, TypeScript or not, into a function. A module that is imported may use `await` at its top level. */
export function compileModule(file: string, source: string, kind: ModuleKind): ModuleFunction {
  const isAsync = kind === "import";
  const code = needsCompiler(file, source) ? compiled(file, source, isAsync) : source.replace(/^#!/, "//");
  return runInThisContext(`(${isAsync ? "async " : ""}function (${PARAMETERS}) { ${code}\n})`, {
    filename: file,
    displayErrors: false,
  });
}

/** Plain CommonJS runs as it is. */
function needsCompiler(file: string, source: string): boolean {
  return TYPESCRIPT.test(file) || MODULE_SYNTAX.test(source);
}

/**
 * The compiled code. Starting the compiler takes longer than everything else together, so its results are cached next to
 * the trust store: anybody who can write there can trust any file anyway. Each result is bound to its source.
 */
function compiled(file: string, source: string, isAsync: boolean): string {
  const { version } = createRequire(import.meta.url)("jiti/package.json") as { version: string };
  const key = hashOf(JSON.stringify([version, process.version, file, isAsync, source]));
  const kept = join(compiledDirectory(), `${key}.js`);
  try {
    checkFileSafety(kept);
    return readFileSync(kept, "utf8");
  } catch {
    // Missing or invalid: compile again.
  }
  const code = transform(file, source, isAsync);
  if (!code.includes("__JITI_ERROR__")) keep(kept, code);
  return code;
}

/** Where compiled code is kept. */
function compiledDirectory(): string {
  return join(stateDirectory(), "compiled");
}

function transform(file: string, source: string, isAsync: boolean): string {
  const jiti = requireJiti().createJiti(file, { fsCache: false, interopDefault: false });
  return jiti.transform({ filename: file, source, ts: TYPESCRIPT.test(file), async: isAsync });
}

function keep(path: string, code: string): void {
  try {
    ensurePrivateDirectory(compiledDirectory());
  } catch {
    // The home is not writable: the next run compiles again.
    return;
  }
  writeFileAtomic(path, code, { mode: PRIVATE_FILE }).catch(() => undefined);
}
