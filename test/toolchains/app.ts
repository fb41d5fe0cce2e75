import { execFile, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { externalDirectory, isExternalInstalled } from "../external.mjs";

const execute = promisify(execFile);
const MANIFEST = new URL("package.json", import.meta.url);
const APPS = fileURLToPath(new URL("apps", import.meta.url));

export const PACKAGES = fileURLToPath(new URL("../../packages", import.meta.url));
/** Where the bundlers, runtimes and package managers are. */
export const toolchains = externalDirectory(MANIFEST);
export const isInstalled = isExternalInstalled(MANIFEST);
/** For the name of a test that is skipped without them. */
export const why = isInstalled ? "" : " (skipped: run `node test/toolchains/install.mjs` first)";

/** A program that uses the packages as a user has them, in its own directory. */
export interface App {
  readonly directory: string;
  /** Runs a program there. Everything it prints is its result: a warning is one too many. */
  run(program: string, ...args: string[]): Promise<string>;
  /** Runs a program of the toolchains there. */
  tool(name: string, ...args: string[]): Promise<string>;
  remove(): void;
}

/** Makes an app from a folder of `apps`, with these packages of ours below its node_modules. */
export function createApp(folder: string, packages: readonly string[]): App {
  const directory = realpathSync(mkdtempSync(join(toolchains, "app-")));
  cpSync(join(APPS, folder), directory, { recursive: true });
  for (const name of packages) {
    const target = join(directory, "node_modules", "@agent", name);
    mkdirSync(target, { recursive: true });
    cpSync(join(PACKAGES, name, "dist"), join(target, "dist"), { recursive: true });
    cpSync(join(PACKAGES, name, "package.json"), join(target, "package.json"));
  }
  const run = async (program: string, ...args: string[]): Promise<string> => {
    const { stdout, stderr } = await execute(program, args, { cwd: directory, env: appEnvironment() });
    return stdout + stderr;
  };
  return {
    directory,
    run,
    tool: (name, ...args) => run(join(toolchains, "node_modules", ".bin", name), ...args),
    remove: () => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }),
  };
}

/** A Next.js server for what was built in the folder: its address, what it said on standard error, and its end. */
export interface NextServer {
  readonly address: string;
  said(): string;
  stop(): Promise<void>;
}

export async function startNext(
  directory: string,
  variables: NodeJS.ProcessEnv = {},
  command: "start" | "dev" = "start",
): Promise<NextServer> {
  const next = join(toolchains, "node_modules", "next", "dist", "bin", "next");
  const server = spawn(process.execPath, [next, command, "--port=0", "--hostname=127.0.0.1"], {
    cwd: directory,
    env: { ...appEnvironment(), ...variables },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = new Promise((resolve) => server.once("exit", resolve));
  let said = "";
  server.stderr.on("data", (chunk) => {
    said += chunk;
  });
  const stop = async (): Promise<void> => {
    server.kill();
    await exited;
  };
  for await (const line of createInterface({ input: server.stdout })) {
    const [address] = /http:\/\/[\d.]+:\d+/.exec(line) ?? [];
    if (address === undefined) continue;
    // A pipe that no one reads would fill up.
    server.stdout.resume();
    return { address, said: () => said, stop };
  }
  await stop();
  throw new Error(`Next.js did not start: ${said}`);
}

function appEnvironment(): NodeJS.ProcessEnv {
  // In CI, Next.js warns of a missing build cache: that is about the machine, not about the packages.
  const { CI: _, ...env }: NodeJS.ProcessEnv = process.env;
  return { ...env, NEXT_TELEMETRY_DISABLED: "1", NEXT_MANUAL_SIG_HANDLE: "true" };
}
