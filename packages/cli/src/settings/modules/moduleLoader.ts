import { readFileSync } from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";
import { isRecord, quote, writeFileAtomic } from "@agent/core/toolkit";
import { quotePath } from "@agent/internal";
import { ensurePrivateDirectory } from "@agent/terminal/host";
import { CliError } from "../../process/errors.js";
import { stateDirectory } from "../../process/paths.js";
import { requireJiti } from "../../process/requireCjs.js";
import { checkFileSafety } from "../config/fileSafety.js";
import { hashOf } from "../trust/projectFiles.js";
import { type ModuleKind, type ResolvedModule, resolveModule } from "./resolveModule.js";

/** Returns the content of a project file that may run, and throws for any other. */
export interface ModuleSources {
  read(file: string): string;
  /** Called when a module and all its imports have been loaded. */
  loaded?(): Promise<void>;
}

/** A module whose code is running or has run. */
interface StartedModule {
  readonly commonJs: CommonJsModule;
  /** Resolves when its code has run. */
  done: Promise<void>;
  /** Modules whose code has to run before its own continues. */
  readonly waitsFor: Set<StartedModule>;
}

/**
 * Runs files of a project, TypeScript or not. Every file is read through `sources`, however it is imported: by a
 * relative path, through a symlink, by a package's `imports`, by `require` or by a computed name. Node loads packages
 * in `node_modules`.
 */
export class ModuleLoader {
  readonly #root: string;
  readonly #sources: ModuleSources;
  readonly #modules = new Map<string, StartedModule>();

  /** `root` is the directory of the config. */
  constructor(root: string, sources: ModuleSources) {
    this.#root = root;
    this.#sources = sources;
  }

  /** Runs a project's file, given by its canonical path, and resolves to its exports. */
  async import(file: string): Promise<Record<string, unknown>> {
    const exports = await this.#importFile(file, undefined);
    await this.#sources.loaded?.();
    return exports;
  }

  async #import(specifier: string, parent: StartedModule): Promise<unknown> {
    const { filename } = parent.commonJs;
    const found = this.#resolve(specifier, filename, "import");
    if (found.from === "node") return this.#builtin(found.name, await import(found.name));
    if (found.from === "installed") return await import(pathToFileURL(found.file).href);
    return await this.#importFile(found.file, parent);
  }

  async #importFile(file: string, parent: StartedModule | undefined): Promise<Record<string, unknown>> {
    const module = this.#modules.get(file) ?? this.#start(file);
    if (parent === undefined) await module.done;
    // In a cycle waiting would never end: the importer sees the exports so far, as in Node.
    else if (!leadsTo(module, parent)) {
      parent.waitsFor.add(module);
      await module.done.finally(() => parent.waitsFor.delete(module));
    }
    return asNamespace(module.commonJs.exports);
  }

  #start(file: string): StartedModule {
    const module = this.#register(file);
    module.done = (async () => {
      await this.#evaluate(module, "import");
      throwCompileError(module.commonJs.exports);
    })();
    // The importer gets the error. Without this handler, an unhandled rejection could crash the process.
    module.done.catch(() => this.#modules.delete(file));
    return module;
  }

  #require(specifier: string, parent: string): unknown {
    const found = this.#resolve(specifier, parent, "require");
    if (found.from === "node") return this.#builtin(found.name, createRequire(parent)(found.name));
    if (found.from === "installed") return createRequire(parent)(found.file);
    const known = this.#modules.get(found.file);
    if (known) return known.commonJs.exports;
    const module = this.#register(found.file);
    try {
      this.#evaluate(module, "require");
      throwCompileError(module.commonJs.exports);
    } catch (error) {
      this.#modules.delete(found.file);
      throw error;
    }
    return module.commonJs.exports;
  }

  #register(file: string): StartedModule {
    const commonJs = new CommonJsModule(file, this.#requireOf(file));
    const module = { commonJs, done: Promise.resolve(), waitsFor: new Set<StartedModule>() };
    this.#modules.set(file, module);
    return module;
  }

  /** Runs a module's code. Returns a promise if the module was imported. */
  #evaluate(module: StartedModule, kind: ModuleKind): unknown {
    const { commonJs } = module;
    const { filename } = commonJs;
    if (extname(filename) === ".node") {
      throw new CliError(
        `${quotePath(filename)}: a native addon cannot be run from what was trusted. Install it as a package.`,
      );
    }
    const source = this.#sources.read(filename);
    if (extname(filename) === ".json") {
      commonJs.exports = JSON.parse(source.replace(/^\ufeff/, ""));
      return undefined;
    }
    const run = compileModule(filename, source, kind);
    return run(
      commonJs.exports,
      commonJs.require,
      commonJs,
      filename,
      commonJs.path,
      (specifier) => this.#import(specifier, module),
      (specifier) => this.#resolveUrl(specifier, filename),
    );
  }

  #resolve(specifier: string, parent: string, kind: ModuleKind): ResolvedModule {
    const found = resolveModule(String(specifier), parent, this.#root, kind);
    if (found) return found;
    throw Object.assign(
      new Error(`Cannot find module ${quote(String(specifier))} from ${quotePath(parent)}`),
      {
        code: kind === "import" ? "ERR_MODULE_NOT_FOUND" : "MODULE_NOT_FOUND",
      },
    );
  }

  #resolveUrl(specifier: string, parent: string): string {
    const found = this.#resolve(specifier, parent, "import");
    return found.from === "node" ? found.name : pathToFileURL(found.file).href;
  }

  #requireOf(file: string): (specifier: string) => unknown {
    const resolve = (specifier: string): string => {
      const found = this.#resolve(specifier, file, "require");
      return found.from === "node" ? found.name : found.file;
    };
    return Object.assign((specifier: string) => this.#require(specifier, file), { resolve, cache: {} });
  }

  /** Returns Node's own module. In `node:module`, `createRequire` is replaced by one that uses this loader. */
  #builtin(name: string, module: object): unknown {
    if (name !== "module" && name !== "node:module") return module;
    const create = (from: string | URL): unknown => {
      const isUrl = from instanceof URL || from.startsWith("file:");
      return this.#requireOf(isUrl ? fileURLToPath(from) : from);
    };
    const patched: object = new Proxy(Module, {
      get: (target, key) => {
        if (key === "createRequire") return create;
        return key === "default" || key === "Module" ? patched : Reflect.get(target, key);
      },
    });
    return patched;
  }
}

