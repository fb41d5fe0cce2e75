import { nodeFs, nodePath } from "../files/nodeModules.js";
import { readRegularFile } from "../files/readRegularFile.js";

const MAX_LINE_BYTES = 64 * 1024;

/** A worktree, and the git directories it takes configuration from. */
export interface GitRepository {
  readonly worktree: string;
  readonly gitDirectories: readonly string[];
}

/** The repository of a path: the nearest directory above it that has `.git`. */
export function findRepository(path: string): GitRepository | undefined {
  const { dirname, join, resolve } = nodePath;
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const gitDirectory = resolveGitDirectory(directory);
    if (gitDirectory !== undefined) {
      const common = readLine(join(gitDirectory, "commondir"));
      const shared = common === undefined ? [] : [resolve(gitDirectory, common)];
      return { worktree: directory, gitDirectories: [gitDirectory, ...shared] };
    }
    if (directory === dirname(directory)) return undefined;
  }
}

/** `.git` of a worktree: the directory, or the one that a file of this name points to. */
function resolveGitDirectory(worktree: string): string | undefined {
  const path = nodePath.join(worktree, ".git");
  try {
    const info = nodeFs.statSync(path, { throwIfNoEntry: false });
    if (info === undefined) return undefined;
    if (info.isDirectory()) return path;
    const target = /^gitdir: (.+)$/.exec(readLine(path) ?? "")?.[1];
    return target === undefined ? undefined : nodePath.resolve(worktree, target);
  } catch {
    return undefined;
  }
}

/** Never waits: in the place of the file there may be a FIFO. */
function readLine(path: string): string | undefined {
  const bytes = readRegularFile(path, MAX_LINE_BYTES + 1);
  if (bytes === undefined || bytes.length > MAX_LINE_BYTES) return undefined;
  return bytes.toString("utf8").trimEnd();
}
