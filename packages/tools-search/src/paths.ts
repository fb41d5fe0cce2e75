import { normalize } from "node:path";

/** Normalises a path argument for results: without a leading "./", a trailing "/" or "x/.." inside. */
export function shownPath(argument: string): string {
  const tidy = toSlashes(normalize(argument));
  return tidy.length > 1 && tidy.endsWith("/") ? tidy.slice(0, -1) : tidy;
}

/** Converts to forward slashes on Windows, where they work too. Elsewhere a backslash is part of a name. */
export function toSlashes(path: string, platform: string = process.platform): string {
  return platform === "win32" ? path.replaceAll("\\", "/") : path;
}

export function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/** The prefix of paths below a directory that is displayed as `shown`. */
export function shownPrefix(shown: string): string {
  return shown === "." ? "" : withSlash(shown);
}
