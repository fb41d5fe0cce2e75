import { type PackHost, type PackRegistry, registerPack } from "@agent/core";
import { packOptions } from "@agent/core/toolkit";
import * as fs from "@agent/tools-fs";
import * as search from "@agent/tools-search";
import * as http from "example-pack-http";

export const packName = "example-preset-reader";
export const packApiVersion = 1;

const PACKS = { fs, search, http };
const OPTIONS = { fs: { type: "object" }, search: { type: "object" }, http: { type: "object" } };
/** The tools that are on by default. All other tools of the packs, now or in later versions, start disabled. */
const READING = ["read_file", "list_dir", "search_text", "search_files"];

/** Options for each pack of the preset. */
export interface ReaderOptions {
  readonly fs?: fs.FsOptions;
  readonly search?: search.SearchOptions;
  readonly http?: http.HttpOptions;
}

/** The names of the tools of the three packs. */
export type ReaderToolName = fs.FsToolName | search.SearchToolName | http.HttpToolName;

declare module "@agent/core" {
  interface NamedPacks {
    "example-preset-reader": { register: typeof register };
  }
}

/** Registers three packs for an agent that only reads. */
export function register(registry: PackRegistry<ReaderToolName>, host?: PackHost<ReaderOptions>): void {
  const options = packOptions<ReaderOptions>(packName, host?.options, OPTIONS);
  for (const key of ["fs", "search", "http"] as const) {
    const names = registerPack(registry, PACKS[key], host && { ...host, options: options[key] });
    for (const name of names) if (!READING.includes(name)) registry.disable(name);
  }
}
