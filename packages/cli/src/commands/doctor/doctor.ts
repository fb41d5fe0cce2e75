import { rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { Diagnosis } from "@agent/core";
import { errorMessage } from "@agent/core/toolkit";
import { countOf, escapeToLine, isInside, temporaryName, withTimeout } from "@agent/internal";
import { ensurePrivateDirectory, wrapWords } from "@agent/terminal/host";
import type { LoadedPack } from "../../assembly/packs/load.js";
import type { PackSecret } from "../../assembly/packs/secrets.js";
import { type ToolsInUse, withTools } from "../../assembly/withTools.js";
import { findInstructions, InstructionConsent, instructionSize } from "../../instructions/instructions.js";
import { EXIT, type ExitCode } from "../../process/exitCodes.js";
import { print } from "../../process/output.js";
import { configDirectory, stateDirectory } from "../../process/paths.js";
import type { SettingsFlags } from "../../settings/flags.js";
import type { LoadedSettings } from "../../settings/loadSettings.js";
import { checkProvider, type ProviderDiagnosis } from "./checkProvider.js";

const OLDEST_NODE = [20, 19] as const;
const DIAGNOSIS_LIMIT_MS = 30_000;
const INDENT = "    ";
const PROTECTED = "set, withheld from commands and hidden in results";

/** `agent doctor`: tests what works on this machine, and explains how to fix what does not. */
export async function doctorCommand(flags: SettingsFlags): Promise<ExitCode> {
  let broken = false;
  const show = (one: ProviderDiagnosis, counts = false): void => {
    broken ||= counts && !one.ok && !one.isOptional;
    printRow(`${one.ok ? "✓" : one.isOptional ? "!" : "✗"} ${escapeToLine(`${one.subject}: ${one.detail}`)}`);
    if (!one.ok && one.hint) printRow(`${INDENT}${escapeToLine(one.hint)}`);
  };
  show(checkNode(), true);
  try {
    await withTools(flags, async (tools) => {
      const { loaded, packs } = tools;
      show({ subject: "config", ok: true, detail: configDetail(loaded) });
      for (const pack of packs) show(packDiagnosis(pack), true);
      for (const one of secretDiagnoses(tools.secrets)) show(one);
      for (const problem of lateProblems(tools)) show({ subject: "tools", ok: false, detail: problem }, true);
      for (const one of await checkProvider(loaded)) show(one, true);
      show(await checkIsolation());
      show(checkState(), true);
      for (const one of checkInstructions(process.cwd())) show(one);
      for (const diagnosis of await diagnose(tools)) show(diagnosis);
    });
  } catch (error) {
    show({ subject: "config", ok: false, detail: errorMessage(error) }, true);
  }
  return broken ? EXIT.config : EXIT.done;
}

/** Wraps a line between words in a terminal, which would break inside them. */
function printRow(line: string): void {
  const { isTTY, columns } = process.stdout;
  const rows = isTTY && columns ? wrapWords(line, columns, INDENT.length) : [line];
  print(`${rows.join("\n")}\n`);
}

function checkNode(): Diagnosis {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const ok = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return {
    subject: "Node",
    ok,
    detail: process.version,
    hint: `Install Node ${OLDEST_NODE.join(".")} or newer.`,
  };
}

function configDetail({ layers }: LoadedSettings): string {
  const files = layers.flatMap(({ source }) => (source ? [source.file] : []));
  return files.length === 0 ? "none, the defaults apply" : files.join(", ");
}

function packDiagnosis({ name, file, problem, module, own, isolated }: LoadedPack): Diagnosis {
  if (problem !== undefined) return { subject: `pack ${name}`, ok: false, detail: problem };
  const runs = isolated ? ", in its own process" : own ? "" : ", with your rights";
  const how = basename(file ?? "") === "plugin.json" ? ", without code" : runs;
  return { subject: `pack ${name}`, ok: module !== undefined, detail: `${file ?? "from the config"}${how}` };
}

/** Whether added packs can be restricted to their grants, tested with a hostile one. */
async function checkIsolation(): Promise<Diagnosis> {
  const { Isolation } = await import("@agent/core/isolation");
  const { level, detail, hint } = await new Isolation().status();
  return { subject: "isolation of packs", ok: level === "enforced", detail, ...(hint && { hint }) };
}

/** Of several secrets of a pack, usually one is needed: which one, its own diagnosis and its withheld tools say. */
function secretDiagnoses(secrets: readonly PackSecret[]): Diagnosis[] {
  const packs = new Map<string, PackSecret[]>();
  for (const one of secrets) packs.set(one.pack, [...(packs.get(one.pack) ?? []), one]);
  return [...packs].map(([pack, declared]) => {
    const [set, unset] = [true, false].map((isSet) =>
      declared.flatMap((one) => (one.isSet === isSet ? one.variable : [])).join(", "),
    );
    const [{ variable } = { variable: "" }, ...others] = declared;
    if (others.length === 0) {
      return {
        subject: `secret ${variable} of ${pack}`,
        ok: set !== "",
        detail: set ? PROTECTED : "missing",
        hint: `Set it: export ${variable}=…`,
      };
    }
    const details = [...(set ? [`${set} ${PROTECTED}`] : []), ...(unset ? [`${unset} not set`] : [])];
    return { subject: `secrets of ${pack}`, ok: true, detail: details.join("; ") };
  });
}

/** Problems of tools that were announced but did not load. Problems of packs are listed with each pack. */
function lateProblems({ problems, packs }: ToolsInUse): string[] {
  return problems.filter((problem) => !packs.some((pack) => pack.problem === problem));
}

/** The packs' diagnoses of this machine. A pack that takes too long is listed as a problem. */
async function diagnose({ registry }: ToolsInUse): Promise<readonly Diagnosis[]> {
  const detail = `no result after ${countOf(DIAGNOSIS_LIMIT_MS / 1000, "second")}`;
  return await withTimeout<readonly Diagnosis[]>(registry.services.diagnose(), DIAGNOSIS_LIMIT_MS, () => [
    { subject: "the packs' own checks", ok: false, detail },
  ]);
}

/** Writes a file to the directories of trust and sessions, and removes it again. */
function checkState(): Diagnosis {
  const directory = stateDirectory();
  try {
    ensurePrivateDirectory(directory);
    const file = join(directory, temporaryName());
    writeFileSync(file, "", { flag: "wx" });
    rmSync(file);
  } catch (error) {
    return {
      subject: "state",
      ok: false,
      detail: `${directory} cannot be written: ${errorMessage(error)}`,
      hint: "Make it writable, or set XDG_STATE_HOME. Until then, trust and sessions are not saved.",
    };
  }
  return {
    subject: "state",
    ok: true,
    detail: `trust and sessions in ${directory} (written just now), own config in ${configDirectory()}`,
  };
}

/**
 * Lists each instruction file (AGENTS.md and similar) that a model gets here, with its size and the user's consent for
 * a project's.
 */
function checkInstructions(cwd: string): Diagnosis[] {
  const { answer } = new InstructionConsent(cwd);
  const found = findInstructions(cwd);
  if (found.length === 0) return [{ subject: "instructions", ok: true, detail: "none (AGENTS.md)" }];
  return found.map((one) => {
    const isOwn = isInside(configDirectory(), one.file);
    const use =
      isOwn || answer === true
        ? "used"
        : answer === false
          ? "not used, as you chose. To use it: /instructions on, in a chat"
          : "used without a terminal; in one you are asked first";
    return { subject: "instructions", ok: true, detail: `${one.file} (${instructionSize(one)}), ${use}` };
  });
}
