import { lstatSync } from "node:fs";
import { resolve } from "node:path";
import type { CallTarget, DescribedCall } from "@agent/core";
import { canonicalPath } from "@agent/internal";

/** The description of a call that writes these files, as a tool creates it. */
export function describeWrites(paths: readonly string[], cwd = process.cwd()): () => Promise<DescribedCall> {
  const targets = paths.map((path): CallTarget => {
    const place = resolve(cwd, path);
    const isLink = lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true;
    return {
      type: "file",
      path: place,
      ...(isLink && { realPath: canonicalPath(place) }),
      access: "write",
    };
  });
  return describeAs(targets);
}

/** The description of a call by its targets; `undefined` for a tool without known targets. */
export function describeAs(targets?: readonly CallTarget[]): () => Promise<DescribedCall> {
  return async () => ({ title: "", kind: "other", needs: [], ...(targets && { targets }) });
}
