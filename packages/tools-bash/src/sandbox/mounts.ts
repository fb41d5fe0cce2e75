import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { bindMount, hideMounts, type Mount } from "@agent/core/sandbox";
import { canonicalPath, isInside } from "@agent/core/toolkit";
import { parentsInside, type SandboxPolicy } from "./policy.js";

const MIB = 1024 * 1024;
/** Enough for lock files and process ids. */
const RUN_BYTES = 16 * MIB;
/** Parts of /run that hold programs and settings, never sockets: NixOS keeps its PATH there. */
const SHOWN_IN_RUN = ["/run/current-system", "/run/booted-system", "/run/opengl-driver"];

/** Directories with sockets and other users' files: a command gets its own empty ones. */
export function privatePlaces(): readonly string[] {
  const runtime = process.env.XDG_RUNTIME_DIR;
  const places = ["/tmp", "/run", "/var/run", ...(runtime?.startsWith("/") ? [runtime] : [])];
  const real = places.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  return real.filter((path) => !real.some((other) => other !== path && isInside(other, path)));
}

/**
 * The mounts that enforce the policy, one per path, a directory before its content: a mount would cover an earlier one
 * below it. `guarded` keeps protected files unchanged; `memoryBytes` is the maximum size of each private file system,
 * `undefined` if this bubblewrap cannot limit it. Throws if a directory was replaced with a symlink since it was
 * resolved.
 */
export function planMounts(
  { writable, shown, hidden }: Pick<SandboxPolicy, "writable" | "shown" | "hidden">,
  guarded: readonly Mount[],
  memoryBytes: number | undefined,
): Mount[] {
  const places = privatePlaces();
  const base: Mount[] = [
    bindMount("/", false),
    { kind: "dev", path: "/dev" },
    { kind: "tmpfs", path: "/dev/shm", isWritable: true, ...limit(memoryBytes) },
    { kind: "proc", path: "/proc" },
    ...places.map((path): Mount => {
      const bytes = memoryBytes === undefined || path === "/tmp" ? memoryBytes : RUN_BYTES;
      return { kind: "tmpfs", path, isWritable: true, ...limit(bytes) };
    }),
  ];
  // By path; a later entry for a path wins. A file of the agent stays read-only, even in a writable directory.
  const wanted = new Map<string, Mount>();
  for (const mount of [
    ...shownInPrivatePlaces(places).map((path) => ({
      ...bindMount(canonicalPath(path), false),
      path,
      source: canonicalPath(path),
    })),
    ...writable.map((path) => bindMount(path, true)),
    ...guarded,
    ...hidden.flatMap(hideMounts),
    ...shown.map((path) => bindMount(path, false)),
  ])
    wanted.set(mount.path, mount);
  for (const { path } of guarded) if (isCovered(path, wanted)) wanted.delete(path);
  for (const mount of [...wanted.values()]) {
    for (const parent of parentsInside(mount.path, writable)) {
      // Bind-mounted to itself: a mount point cannot be renamed. A directory below a read-only one must not become
      // writable again.
      if (!wanted.has(parent) && !isCovered(parent, wanted)) wanted.set(parent, bindMount(parent, true));
    }
  }
  return [...base, ...[...wanted.values()].sort((one, other) => depth(one.path) - depth(other.path))];
}

function limit(bytes: number | undefined): { bytes?: number } {
  return bytes === undefined ? {} : { bytes };
}

function depth(path: string): number {
  return path.split("/").length;
}

/** Whether nothing on the way to a directory is writable, so that a mount there has nothing to protect. */
function isCovered(path: string, mounts: ReadonlyMap<string, Mount>): boolean {
  for (let parent = dirname(path); parent !== "/"; parent = dirname(parent)) {
    const mount = mounts.get(parent);
    if (mount !== undefined && "isWritable" in mount && !mount.isWritable) return true;
  }
  return false;
}

/** Files in private directories that the system needs: the name servers, the programs of NixOS. */
function shownInPrivatePlaces(places: readonly string[]): string[] {
  const nameServers = canonicalPath("/etc/resolv.conf");
  return [nameServers, ...SHOWN_IN_RUN].filter(
    (path) => places.some((place) => isInside(place, path)) && existsSync(path),
  );
}

/** Paths of Unix sockets that programs of this machine listen on, outside the directories in `except`. */
export function listeningSockets(except: readonly string[]): string[] {
  return socketPaths().filter((path) => !except.some((root) => isInside(root, path)) && existsSync(path));
}

function socketPaths(): string[] {
  try {
    const lines = readFileSync("/proc/net/unix", "utf8").split("\n").slice(1);
    const paths = lines.map((line) => line.slice(line.indexOf("/"))).filter((path) => path.startsWith("/"));
    return [
      ...new Set(paths.map((path) => join(canonicalPath(dirname(path)), path.slice(dirname(path).length)))),
    ];
  } catch {
    return [];
  }
}
