import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { lstat, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const PACKAGES = fileURLToPath(new URL("../../packages/", import.meta.url));
const UNREACHABLE = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED/;

const { resolve } = createRequire(import.meta.url);
/** The compilers that users have: their programs. The newest is also several times as fast. */
export const COMPILER = join(dirname(resolve("typescript-7/package.json")), "bin/tsc");
export const COMPILER_5 = resolve("typescript/bin/tsc");
/** Why a test is skipped. */
export const NO_REGISTRY = "the npm registry cannot be reached";

/** The total size of the files below a folder, in bytes. */
export async function folderSize(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map(({ parentPath, name }) => lstat(join(parentPath, name))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

/** A package's name without its scope: its folder. */
export function folderOf(name: string): string {
  return join(PACKAGES, name.slice("@agent/".length));
}

/** Packs packages as they would be published, into `directory`; returns the tarballs by package name. */
export async function pack(names: readonly string[], directory: string): Promise<Map<string, string>> {
  const tarballs = new Map<string, string>();
  for (const name of names) {
    // pnpm, not npm: only it replaces "workspace:" and "catalog:" with real versions.
    const { stdout } = await run("pnpm", ["pack", "--json", "--pack-destination", directory], {
      cwd: folderOf(name),
    });
    const { filename } = JSON.parse(stdout) as { filename: string };
    tarballs.set(name, filename);
  }
  return tarballs;
}

/** An empty project of a user, outside the workspace. */
export interface Project {
  readonly directory: string;
  /** Runs a program there; resolves to its standard output, rejects if it fails. */
  run(program: string, ...args: string[]): Promise<string>;
  /** Installs tarballs with npm. Resolves to `false` if the registry cannot be reached. */
  install(tarballs: readonly string[]): Promise<boolean>;
  write(name: string, content: string): Promise<void>;
  /** The packages below node_modules. */
  installed(): Promise<string[]>;
  remove(): Promise<void>;
}

export async function createProject(): Promise<Project> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "agent-install-")));
  const write = (name: string, content: string) => writeFile(join(directory, name), content);
  await write("package.json", JSON.stringify({ name: "project", private: true, type: "module" }));
  const runHere = async (program: string, ...args: string[]): Promise<string> => {
    try {
      return (await run(program, args, { cwd: directory, maxBuffer: 64 * 1024 * 1024 })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout: string; stderr: string };
      throw new Error(`${program} ${args.join(" ")} failed:\n${stdout}\n${stderr}`, { cause: error });
    }
  };
  return {
    directory,
    run: runHere,
    write,
    async install(tarballs) {
      try {
        await runHere("npm", "install", "--no-audit", "--no-fund", "--prefer-offline", ...tarballs);
        return true;
      } catch (error) {
        if (UNREACHABLE.test((error as Error).message)) return false;
        throw error;
      }
    },
    async installed() {
      const lockfile = join(directory, "node_modules", ".package-lock.json");
      if (!existsSync(lockfile)) return [];
      const { packages } = JSON.parse(await readFile(lockfile, "utf8")) as { packages: object };
      return Object.keys(packages).map((path) => path.replace(/^.*node_modules\//, ""));
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
