import { isRecord, nodeOs } from "@agent/internal";
import type { CallTarget, FileTarget, Match } from "../tools/callDescription.js";
import { matchesGlob, mayMatchLonger } from "./glob.js";

/** The problem with a file pattern, if any. */
export function findFileProblem(pattern: string): string | undefined {
  return pattern.split("/").includes("..")
    ? 'a pattern for files is relative to the project and has no "..". Write an absolute path for files elsewhere'
    : undefined;
}

/**
 * Matches a file. A relative pattern applies to paths below `root`, which is canonical. Rules that deny or ask apply to
 * a symlink and to its target; a rule that allows must cover the target.
 */
export function matchFile(pattern: string, target: FileTarget, root: string): Match {
  const { path, realPath = path, tree } = target;
  const absolute = absolutePattern(pattern);
  const matches = (one: string, place: string): boolean => {
    const name = absolute ? place : relativeTo(root, place);
    return name !== undefined && matchesGlob(one, name, "/");
  };
  const glob = absolute ?? pattern.replace(/^\.\//, "");
  const isOwn = matches(glob, realPath);
  if (tree) {
    const coversBelow = glob === "**" || glob.endsWith("/**");
    // Permission to read everything below a directory includes listing it. Removing it changes its parent directory.
    const isRead = target.access === "read" && matches(glob.replace(/\/?\*\*$/, "") || ".", realPath);
    if (coversBelow && (isOwn || isRead)) return covers(target);
  } else if (isOwn) return covers(target);
  if (isOwn || matches(glob, path)) return "touches";
  if (!tree) return "none";
  return [path, realPath].some((place) => mayMatchBelow(glob, absolute !== undefined, place, root))
    ? "maybe"
    : "none";
}

function mayMatchBelow(glob: string, isAbsolute: boolean, place: string, root: string): boolean {
  const below = place === "/" ? "/" : `${place}/`;
  if (isAbsolute) return mayMatchLonger(glob, below, "/");
  const base = root === "/" ? "/" : `${root}/`;
  if (base.startsWith(below)) return true;
  return below.startsWith(base) && mayMatchLonger(glob, below.slice(base.length), "/");
}

/** An absolute pattern for files as it is matched; `undefined` for one that begins in the project. */
export function absolutePattern(pattern: string): string | undefined {
  if (pattern.startsWith("~/")) return `${nodeOs.homedir()}${pattern.slice(1)}`;
  return pattern.startsWith("/") ? pattern : undefined;
}

/** `.` is the root itself. */
function relativeTo(root: string, path: string): string | undefined {
  if (path === root) return ".";
  const base = root === "/" ? "/" : `${root}/`;
  return path.startsWith(base) ? path.slice(base.length) : undefined;
}

const ADDRESS = /^([\w+.*-]+):\/\/([^/?#]+)(.*)$/s;

/** The problem with an address pattern, if any. */
export function findAddressProblem(pattern: string): string | undefined {
  if (ADDRESS.test(pattern) || /^[^/\s:@]+$/.test(pattern)) return undefined;
  return 'a pattern for addresses is a host ("*.python.org") or a whole address ("https://docs.python.org/3/*")';
}

/**
 * Matches an address by its host, or as a whole if the pattern contains `://`. A `*` in the host does not match a path.
 */
export function matchAddress(pattern: string, target: Extract<CallTarget, { type: "url" }>): Match {
  let url: URL;
  try {
    url = new URL(target.url);
  } catch {
    return "maybe";
  }
  const [, scheme, host, rest = ""] = ADDRESS.exec(pattern) ?? [];
  const isMatch =
    scheme === undefined || host === undefined
      ? matchesGlob(pattern.toLowerCase(), url.hostname)
      : matchesGlob(`${scheme.toLowerCase()}:`, url.protocol) &&
        matchesGlob(host.toLowerCase(), host.includes(":") ? url.host : url.hostname) &&
        // Without a port in the pattern, the address must have the default port.
        (host.includes(":") || url.port === "") &&
        matchesGlob(rest === "" ? "/" : rest, `${url.pathname}${url.search}`);
  return isMatch ? covers(target) : "none";
}

export function matchText(pattern: string, target: CallTarget, text: string): Match {
  return matchesGlob(pattern, text) ? covers(target) : "none";
}

/** An open target may include more than it lists, so no pattern covers it. */
function covers({ open }: CallTarget): Match {
  return open ? "touches" : "covers";
}

const ARGUMENT = /^([\w.-]+): ?(.*)$/s;

/** Splits `repo: acme/*` into the argument and the glob. */
export function parseArgumentPattern(pattern: string): { name: string; glob: string } | undefined {
  const [, name, glob] = ARGUMENT.exec(pattern) ?? [];
  return name === undefined || glob === undefined || glob === "" ? undefined : { name, glob };
}

/** Matches a call with unknown targets by one argument. */
export function matchArgument(pattern: string, args: Readonly<Record<string, unknown>>): Match {
  const wanted = parseArgumentPattern(pattern);
  if (!wanted) return "maybe";
  const value = Object.hasOwn(args, wanted.name) ? args[wanted.name] : undefined;
  if (value === undefined) return "none";
  const values = Array.isArray(value) ? value : [value];
  const found = values.map((one) =>
    matchesGlob(wanted.glob, isRecord(one) || Array.isArray(one) ? JSON.stringify(one) : String(one)),
  );
  if (found.length > 0 && found.every(Boolean)) return "covers";
  return found.some(Boolean) ? "touches" : "none";
}
