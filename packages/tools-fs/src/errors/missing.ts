import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { didYouMean } from "@agent/core/toolkit";
import { showPath } from "../paths/pathText.js";
import { errorCode, fsError, isMissing } from "./fsError.js";

const MAX_CANDIDATES = 20_000;

/**
 * Like `fsError`; for a path that does not exist, the error also names the missing part and suggests the nearest
 * existing name. `target` is the canonical path of `path`.
 */
export async function missingError(
  thrown: unknown,
  verb: string,
  path: string,
  target: string,
): Promise<Error> {
  const error = fsError(thrown, verb, path);
  if (!isMissing(thrown)) return error;
  let wanted = target;
  for (let parent = dirname(wanted); parent !== wanted; wanted = parent, parent = dirname(parent)) {
    const names = await readdir(parent).catch((problem: unknown) => {
      return errorCode(problem) === "ENOENT" ? undefined : [];
    });
    if (names === undefined) continue;
    const candidates = names.slice(0, MAX_CANDIDATES);
    const missing = wanted === target ? "" : `${showPath(wanted)} does not exist.`;
    const hint = didYouMean(sameLook(basename(wanted), candidates) ?? basename(wanted), candidates, {
      show: (name) => unmistakable(offered(path, target, parent, name)),
      otherwise: "",
    });
    return new Error([error.message, missing, hint].filter(Boolean).join(" "), { cause: thrown });
  }
  return error;
}

/**
 * The name that looks the same but has another Unicode composition ("é" as one character or two) or surrounding blanks.
 */
function sameLook(name: string, names: readonly string[]): string | undefined {
  const look = (text: string): string => text.normalize("NFC").trim();
  return names.find((one) => one !== name && look(one) === look(name));
}

/** The path as displayed, or as escaped JSON if it looks like another path. */
function unmistakable(path: string): string {
  if (path === path.normalize("NFC").trim()) return showPath(path);
  return JSON.stringify(path).replace(/[^ -~]/g, (unit) => {
    return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  });
}

/** The nearest name, written the way the caller wrote the path: `src/index.ts` for `src/idnex.ts`; else absolute. */
function offered(path: string, target: string, parent: string, nearest: string): string {
  return parent === dirname(target) && basename(path) === basename(target)
    ? join(dirname(path), nearest)
    : join(parent, nearest);
}
