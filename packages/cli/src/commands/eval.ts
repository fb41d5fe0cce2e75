import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import type { PackEntry } from "@agent/core";
import { errorMessage, isRecord, writeFileAtomic } from "@agent/core/toolkit";
import type { EvalCase, EvalDifference, EvalModel, EvalProgress, EvalReport } from "@agent/evals";
import { quotePath } from "@agent/internal";
import { loadSelectedPacks } from "../assembly/assembleTools.js";
import { chooseMain } from "../assembly/provider/choose.js";
import { createSystemPrompt } from "../instructions/systemPrompt.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { note, print } from "../process/output.js";
import { watchInterruption } from "../run/interruption.js";
import { countFromZero, positiveNumber, splitNames } from "../settings/environment.js";
import type { SettingsFlags } from "../settings/flags.js";
import { type LoadedSettings, loadSettings } from "../settings/loadSettings.js";
import { ModuleLoader } from "../settings/modules/moduleLoader.js";
import { loadProblem, withinTime } from "../settings/modules/runModule.js";
import { ProjectFiles, readProjectFile } from "../settings/trust/projectFiles.js";
import { requireTrust, TrustedSources } from "../settings/trust/trust.js";
import { trustPolicy } from "../settings/trust/trustQuestion.js";

const EVAL_FILE = /\.eval\.[mc]?[jt]s$/;
const NOT_SEARCHED = /^(?:node_modules|\..*)$/;
const RECORDINGS = "recordings";
const REPORT = join(".agent", "eval-report.json");
const MOST_FILES = 1000;
const EXAMPLE = `import { defineEval } from "@agent/evals";

export default defineEval({
  name: "lists files",
  task: "List the files here.",
  check: (run) => run.called("list_dir"),
});`;

export interface EvalFlags extends SettingsFlags {
  readonly models?: string;
  readonly runs?: string;
  readonly case?: string;
  readonly record?: boolean;
  readonly replay?: boolean;
  /** `false` for `--no-report`. */
  readonly report?: string | false;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** `agent eval [FILES]`: runs the cases of eval files with one or several models and reports which checks passed. */
export async function evalCommand(names: readonly string[], flags: EvalFlags): Promise<ExitCode> {
  if (flags.record && flags.replay) throw new CliError("--record and --replay cannot be combined.");
  const runs = flags.runs === undefined ? undefined : countFromZero(flags.runs, "--runs");
  if (runs === 0) throw new CliError("--runs must be at least 1.");
  const maxCost = flags.maxCost === undefined ? undefined : positiveNumber(flags.maxCost, "--max-cost");
  const { maxCost: _, ...others } = flags;
  const loaded = await loadSettings(others);
  const directory = process.cwd();
  const fileOf = await loadCases(names, directory, flags);
  const cases = [...fileOf.keys()];
  const evals = await import("@agent/evals");
  const recordings = (subject: EvalCase): string =>
    join(dirname(join(directory, fileOf.get(subject) ?? "")), RECORDINGS);
  const recorded = async (): Promise<EvalModel[]> => {
    const found = await Promise.all(cases.map((one) => evals.recordedModels(recordings(one), [one])));
    if (found.flat().length > 0) return [...new Set(found.flat())].map((name) => ({ name }));
    throw new CliError("Nothing is recorded for these cases. Record them first: agent eval --record");
  };
  const models =
    flags.replay && flags.models === undefined ? await recorded() : await chooseModels(loaded, flags);
  const interruption = watchInterruption(undefined);
  try {
    const report = await evals.runEvals(cases, {
      models,
      mode: flags.record ? "record" : flags.replay ? "replay" : "live",
      recordings,
      fileOf: (subject) => fileOf.get(subject),
      packs: await selectedPacks(loaded),
      enable: enabledTools(loaded),
      systemPrompt: createSystemPrompt(directory, { environment: false }),
      host: { access: loaded.access, notice: () => undefined },
      sandbox: loaded.settings.sandbox,
      signal: interruption.signal,
      ...(runs !== undefined && { runs }),
      ...(maxCost !== undefined && { maxCost }),
      ...(!flags.quiet && { onRun: showRun }),
    });
    const differences = await compareAndKeep(report, directory, flags);
    print(
      flags.json
        ? `${JSON.stringify({ v: 1, ...report, differences }, undefined, 2)}\n`
        : evals.formatEvals(report, differences),
    );
    return interruption.stop?.exitCode ?? exitCodeOf(report);
  } finally {
    interruption.release();
  }
}

function exitCodeOf({ ok, stopped, groups }: EvalReport): ExitCode {
  if (groups.length === 0) throw new CliError("No case runs with these models. Check --models and --case.");
  if (ok) return EXIT.done;
  if (groups.some(({ verdict }) => verdict === "fails")) return EXIT.model;
  return stopped === "cost" ? EXIT.budget : EXIT.config;
}

/** The cases with their files. A file that the user named runs; one that was found must be trusted. */
async function loadCases(
  names: readonly string[],
  directory: string,
  flags: EvalFlags,
): Promise<Map<EvalCase, string>> {
  const files = names.length > 0 ? names.flatMap((name) => filesAt(resolve(name))) : filesBelow(directory);
  if (files.length === 0) {
    throw new CliError(
      `There is no eval in ${names.length > 0 ? names.join(", ") : quotePath(directory)}. Create one, such as evals/list.eval.ts:\n\n${EXAMPLE}`,
    );
  }
  const fileOf = new Map<EvalCase, string>();
  for (const file of new Set(files.map((path) => realpathSync(path)))) {
    const loader = await admit(file, names.length > 0, flags);
    const found = casesIn(await loadEval(file, loader));
    if (found.length === 0) {
      throw new CliError(
        `${quotePath(file)} does not export a case. Write: export default defineEval({ … })`,
      );
    }
    for (const one of found) {
      if (flags.case === undefined || one.name.includes(flags.case))
        fileOf.set(one, relative(directory, file));
    }
  }
  if (fileOf.size === 0) throw new CliError(`No case has ${JSON.stringify(flags.case)} in its name.`);
  return fileOf;
}

async function loadEval(file: string, loader: ModuleLoader): Promise<Record<string, unknown>> {
  try {
    return await withinTime(file, () => loader.import(file));
  } catch (error) {
    if (error instanceof CliError) throw error;
    throw new CliError(loadProblem(file, error), EXIT.config, { cause: error });
  }
}

async function admit(file: string, isNamed: boolean, { trust = false }: EvalFlags): Promise<ModuleLoader> {
  if (isNamed) return new ModuleLoader(dirname(file), { read: readProjectFile });
  const policy = trustPolicy(trust);
  const files = new ProjectFiles(file);
  files.add(file);
  if (!(await requireTrust(file, files, policy, "eval"))) {
    throw new CliError(`${quotePath(file)} was not run: it was not trusted.`, EXIT.refused);
  }
  return new ModuleLoader(files.root, new TrustedSources(file, files, policy));
}

/** All cases that a module exports, alone or in arrays. */
function casesIn(exports: Record<string, unknown>): EvalCase[] {
  const isCase = (value: unknown): value is EvalCase =>
    isRecord(value) && "name" in value && "task" in value && "check" in value;
  return [...new Set(Object.values(exports).flat())].filter(isCase);
}

function filesAt(path: string): string[] {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new CliError(`${quotePath(path)} does not exist.`);
  return stat.isDirectory() ? filesBelow(path) : [path];
}

function filesBelow(directory: string): string[] {
  const found: string[] = [];
  const visit = (folder: string): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory() && !NOT_SEARCHED.test(entry.name)) visit(path);
      else if (entry.isFile() && EVAL_FILE.test(entry.name)) found.push(path);
    }
    if (found.length > MOST_FILES)
      throw new CliError(`There are more than ${MOST_FILES} evals. Name a folder.`);
  };
  visit(directory);
  return found.sort();
}

