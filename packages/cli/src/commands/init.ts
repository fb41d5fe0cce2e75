import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { writeFileAtomic } from "@agent/core/toolkit";
import { escapeToLine } from "@agent/internal";
import { ask, askYesNo, canAsk } from "../process/ask.js";
import { CliError } from "../process/errors.js";
import { EXIT, type ExitCode } from "../process/exitCodes.js";
import { note } from "../process/output.js";
import { isThere, PROJECT_PLACES } from "../settings/config/places.js";
import { splitNames } from "../settings/environment.js";
import { DEFAULT_PACK } from "../settings/layers.js";
import { configFiles } from "../settings/trust/configFiles.js";
import { unknownFiles } from "../settings/trust/projectFiles.js";
import { grantTrust } from "../settings/trust/trust.js";
import { enterDirectory } from "../settings/workingDirectory.js";

const FILE = "agent.config.ts";
const BASH_PLACES = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"];
const LONGER_LIMIT_MS = 600_000;
const SANDBOX_PLATFORMS = new Set(["linux", "darwin"]);
/** The tools of the default packs that are disabled by default, and what each can do. */
const OPT_INS = {
  run_bash: "run shell commands",
  ...(process.platform === "win32" && { run_powershell: "run PowerShell commands" }),
  remove: "delete files and directories",
};
const SHELLS = ["run_bash", "run_powershell"];

/** Packs outside the default preset, and their purpose. */
const OPTIONAL_PACKS = {
  "@agent/tools-agents": "sub-agents",
  "@agent/tools-code": "scripts that call many tools",
  "@agent/tools-web": "web pages and web search",
  "@agent/tools-lsp": "new errors after each edit (language servers)",
} as const;

/** The answers about the shell, if run_bash is enabled. */
interface ShellChoices {
  readonly shell?: string;
  readonly timeoutMs?: number;
  readonly sandbox?: "auto";
}

export interface InitFlags {
  readonly pack?: readonly string[];
  readonly enable?: readonly string[];
  /** `false` for `--no-confirm`. */
  readonly confirm?: readonly string[] | boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
  readonly cwd?: string;
}

/** `agent init`: writes a typed config, interactively or from flags, and trusts it. */
export async function initCommand(flags: InitFlags): Promise<ExitCode> {
  enterDirectory(flags.cwd);
  const file = resolve(FILE);
  const existing = PROJECT_PLACES.filter((name) => name !== "package.json").find((name) => isThere(name));
  if (existing !== undefined && !(flags.force && existing === FILE)) {
    throw new CliError(
      `${resolve(existing)} exists already. Edit it${existing === FILE ? ", or replace it with --force" : " or remove it"}.`,
    );
  }
  const asks = canAsk() && !flags.yes && !flags.pack && !flags.enable;
  const packs = flags.pack?.flatMap(splitNames) ?? (asks ? await askPacks() : [DEFAULT_PACK]);
  const enable = flags.enable?.flatMap(splitNames) ?? (asks ? await askOptIns() : []);
  const confirm =
    asks && flags.confirm === undefined ? await askConfirm(enable) : confirmedBy(flags.confirm, enable);
  const shell = asks && enable.includes("run_bash") ? await askShell() : {};
  const content = configText(
    packs.map((name) => packEntry(name, shell)),
    enable,
    confirm,
  );
  // With --force a symlink is replaced, not its target.
  await writeFileAtomic(file, content, { follow: false });
  // Packages that the project contains may have been put there by its author: the names alone do not make them trusted.
  const { hashes } = configFiles(file, content);
  const trusted = Object.fromEntries(Object.entries(hashes).filter(([path]) => path === realpathSync(file)));
  await grantTrust(file, trusted);
  note(`Wrote ${file} and trusted it. See what is on: agent tools`);
  const asked = unknownFiles(hashes, trusted).map(escapeToLine);
  if (asked.length > 0) note(`The next start asks before it loads files of the project: ${asked.join(", ")}`);
  for (const line of questionNotes(enable, confirm)) note(line);
  if (asks) {
    for (const [name, what] of Object.entries(OPTIONAL_PACKS)) {
      if (!packs.includes(name)) note(`For ${what}: agent pack add ${name}`);
    }
  }
  return EXIT.done;
}