/** Whether a module waits for another, directly or not: if the other waited for it, they would deadlock. */
function leadsTo(module: StartedModule, wanted: StartedModule, seen = new Set<StartedModule>()): boolean {
  if (module === wanted) return true;
  if (seen.has(module)) return false;
  seen.add(module);
  return [...module.waitsFor].some((next) => leadsTo(next, wanted, seen));
}

/** The `module` object of CommonJS code. */
class CommonJsModule {
  exports: unknown = {};
  readonly id: string;
  readonly filename: string;
  readonly path: string;
  readonly children: readonly never[] = [];
  readonly require: (specifier: string) => unknown;

  constructor(filename: string, require: (specifier: string) => unknown) {
    this.id = filename;
    this.filename = filename;
    this.path = dirname(filename);
    this.require = require;
  }
}

/**
 * A module's exports as `import` returns them: CommonJS exports are the default, and their properties are named
 * exports.
 */
function asNamespace(exports: unknown): Record<string, unknown> {
  if (hasNames(exports) && exports.__esModule) return exports;
  return { ...(hasNames(exports) ? exports : {}), default: exports };
}

/** Throws the syntax error that the compiler wrote into the code it returned. */
function throwCompileError(exports: unknown): void {
  const problem = isRecord(exports) ? exports.__JITI_ERROR__ : undefined;
  if (!isRecord(problem)) return;
  const { code, message, filename, line, column } = problem;
  throw new Error(`${code}: ${message} \n ${filename}:${line}:${column}`);
}

function hasNames(exports: unknown): exports is Record<string, unknown> {
  return (typeof exports === "object" && exports !== null) || typeof exports === "function";
}

const TYPESCRIPT = /\.[mc]?tsx?$/;

const MODULE_SYNTAX = /\b(?:import|export)\b/;

const PRIVATE_FILE = 0o600;

const PARAMETERS = "exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve";

/** A module's code as a function. The compiler chooses the names of its parameters. */
type ModuleFunction = (
  exports: unknown,
  require: unknown,
  module: unknown,
  filename: string,
  directory: string,
  importModule: (specifier: string) => Promise<unknown>,
  resolveUrl: (specifier: string) => string,
) => unknown;

/** Compiles a module, TypeScript or not, into a function. An imported module may use top-level `await`. */
function compileModule(file: string, source: string, kind: ModuleKind): ModuleFunction {
  const isAsync = kind === "import";
  const code = needsCompiler(file, source) ? compiled(file, source, isAsync) : source.replace(/^#!/, "//");
  return runInThisContext(`(${isAsync ? "async " : ""}function (${PARAMETERS}) { ${code}\n})`, {
    filename: file,
    displayErrors: false,
  });
}

/** Plain CommonJS runs unchanged. */
function needsCompiler(file: string, source: string): boolean {
  return TYPESCRIPT.test(file) || MODULE_SYNTAX.test(source);
}

/**
 * The compiled code. Starting the compiler takes longer than everything else together, so its results are cached next
 * to the trust store: anyone who can write there can trust any file anyway. Each result is bound to its source.
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
    // The home directory is not writable: the next run compiles again.
    return;
  }
  writeFileAtomic(path, code, { mode: PRIVATE_FILE }).catch(() => undefined);
}
