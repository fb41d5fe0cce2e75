import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Isolation } from "@agent/core/isolation";
import { check, checkOptions, invalidArgument, type OptionChecks } from "@agent/core/toolkit";
import { CALL_CHECKS } from "./checks/calls.js";
import { DECLARATION_CHECKS } from "./checks/declarations.js";
import { importFinding, LOADING_CHECKS } from "./checks/loading.js";
import type { LateTools, SeenTool } from "./probe/messages.js";
import { type ProbeOptions, type ProbeResult, runProbe } from "./runProbe.js";
import { type Check, functionOf, newTask, Subject } from "./subject.js";
import type {
  CheckPackOptions,
  CheckResult,
  PackInspection,
  PackLocation,
  PackReport,
  PackTool,
} from "./types.js";

/** All checks of packs, in the order of the report. */
export const CHECKS: readonly Check[] = [...LOADING_CHECKS, ...DECLARATION_CHECKS, ...CALL_CHECKS];

const NONE: LateTools = { tools: [], failures: [] };

const OPTIONS: OptionChecks<CheckPackOptions> = {
  // Accept any options: the pack itself validates them.
  options: () => undefined,
  samples: check.object,
  slowSamples: check.object,
  setup: check.function,
  maxOutputBytes: check.positive,
  isolated: check.boolean,
  sandboxed: check.boolean,
  settleMs: check.positive,
  timeoutMs: check.positive,
};

/**
 * Checks that a built pack does what hosts rely on. The pack runs in separate processes, in empty directories, so that
 * it cannot affect the caller. Rejects only for an invalid parameter; a broken pack is reported.
 *
 * @example
 * ```ts
 * import { checkPack, formatReport } from "@agent/testing";
 *
 * console.log(formatReport(await checkPack(new URL("../dist/index.js", import.meta.url))));
 * ```
 */
export async function checkPack(location: PackLocation, given: CheckPackOptions = {}): Promise<PackReport> {
  const module = checkedModule("checkPack", location, given);
  const { sandbox, detail } = given.sandboxed || given.isolated ? await findSandbox() : {};
  if (given.isolated && sandbox === undefined) return unchecked(module, `isolation is ${detail}`);
  if (!given.sandboxed || detail === undefined) return await checkWith(module, given);
  return { sandbox: detail, ...(await checkWith(module, { ...given, sandbox })) };
}

/** The report where no check can run, for a reason that is not the pack's. */
function unchecked(module: string, note: string): PackReport {
  const checks = CHECKS.map(
    ({ id, title }): CheckResult => ({ id, title, status: "not_checked", findings: [], notes: [note] }),
  );
  return { pack: module, ok: true, tools: [], checks };
}

async function findSandbox(): Promise<{ readonly sandbox?: Isolation; readonly detail: string }> {
  const { Isolation } = await import("@agent/core/isolation");
  const sandbox = new Isolation();
  const { level, detail } = await sandbox.status();
  return { detail, ...(level === "enforced" && { sandbox }) };
}

async function checkWith(module: string, options: ProbeOptions): Promise<PackReport> {
  const probe = await runProbe(newTask("inspect", module, options), options);
  const inspection = probe.answer?.inspection;
  if (!inspection || inspection.importError !== undefined) return unloadable(module, probe);

  const late = inspection.first.announcesMore ? await loadLate(module, options) : NONE;
  const subject = new Subject(module, inspection, late, probe, options);
  const checks: CheckResult[] = [];
  for (const check of CHECKS) checks.push(await runCheck(check, subject));
  return {
    pack:
      typeof inspection.packName === "string" && inspection.packName !== "" ? inspection.packName : module,
    ok: checks.every(({ status }) => status !== "failed"),
    tools: subject.tools.map(packTool),
    checks,
  };
}

/**
 * Lists the content of a pack, without checking it. Loads it in a separate process; a broken pack has a `problem`. With
 * `late`, tools that the pack announces for later are loaded as well, which may start their servers.
 */
export async function inspectPack(
  location: PackLocation,
  given: CheckPackOptions & { readonly late?: boolean } = {},
): Promise<PackInspection> {
  check.object("options", given);
  const { late: withLate = false, ...options } = given;
  const module = checkedModule("inspectPack", location, options);
  const probe = await runProbe(newTask("inspect", module, options), options);
  const { whole, first, packName } = probe.answer?.inspection ?? {};
  const problem = loadProblem(probe) ?? first?.error;
  const hasLate = withLate && problem === undefined && first?.announcesMore === true;
  const late = hasLate ? await loadLate(module, options) : NONE;
  return {
    ...(typeof packName === "string" && { packName }),
    tools: [...(first?.tools ?? []), ...late.tools].map(packTool),
    secrets: first?.secrets ?? [],
    // A pack may provide more if the host offers more.
    services: [...new Set([...(first?.services ?? []), ...(whole?.services ?? [])])],
    lateProblems: late.failures,
    ...(problem !== undefined && { problem }),
  };
}

/** Loads late tools in a separate process: their servers may print and create files. */
async function loadLate(module: string, options: ProbeOptions): Promise<LateTools> {
  const { answer, crash = "no answer" } = await runProbe(newTask("loadLate", module, options), options);
  return answer?.late ?? { tools: [], failures: [crash] };
}

/** Why the pack could not be imported; `undefined` if it could. */
function loadProblem({ answer, crash, output }: ProbeResult): string | undefined {
  if (answer) return answer.inspection?.importError;
  return `${crash ?? "no answer"}${output === "" ? "" : `: ${output.trim()}`}`;
}

async function runCheck({ id, title, run }: Check, subject: Subject): Promise<CheckResult> {
  const { findings, notes = [], remarks = [] } = await run(subject);
  const nothingSeen = notes.length > 0 && notes.length >= subject.tools.length;
  const status = findings.length > 0 ? "failed" : nothingSeen ? "not_checked" : "passed";
  return { id, title, status, findings, notes, ...(remarks.length > 0 && { remarks }) };
}

function unloadable(module: string, probe: ProbeResult): PackReport {
  const got = loadProblem(probe) ?? "no answer";
  const finding = {
    expected: `${module} can be imported, has a named export register, and registers`,
    got,
    hint:
      probe.crash === undefined
        ? "Build the pack first, and point the kit at the built file."
        : "Neither importing the pack nor register() may end the process or keep it busy: no process.exit(), no endless loop, no top-level await that may wait forever.",
  };
  const tried = (probe.answer?.inspection?.importEffects ?? []).map(importFinding);
  const checks = CHECKS.map(
    ({ id, title }): CheckResult =>
      id === "import"
        ? { id, title, status: "failed", findings: [finding, ...tried], notes: [] }
        : { id, title, status: "not_checked", findings: [], notes: ["the pack cannot be loaded"] },
  );
  return { pack: module, ok: false, tools: [], checks };
}

function packTool(tool: SeenTool): PackTool {
  const { name, enabled, capabilities } = tool;
  const { description } = functionOf(tool);
  return {
    name,
    enabled,
    capabilities: Array.isArray(capabilities) ? capabilities.map(String) : [],
    description: typeof description === "string" ? description : "",
  };
}

/** The module's URL. Throws for a wrong location or option, naming it. */
export function checkedModule(caller: string, location: PackLocation, options: CheckPackOptions): string {
  checkOptions(caller, options, OPTIONS);
  if (location instanceof URL) return location.href;
  if (typeof location !== "string" || location === "") {
    throw invalidArgument("location", "a path or a file: URL", location);
  }
  return location.startsWith("file:") ? location : pathToFileURL(resolve(location)).href;
}
