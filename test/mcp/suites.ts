import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { externalDirectory, isExternalInstalled } from "../external.mjs";

const MANIFEST = new URL("package.json", import.meta.url);
const modules = join(externalDirectory(MANIFEST), "node_modules");

export const isInstalled = isExternalInstalled(MANIFEST);
/** For the names of tests that skip. */
export const why = isInstalled ? "" : " (skipped: run `node test/mcp/install.mjs` first)";

/** The Node that the suites need; what they test runs on ours. */
const NODE_22 = join(modules, `node-${process.platform}-${process.arch}`, "bin", "node");

/** A file of one of the installed packages. */
export function installed(...path: string[]): string {
  return join(modules, "@modelcontextprotocol", ...path);
}

/** Runs a program of a suite on its Node. Resolves to what it printed, whatever its exit code. */
export async function runSuite(
  program: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<{ readonly code: number; readonly output: string }> {
  const limits = { timeout: 240_000, maxBuffer: 64 * 1024 * 1024 };
  try {
    const { stdout, stderr } = await promisify(execFile)(NODE_22, [program, ...args], {
      ...limits,
      ...options,
    });
    return { code: 0, output: stdout + stderr };
  } catch (error) {
    const { code, stdout = "", stderr = "" } = error as { code?: number; stdout?: string; stderr?: string };
    return { code: code ?? 1, output: `${stdout}${stderr}` };
  }
}
