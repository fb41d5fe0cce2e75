import { nodeChildProcess, nodeFs, nodePath } from "../files/nodeModules.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The arguments for `spawn`. */
export interface StartableProgram {
  readonly file: string;
  readonly args: readonly string[];
  readonly options: { readonly windowsVerbatimArguments?: true; readonly windowsHide: true };
}

/**
 * Resolves how a program is started on this system. On Windows a name is looked up in PATH, never in the current
 * directory, and a `.cmd` or `.bat` file, such as `npx`, is started through `cmd.exe` with every argument quoted.
 * Throws there if the program is not found (`ENOENT`) or an argument cannot be quoted.
 *
 * @example
 * ```ts
 * import { spawnSync } from "node:child_process";
 * import { startableProgram } from "@agent/core/toolkit";
 *
 * const { file, args, options } = startableProgram(process.execPath, ["-p", "1 + 1"]);
 * console.log(spawnSync(file, args, { ...options, encoding: "utf8" }).stdout.trim()); // 2
 * ```
 */
export function startableProgram(
  program: string,
  args: readonly string[],
  { env = process.env, cwd = "" }: { readonly env?: Environment; readonly cwd?: string } = {},
): StartableProgram {
  if (process.platform !== "win32") return { file: program, args, options: { windowsHide: true } };
  // A path is relative to the directory in which the program is started.
  const path = /[\\/]/.test(program) ? nodePath.win32.resolve(cwd, program) : program;
  return windowsProgram(path, args, env, isFile);
}

/** `startableProgram` for Windows; `exists` returns whether a path is a file. */
export function windowsProgram(
  program: string,
  args: readonly string[],
  env: Environment,
  exists: (path: string) => boolean,
): StartableProgram {
  const file = findOnWindows(program, env, exists);
  if (file === undefined) {
    throw Object.assign(new Error(`spawn ${program} ENOENT`), { code: "ENOENT", path: program });
  }
  if (!/\.(?:cmd|bat)$/i.test(file)) return { file, args, options: { windowsHide: true } };
  // The quotes around everything are those that /s removes.
  const line = `"${[`"${scriptPath(file)}"`, ...args.map(batchArgument)].join(" ")}"`;
  return {
    file: systemProgram("cmd.exe", env),
    args: ["/d", "/e:ON", "/v:OFF", "/s", "/c", line],
    options: { windowsVerbatimArguments: true, windowsHide: true },
  };
}

/** The path of a program of Windows itself. */
export function systemProgram(name: string, env: Environment = process.env): string {
  return nodePath.win32.join(variable(env, "SystemRoot") ?? "C:\\Windows", "System32", name);
}

/**
 * The file that Windows starts for the name of a program: looked up in PATH, never in the current directory.
 *
 * @example
 * ```ts
 * import { findOnWindows } from "@agent/core/toolkit";
 *
 * console.log(findOnWindows("no-such-program")); // undefined
 * ```
 */
export function findOnWindows(
  program: string,
  env: Environment = process.env,
  exists: (path: string) => boolean = isFile,
): string | undefined {
  const { isAbsolute, join, extname, delimiter } = nodePath.win32;
  const extensions = (variable(env, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").toLowerCase().split(";");
  const names = extensions.includes(extname(program).toLowerCase())
    ? [program]
    : extensions.map((one) => `${program}${one}`);
  if (/[\\/:]/.test(program)) return names.find(exists);
  const directories = (variable(env, "PATH") ?? "").split(delimiter).map((one) => one.replaceAll('"', ""));
  const paths = directories.filter(isAbsolute).flatMap((one) => names.map((name) => join(one, name)));
  return paths.find(exists);
}

/** Variable names are case-insensitive on Windows, but not in a copy of the environment. */
function variable(env: Environment, name: string): string | undefined {
  const key = Object.keys(env).find((one) => one.toUpperCase() === name.toUpperCase());
  return key === undefined ? undefined : env[key];
}

function scriptPath(file: string): string {
  if (/["%\r\n\0]/.test(file))
    throw new Error(`A batch file cannot be started safely at ${JSON.stringify(file)}.`);
  return file;
}

/**
 * Quotes one argument for a batch file. `cmd.exe` parses the line before the program does, so both must understand it:
 * quotes are doubled, and a percent sign is followed by an empty expansion, so that no `%NAME%` arises.
 */
function batchArgument(text: string): string {
  if (/[\r\n\0]/.test(text)) {
    throw new Error(
      "An argument of a .cmd or .bat program contains a line break or NUL, which cmd.exe cannot pass.",
    );
  }
  if (/^[\w#$*+\-./:?@\\]+$/.test(text) && !text.endsWith("\\")) return text;
  const escaped = text
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/\\+$/, "$&$&")
    .replaceAll("%", "%%cd:~,%");
  return `"${escaped}"`;
}

function isFile(path: string): boolean {
  try {
    return nodeFs.statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Kills a process and everything that it started, on Windows. Resolves when that was tried. With `sync` it is done
 * before the function returns, for a process that is about to exit.
 *
 * @example
 * ```ts
 * import { killWindowsTree } from "@agent/core/toolkit";
 *
 * if (process.platform === "win32") await killWindowsTree(4711);
 * console.log(typeof killWindowsTree); // function
 * ```
 */
export async function killWindowsTree(pid: number, sync = false): Promise<void> {
  const taskkill = systemProgram("taskkill.exe");
  const args = ["/PID", String(pid), "/T", "/F"];
  const options = { stdio: "ignore", windowsHide: true, timeout: 5000 } as const;
  if (sync) nodeChildProcess.spawnSync(taskkill, args, options);
  else {
    await new Promise<void>((resolve) => {
      const child = nodeChildProcess.spawn(taskkill, args, options);
      child.once("error", () => resolve()).once("exit", () => resolve());
    });
  }
  try {
    // If taskkill is missing or failed, at least the process itself.
    process.kill(pid, "SIGKILL");
  } catch {
    // It has exited.
  }
}
