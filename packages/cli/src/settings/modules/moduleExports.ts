import { dirname } from "node:path";
import { isRecord } from "@agent/core/toolkit";

/** What code knows as `module`. */
export class CommonJsModule {
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
export function asNamespace(exports: unknown): Record<string, unknown> {
  if (hasNames(exports) && exports.__esModule) return exports;
  return { ...(hasNames(exports) ? exports : {}), default: exports };
}

/** Throws the syntax error that the compiler wrote into the code it returned. */
export function throwCompileError(exports: unknown): void {
  const problem = isRecord(exports) ? exports.__JITI_ERROR__ : undefined;
  if (!isRecord(problem)) return;
  const { code, message, filename, line, column } = problem;
  throw new Error(`${code}: ${message} \n ${filename}:${line}:${column}`);
}

function hasNames(exports: unknown): exports is Record<string, unknown> {
  return (typeof exports === "object" && exports !== null) || typeof exports === "function";
}
