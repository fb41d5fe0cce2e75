import { existsSync } from "node:fs";
import { win32 } from "node:path";
import { findOnWindows, quote } from "@agent/core/toolkit";

/** Windows passes 32,767 characters to a program; the rest is for its path, options and arguments. */
const MAX_LINE = 30_000;

/** A Windows shell, and how a command is passed to it. */
export interface WindowsShell {
  readonly kind: "bash" | "wsl" | "powershell";
  readonly program: string;
  /** For messages: `Git Bash (C:\Program Files\Git\bin\bash.exe)`. */
  readonly label: string;
  /** Throws for a command that does not fit into a command line. */
  args(command: string, parameters: readonly string[]): string[];
}

/** The system information used to find the shells. */
export interface WindowsMachine {
  readonly env: Readonly<Record<string, string | undefined>>;
  exists(path: string): boolean;
}

const THIS_MACHINE: WindowsMachine = { env: process.env, exists: existsSync };

/** Git Bash, another bash of Windows, or the one of WSL. `undefined` if there is none. */
export function findBash({ env, exists }: WindowsMachine = THIS_MACHINE): WindowsShell | undefined {
  const git = findOnWindows("git.exe", env, exists);
  const roots = [
    // git.exe is in "cmd" or "bin" of its installation.
    git === undefined ? undefined : win32.dirname(win32.dirname(git)),
    ...["ProgramFiles", "ProgramFiles(x86)", "ProgramW6432"].map((name) => below(env[name], "Git")),
    below(env.LOCALAPPDATA, "Programs\\Git"),
  ];
  const gitBash = roots.flatMap((root) => below(root, "bin\\bash.exe") ?? []).find((file) => exists(file));
  if (gitBash !== undefined) return bash(gitBash, `Git Bash (${gitBash})`);
  const other = findOnWindows("bash.exe", env, exists);
  // The bash.exe of Windows itself starts WSL.
  if (other !== undefined && !isOfWindows(other, env)) return bash(other, `bash (${other})`);
  const wsl = win32.join(systemRoot(env), "System32\\wsl.exe");
  return exists(wsl) ? wslBash(wsl) : undefined;
}

/** A bash from the options. */
export function bash(program: string, label = program): WindowsShell {
  return {
    kind: "bash",
    program,
    label,
    args: (command, parameters) => fitting(["-c", command, "bash", ...parameters]),
  };
}

function wslBash(program: string): WindowsShell {
  return {
    kind: "wsl",
    program,
    label: "bash of WSL (wsl.exe)",
    args: (command, parameters) => fitting(["--exec", "bash", "-c", command, "bash", ...parameters]),
  };
}

/** PowerShell 7 or, if it is missing, the one included with Windows. */
export function findPowerShell({ env, exists }: WindowsMachine = THIS_MACHINE): WindowsShell | undefined {
  const program = [
    findOnWindows("pwsh.exe", env, exists),
    below(env.ProgramFiles, "PowerShell\\7\\pwsh.exe"),
    win32.join(systemRoot(env), "System32\\WindowsPowerShell\\v1.0\\powershell.exe"),
  ].find((file) => file !== undefined && exists(file));
  return program === undefined ? undefined : powershell(program);
}

/** The command is passed as Base64, so that no quoting can change it. */
function powershell(program: string): WindowsShell {
  const flags = ["-NoLogo", "-NoProfile", "-NonInteractive", "-OutputFormat", "Text", "-EncodedCommand"];
  return {
    kind: "powershell",
    program,
    label: `PowerShell (${program})`,
    args: (command) => {
      const script = `${BEFORE}${command}\n${AFTER}`;
      return fitting([...flags, Buffer.from(script, "utf16le").toString("base64")]);
    },
  };
}

// Output as UTF-8 whatever the code page, and no progress bars. On one line, so that line numbers in messages stay
// correct.
const BEFORE =
  "$ProgressPreference='SilentlyContinue';$OutputEncoding=[Console]::OutputEncoding=New-Object Text.UTF8Encoding $false;";
// The exit code of the last failed program; PowerShell itself would return 1.
const AFTER = "if ($?) { exit 0 } elseif ($LASTEXITCODE) { exit $LASTEXITCODE } else { exit 1 }";

function fitting(args: string[]): string[] {
  const length = args.reduce((sum, text) => sum + text.length + 3, 0);
  if (length <= MAX_LINE) return args;
  throw new Error(
    `The command is too long: Windows passes at most ${MAX_LINE} characters to a shell, and this needs ${length}. Write it to a file and run the file. Nothing was run.`,
  );
}

function below(root: string | undefined, path: string): string | undefined {
  return root === undefined || root === "" ? undefined : win32.join(root, path);
}

function systemRoot(env: WindowsMachine["env"]): string {
  return env.SystemRoot ?? env.SYSTEMROOT ?? "C:\\Windows";
}

function isOfWindows(file: string, env: WindowsMachine["env"]): boolean {
  const folded = file.toLowerCase();
  // The second is where the Microsoft Store puts the launchers of its programs.
  return folded.startsWith(`${systemRoot(env).toLowerCase()}\\`) || folded.includes("\\windowsapps\\");
}

/** Why a shell cannot be used, and what to do about it. */
export const NO_BASH = `There is no bash on this machine. Install Git for Windows (which has Git Bash) or a Linux distribution for WSL, or enable ${quote("run_powershell")}.`;
