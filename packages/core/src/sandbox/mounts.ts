import { lstatSync } from "node:fs";
import { quotePath } from "@agent/internal";
import { identify } from "./inspect.js";

const EMPTY_FILE = "/dev/null";

/** One mount in the sandbox. `path` is the mount point, without symlinks. */
export type Mount =
  | {
      readonly kind: "bind";
      readonly path: string;
      /** The canonical path outside, if it differs. */
      readonly source?: string;
      readonly isWritable: boolean;
      /** Identifies the file or directory that was checked: nothing else may be mounted in its place. */
      readonly identity: string;
    }
  /** A private file system; a read-only one keeps a directory empty. */
  | { readonly kind: "tmpfs"; readonly path: string; readonly isWritable: boolean; readonly bytes?: number }
  /** An empty read-only file. */
  | { readonly kind: "empty file"; readonly path: string }
  /** A usable device of the host, such as `/dev/null`. */
  | { readonly kind: "device"; readonly path: string; readonly identity: string }
  | { readonly kind: "dev" | "proc"; readonly path: string };

/** The bubblewrap arguments for these mounts. */
export function mountArguments(mounts: readonly Mount[]): string[] {
  // Last, since a mount below a private file system needs a mount point in it.
  const readOnly = mounts.filter(
    (mount) => "isWritable" in mount && !mount.isWritable && mount.kind === "tmpfs",
  );
  return [
    ...mounts.flatMap((mount) => {
      const { kind, path } = mount;
      if (kind === "bind") return [mount.isWritable ? "--bind" : "--ro-bind", mount.source ?? path, path];
      if (kind === "device") return ["--dev-bind", path, path];
      if (kind === "empty file") return ["--ro-bind", EMPTY_FILE, path];
      if (kind !== "tmpfs") return [`--${kind}`, path];
      return [...(mount.bytes === undefined ? [] : ["--size", String(mount.bytes)]), "--tmpfs", path];
    }),
    // /proc: root may write kernel settings, including one that runs a program outside of the sandbox.
    ...[...mounts.filter(isSystem), ...readOnly]
      .map(({ path }) => path)
      .flatMap((path) => ["--remount-ro", path]),
  ];
}

function isSystem({ kind }: Mount): boolean {
  return kind === "dev" || kind === "proc";
}

/** The identity of what must be mounted; `undefined` for a file system that is new in the sandbox. */
export function expectedIdentity(mount: Mount): string | undefined {
  if (mount.kind === "bind" || mount.kind === "device") return mount.identity;
  return mount.kind === "empty file" ? identify("/", EMPTY_FILE)?.identity : undefined;
}

/** Mounts a file or directory of the host. Throws if it was replaced with a symlink since its path was resolved. */
export function bindMount(path: string, isWritable: boolean): Extract<Mount, { kind: "bind" }> {
  const found = identify("/", path);
  if (found === undefined || found.isLink) {
    throw new Error(
      `${quotePath(path)} was moved or replaced by a link just now. Try again. Nothing was run.`,
    );
  }
  return { kind: "bind", path, isWritable, identity: found.identity };
}

/** Hides a file or directory with an empty one. `undefined` if there is nothing to hide. */
export function hideMounts(path: string): Mount[] {
  // Most entries of a host's table do not exist.
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return [];
  const found = identify("/", path);
  if (found === undefined || found.isLink) return [];
  return [found.isDirectory ? { kind: "tmpfs", path, isWritable: false } : { kind: "empty file", path }];
}
