import { statSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, parse } from "node:path";
import { canonicalPath, isInside, type PathGuard } from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";

/**
 * Refuses to move or remove the file system's root, a home directory, the working directory, the confining root, or a
 * directory that contains one of them. `target` is canonical; another name of the same directory (a bind mount, another
 * case) is recognised as well.
 */
export function assertNotRootOrHome(
  target: string,
  shown: string,
  verb: string,
  guard: Pick<PathGuard, "root" | "base">,
): void {
  const identity = identityOf(target);
  for (const [path, name] of keptDirectories(guard)) {
    const what = target === path ? `is ${name}` : `holds ${name} (${showPath(path)})`;
    if (
      isInside(target, path) ||
      (identity !== undefined && ancestors(path).some((one) => identityOf(one) === identity))
    ) {
      throw new Error(`${showPath(shown)} ${what}, and is never ${verb}.`);
    }
  }
}

function keptDirectories({ root, base }: Pick<PathGuard, "root" | "base">): [path: string, name: string][] {
  const cwd = canonicalPath(process.cwd());
  const kept: [string, string][] = [
    [parse(cwd).root, "the root of the file system"],
    [canonicalPath(homedir()), "the home directory"],
    [cwd, "the working directory"],
  ];
  const account = accountHome();
  if (account !== undefined) kept.push([canonicalPath(account), "the home directory"]);
  // Before the base, which is the root if there is one.
  if (root !== undefined) kept.push([root, "the directory the tools are confined to"]);
  kept.push([canonicalPath(base), "the working directory"]);
  return kept;
}

/** The home directory of the account, regardless of HOME. A user id without an account has none. */
function accountHome(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}

function ancestors(path: string): string[] {
  const all = [path];
  for (let parent = dirname(path); parent !== all.at(-1); parent = dirname(parent)) all.push(parent);
  return all;
}

function identityOf(path: string): string | undefined {
  try {
    const info = statSync(path, { bigint: true });
    return info.isDirectory() ? `${info.dev}:${info.ino}` : undefined;
  } catch {
    return undefined;
  }
}
