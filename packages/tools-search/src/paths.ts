import { normalize } from "node:path";

/** A path argument the way results show it: without "./" in front, "/" at the end or "x/.." inside. */
export function shownPath(argument: string): string {
  const tidy = toSlashes(normalize(argument));
  return tidy.length > 1 && tidy.endsWith("/") ? tidy.slice(0, -1) : tidy;
}

/** Forward slashes work everywhere; only Windows has others. Elsewhere a backslash is part of a name. */
export function toSlashes(path: string, platform: string = process.platform): string {
  return platform === "win32" ? path.replaceAll("\\", "/") : path;
}

export function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}

/** The prefix of paths below a directory that is shown as `shown`. */
export function shownPrefix(shown: string): string {
  return shown === "." ? "" : withSlash(shown);
}
