import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, extname } from "node:path";
import { fileURLToPath } from "node:url";
import { errorMessage, isRecord } from "@agent/core/toolkit";
import type { Loaders, PublicExplorer } from "cosmiconfig";
import { CliError } from "../../process/errors.js";
import { requireCosmiconfig } from "../../process/requireCjs.js";
import type { ModuleLoader } from "../modules/moduleLoader.js";
import { loadProblem, withinTime } from "../modules/runModule.js";
import { checkFileSafety, checkReadable } from "./fileSafety.js";
import { locate } from "./locate.js";
import { candidates, PROJECT_PLACES, stopDirectory } from "./places.js";
import { type ConfigSource, checkConfig } from "./schema.js";
import type { AgentConfig } from "./types.js";

const PACKAGE_KEY = "agent";
const CODE = new Set([".ts", ".js", ".mjs"]);

/** A config as it was found in a file. */
export interface FoundConfig {
  readonly config: AgentConfig;
  readonly source: ConfigSource;
  /** Runs what the config names; absent for data that only narrows, since nothing of it runs. */
  readonly modules?: ModuleLoader;
}

/** Asked with the very text that would run, before any of it does. Resolves to its loader; `undefined` leaves it out. */
export type Admit = (file: string, text: string) => Promise<ModuleLoader | undefined>;

class LeftOut extends Error {}

/** Finds the project's config with cosmiconfig. Resolves to `undefined` if there is none, or it may not run. */
export async function findProjectConfig(cwd: string, admit: Admit): Promise<FoundConfig | undefined> {
  // Looked at first without opening anything: reading a FIFO would wait for ever. It also spares the common
  // case, a directory without a config, from loading the machinery.
  const first = candidates(cwd, stopDirectory(cwd)).find(isConfig);
  if (first === undefined) return undefined;
  checkFileSafety(first);
  return await readConfigFile(first, admit);
}

function isCode(file: string): boolean {
  return CODE.has(extname(file));
}

/** A package.json counts only if it has the key. */
function isConfig(file: string): boolean {
  if (basename(file) !== "package.json") return true;
  checkReadable(file);
  try {
    return Object.hasOwn(JSON.parse(readFileSync(file, "utf8")), PACKAGE_KEY);
  } catch {
    return false;
  }
}

/** Reads one file. Resolves to `undefined` if it may not run. */
export async function readConfigFile(path: string, admit: Admit): Promise<FoundConfig | undefined> {
  let text = "";
  let modules: ModuleLoader | undefined;
  const remember =
    (parse: (file: string, content: string) => unknown) =>
    async (file: string, content: string): Promise<unknown> => {
      text = content;
      return await parse(file, content);
    };
  const runCode = remember(async (file, content) => {
    modules = await admit(file, content);
    if (modules) return await runConfig(file, content, modules);
    throw new LeftOut();
  });
  const explorer = createExplorer({
    ".ts": runCode,
    ".js": runCode,
    ".mjs": runCode,
    ".json": remember(parseJson),
    ".yaml": remember(parseYaml),
  });
  try {
    // "load", not "search": a search passes over a file that cannot be read, and the run would go on without it.
    const result = await explorer.load(path);
    if (!result) return undefined;
    if (result.isEmpty) throw new CliError(`${result.filepath}: it holds no config. Write {} or remove it.`);
    const { filepath: file, config } = result;
    // Of package.json only the key counts, so that a new dependency does not ask for trust again.
    const own = basename(file) === "package.json" ? JSON.stringify(config) : text;
    if (!isCode(file) && !isNarrowing(config)) {
      modules = await admit(file, own);
      if (!modules) return undefined;
    }
    const source = { file, text };
    return { config: checkConfig(config, source), source, ...(modules && { modules }) };
  } catch (error) {
    if (error instanceof LeftOut) return undefined;
    if (error instanceof CliError) throw error;
    throw new CliError(`${path}: ${errorMessage(error)}`, undefined, { cause: error });
  }
}

/**
 * cosmiconfig with our places and loaders, and nothing else of it. When it is created it reads, and runs,
 * `.config/config.js` and others below the working directory to configure itself: an untrusted project must not
 * get there, so it is created in a directory of our own. `$import` is refused for the same reason.
 */
function createExplorer(loaders: Loaders): PublicExplorer {
  const options = {
    searchPlaces: [...PROJECT_PLACES],
    packageProp: PACKAGE_KEY,
    searchStrategy: "none" as const,
    ignoreEmptySearchPlaces: false,
    loaders,
    cache: false,
  };
  const cwd = process.cwd();
  try {
    process.chdir(dirname(fileURLToPath(import.meta.url)));
    return requireCosmiconfig().cosmiconfig("agent", options);
  } finally {
    process.chdir(cwd);
  }
}

async function runConfig(file: string, content: string, modules: ModuleLoader): Promise<unknown> {
  const exports = await withinTime(file, () => modules.import(realpathSync(file))).catch((error: unknown) => {
    if (error instanceof CliError) throw error;
    throw new CliError(loadProblem(file, error), undefined, { cause: error });
  });
  if (exports.default === null) checkConfig(null, { file, text: content });
  if (exports.default !== undefined) return withoutImport(file, content, exports.default);
  throw new CliError(`${file}: it has no default export. Write: export default defineConfig({ … })`);
}

/** Data that only takes away what the person allowed needs no trust: it can do no harm. */
export function isNarrowing(config: unknown): boolean {
  const narrowing = ["disable", "confirm", "readOnly"];
  return isRecord(config) && Object.keys(config).every((key) => narrowing.includes(key));
}

async function parseJson(file: string, content: string): Promise<unknown> {
  let value: unknown;
  try {
    value = JSON.parse(content.replace(/^\ufeff/, ""));
  } catch (error) {
    // Not every version of Node tells the position. YAML includes JSON, and its parser does.
    await parseYaml(file, content);
    throw new CliError(`${file}: ${errorMessage(error).replace(/\s*\n\s*/g, " ")}`);
  }
  if (basename(file) === "package.json" && isRecord(value)) withoutImport(file, content, value[PACKAGE_KEY]);
  return withoutImport(file, content, value);
}

async function parseYaml(file: string, content: string): Promise<unknown> {
  let value: unknown;
  try {
    value = await requireCosmiconfig().defaultLoaders[".yaml"](file, content);
  } catch (error) {
    const { reason, mark } = (error ?? {}) as { reason?: string; mark?: { line?: number } };
    const line = mark?.line === undefined ? "" : `:${mark.line + 1}`;
    throw new CliError(`${file}${line}: ${reason ?? errorMessage(error).split("\n")[0]}`);
  }
  return withoutImport(file, content, value);
}

function withoutImport(file: string, content: string, value: unknown): unknown {
  if (!isRecord(value) || !Object.hasOwn(value, "$import")) return value;
  throw new CliError(
    `${locate(file, content, /\$import/)}: unknown key "$import". Use a .ts config to share parts.`,
  );
}
