import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { ask, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { note } from "../process/output.js";
import { PROJECT_PLACES } from "../settings/config/places.js";
import { DEFAULT_PACK } from "../settings/layers.js";
import { ProjectFiles } from "../settings/trust/projectFiles.js";
import { grantTrust } from "../settings/trust/trust.js";
import { enterDirectory } from "../settings/workingDirectory.js";

const FILE = "agent.config.ts";
/** The tools of the default packs that are off until somebody opts in, and what each can do. */
const OPT_INS = { run_bash: "run shell commands", remove: "delete files and directories" } as const;

export interface InitFlags {
  readonly pack?: readonly string[];
  readonly enable?: readonly string[];
  readonly confirm?: readonly string[];
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly cwd?: string;
}

/** `agent init`: writes a typed config, by asking or by flags, and trusts what it wrote. */
export async function initCommand(flags: InitFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const file = resolve(FILE);
  const existing = PROJECT_PLACES.filter((name) => name !== "package.json").find((name) => existsSync(name));
  if (existing !== undefined && !(flags.force && existing === FILE)) {
    throw new CliError(
      `${resolve(existing)} exists already. Edit it${existing === FILE ? ", or replace it with --force" : " or remove it"}.`,
    );
  }
  const asks = canAsk() && !flags.yes && !flags.pack && !flags.enable;
  const packs = flags.pack ?? (asks ? await askPacks() : [DEFAULT_PACK]);
  const enable = flags.enable ?? (asks ? await askOptIns() : []);
  const content = configText(packs, enable, flags.confirm ?? []);
  await writeFileAtomic(file, content);
  const files = new ProjectFiles(file);
  files.add(file, content);
  await grantTrust(file, files.hashes);
  note(`Wrote ${file} and trusted it. See what is on: agent tools`);
  return EXIT.done;
}

async function askPacks(): Promise<string[]> {
  const answer = await ask(`Packs, separated by spaces [${DEFAULT_PACK}]: `);
  return answer === "" ? [DEFAULT_PACK] : answer.split(/[\s,]+/);
}

async function askOptIns(): Promise<string[]> {
  const chosen: string[] = [];
  for (const [tool, what] of Object.entries(OPT_INS)) {
    const answer = await ask(`May the agent ${what} (${tool})? [y/N] `);
    if (/^y(es)?$/i.test(answer)) chosen.push(tool);
  }
  return chosen;
}

function configText(packs: readonly string[], enable: readonly string[], confirm: readonly string[]): string {
  return `import { defineConfig } from "@agent/cli/config";

export default defineConfig({
  // Package names, paths relative to this file, or ["name", { …options }].
  packs: ${list(packs)},
  // Tools that are off by default and that you want on.
  enable: ${list(enable)},
  // Tools that ask before each call.
  confirm: ${list(confirm)},
});
`;
}

function list(names: readonly string[]): string {
  return `[${names.map((name) => JSON.stringify(name)).join(", ")}]`;
}