/** What the agent will ask about with this config. */
function questionNotes(enable: readonly string[], confirm: readonly string[]): string[] {
  const others = enable.filter((tool) => !confirm.includes(tool));
  return [
    "Edits in this project run without asking.",
    ...(confirm.length > 0 ? [`Asks before each call, in every mode: ${confirm.join(", ")}.`] : []),
    ...(others.length > 0
      ? [
          `Asks until you allow it, except in auto mode: ${others.join(", ")}. Without a terminal, --mode auto allows it.`,
        ]
      : []),
  ];
}

/** The tools that ask first: the shells, if enabled, unless the user decided otherwise. */
function confirmedBy(flag: InitFlags["confirm"], enable: readonly string[]): readonly string[] {
  if (flag === false) return [];
  const named = Array.isArray(flag) ? flag.flatMap(splitNames) : [];
  const shells = SHELLS.filter((name) => enable.includes(name) && !named.includes(name));
  return [...named, ...shells];
}

async function askPacks(): Promise<string[]> {
  const answer = await ask(`Packs, separated by spaces [${DEFAULT_PACK}]: `);
  return answer === "" ? [DEFAULT_PACK] : splitNames(answer);
}

async function askOptIns(): Promise<string[]> {
  const chosen: string[] = [];
  for (const [tool, what] of Object.entries(OPT_INS)) {
    if (await askYesNo(`May the agent ${what} (${tool})?`)) chosen.push(tool);
  }
  return chosen;
}

async function askConfirm(enable: readonly string[]): Promise<string[]> {
  const chosen: string[] = [];
  for (const tool of enable) {
    if (await askYesNo(`Ask you before each call of ${tool}?`, true)) chosen.push(tool);
  }
  return chosen;
}

async function askShell(): Promise<ShellChoices> {
  const bash = BASH_PLACES.find((path) => existsSync(path));
  const useBash = bash !== undefined && (await askYesNo(`Run commands with ${bash} instead of /bin/sh?`));
  const useLonger = await askYesNo("Let a command run for 10 minutes instead of 30 seconds?");
  const useSandbox =
    SANDBOX_PLATFORMS.has(process.platform) &&
    (await askYesNo(
      "Run commands in a sandbox that writes only this project, where the system has one?",
      true,
    ));
  return {
    ...(useBash && { shell: bash }),
    ...(useLonger && { timeoutMs: LONGER_LIMIT_MS }),
    ...(useSandbox && { sandbox: "auto" }),
  };
}

/** The default preset, or the shell pack itself, with the chosen options for commands. */
function packEntry(name: string, { shell, timeoutMs, sandbox }: ShellChoices): string {
  const options = {
    ...(shell !== undefined && { shell }),
    ...(timeoutMs !== undefined && { limits: { timeoutMs } }),
    ...(sandbox !== undefined && { sandbox }),
  };
  if (Object.keys(options).length === 0) return JSON.stringify(name);
  if (name === DEFAULT_PACK) return `[${JSON.stringify(name)}, ${literal({ bash: options })}]`;
  return name === "@agent/tools-bash"
    ? `[${JSON.stringify(name)}, ${literal(options)}]`
    : JSON.stringify(name);
}

function literal(value: object): string {
  return JSON.stringify(value, undefined, 1)
    .replaceAll(/\s*\n\s*/g, " ")
    .replaceAll(/"(\w+)":/g, "$1:");
}

function configText(packs: readonly string[], enable: readonly string[], confirm: readonly string[]): string {
  return `import { defineConfig } from "@agent/cli/config";

export default defineConfig({
  // Package names, paths relative to this file, or ["name", { …options }].
  packs: [${packs.join(", ")}],
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
