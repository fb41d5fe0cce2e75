import { nodeFs, nodePath } from "../files/nodeModules.js";
import { quote } from "../text/describe.js";

const MAX_LINKS = 40;

/** The path with every link resolved, as far as it exists; what does not exist yet is appended as it is. */
export function canonicalPath(path: string): string {
  const absolute = nodePath.resolve(path);
  try {
    return nodeFs.realpathSync.native(absolute);
  } catch {
    return walk(absolute);
  }
}

// `realpath` stops at the first missing name, so a dangling link that leads outside would look harmless.
function walk(absolute: string): string {
  const { root } = nodePath.parse(absolute);
  const pending = absolute.slice(root.length).split(nodePath.sep).filter(Boolean);
  let current = root;
  let links = 0;
  for (let name = pending.shift(); name !== undefined; name = pending.shift()) {
    const next = name === ".." ? nodePath.dirname(current) : nodePath.resolve(current, name);
    const target = linkTarget(next);
    if (target === undefined) {
      current = next;
      continue;
    }
    if (++links > MAX_LINKS) throw new Error(`${quote(absolute)} is a loop of symbolic links.`);
    if (nodePath.isAbsolute(target)) current = nodePath.parse(target).root;
    pending.unshift(
      ...target
        .slice(nodePath.isAbsolute(target) ? nodePath.parse(target).root.length : 0)
        .split(nodePath.sep)
        .filter((part) => part !== "" && part !== "."),
    );
  }
  return current;
}

function linkTarget(path: string): string | undefined {
  try {
    return nodeFs.lstatSync(path).isSymbolicLink() ? nodeFs.readlinkSync(path) : undefined;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw error;
  }
}