async function chooseModels(
  { settings, keys, projectFile }: LoadedSettings,
  flags: EvalFlags,
): Promise<EvalModel[]> {
  const choose = async (model: string | undefined): Promise<EvalModel> => {
    if (model === "scripted" || flags.replay) return { name: model ?? "" };
    const choice =
      model === undefined
        ? settings
        : { ...settings, model, origins: { ...settings.origins, model: "--models" } };
    const {
      provider,
      kind,
      model: name,
    } = await chooseMain(choice, {
      keys,
      projectFile,
      maxRetries: settings.maxRetries,
    });
    if (kind === "offline") {
      throw new CliError(
        "There is no model to run the evals with. Set a key and pass --models, replay recordings with --replay, or check the evals themselves with --models scripted.",
      );
    }
    return { name: model ?? `${kind}/${name}`, provider: () => provider };
  };
  if (flags.models === undefined) return [await choose(undefined)];
  const names = [...new Set(splitNames(flags.models))];
  if (names.length === 0) throw new CliError("--models names no model.");
  const models: EvalModel[] = [];
  for (const name of names) models.push(await choose(name));
  return models;
}

/** The packs of the config, for cases that name none. */
async function selectedPacks(loaded: LoadedSettings): Promise<readonly PackEntry[]> {
  const packs = await loadSelectedPacks(loaded);
  return packs.map(({ module, options, problem }): PackEntry => {
    if (!module) throw new CliError(problem ?? "A pack could not be loaded.");
    return options === undefined ? module : [module, options];
  });
}

/** The tools that config and flags enable. */
function enabledTools({ settings }: LoadedSettings): string[] {
  const names = settings.switches.filter(({ action }) => action === "enable").flatMap((one) => one.names);
  return [...new Set(names)].filter((name) => !name.includes("*"));
}

function showRun({ case: name, model, run, runs, outcome }: EvalProgress): void {
  const { status, problem, seconds, usage } = outcome;
  const cost = usage.cost === undefined ? "" : `, $${usage.cost.toFixed(4)}`;
  const why = problem === undefined ? "" : `: ${problem}`;
  note(`${status.padEnd(7)} ${name} (${model} ${run}/${runs}, ${seconds.toFixed(1)} s${cost})${why}`);
}

/**
 * The differences from the last report. A replay is compared, but is not stored as the last report unless `--report`
 * names a file.
 */
async function compareAndKeep(
  report: EvalReport,
  directory: string,
  { report: wanted, replay }: EvalFlags,
): Promise<EvalDifference[]> {
  const file = resolve(directory, wanted || REPORT);
  const differences = await differencesTo(file, report);
  if (wanted === false || (wanted === undefined && replay) || report.groups.length === 0) return differences;
  try {
    mkdirSync(dirname(file), { recursive: true });
    await writeFileAtomic(file, `${JSON.stringify(report, undefined, 1)}\n`);
  } catch (error) {
    throw new CliError(
      `The report ${quotePath(file)} cannot be written: ${errorMessage(error)}`,
      EXIT.output,
    );
  }
  return differences;
}

async function differencesTo(file: string, report: EvalReport): Promise<EvalDifference[]> {
  const { compareEvals } = await import("@agent/evals");
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT")
      note(`agent: the last report cannot be read: ${errorMessage(error)}`);
    return [];
  }
  try {
    return compareEvals(report, JSON.parse(text));
  } catch (error) {
    note(`agent: no comparison with ${file}: ${errorMessage(error)}`);
    return [];
  }
}
