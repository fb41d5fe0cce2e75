import { existsSync, lstatSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { canonicalPath, isInside } from "@agent/internal";

const MIB = 1024 * 1024;
/** Enough for lock files and process ids. */
const RUN_BYTES = 16 * MIB;
/** Parts of /run that hold programs and settings, never sockets: NixOS keeps its PATH there. */
const SHOWN_IN_RUN = ["/run/current-system", "/run/booted-system", "/run/opengl-driver"];

/** The file system as a command in the sandbox sees it. All paths are canonical. */
export interface View {
  /** Directories that can be written. */
  readonly writable: readonly string[];
  /** Directories that are shown read-only although they are in a private place. */
  readonly shown: readonly string[];
  /** Files and directories that are there but empty. */
  readonly hidden: readonly string[];
  /** How much each private file system may hold; `undefined` if this bubblewrap cannot limit it. */
  readonly memoryBytes: number | undefined;
}

/** Places that hold sockets and other users' files: a command gets an empty one of its own. */
export function privatePlaces(): readonly string[] {
  const runtime = process.env.XDG_RUNTIME_DIR;
  const places = ["/tmp", "/run", "/var/run", ...(runtime?.startsWith("/") ? [runtime] : [])];
  const real = places.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isDirectory());
  return real.filter((path) => !real.some((other) => other !== path && isInside(other, path)));
}

/** The arguments of bubblewrap that make the view. */
export function mountArguments({ writable, shown, hidden, memoryBytes }: View): string[] {
  const places = privatePlaces();
  const tmpfs = (path: string, bytes = memoryBytes): string[] =>
    memoryBytes === undefined || bytes === undefined
      ? ["--tmpfs", path]
      : ["--size", String(bytes), "--tmpfs", path];
  return [
    // Mount it first: later it would cover what is mounted below it.
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev", ...tmpfs("/dev/shm"), "--remount-ro", "/dev"],
    // Read-only: root may write settings of the kernel, also one that runs a program outside.
    ...["--proc", "/proc", "--remount-ro", "/proc"],
    ...places.flatMap((path) => tmpfs(path, path === "/tmp" ? memoryBytes : RUN_BYTES)),
    ...shownInPrivatePlaces(places).flatMap((path) => ["--ro-bind", path, path]),
    ...writable.flatMap((path) => ["--bind", path, path]),
    ...hidden.flatMap((path) => [...pinParents(path, writable), ...hide(path)]),
    // Mount these last: a file of the agent stays read-only, also in a writable directory.
    ...shown.flatMap((path) => ["--ro-bind", path, path]),
  ];
}

/** Binds each directory above a hidden one to itself: a mount point cannot be renamed, so the secret keeps its path. */
function pinParents(path: string, writable: readonly string[]): string[] {
  const root = writable.find((directory) => isInside(directory, path));
  if (root === undefined) return [];
  const parents: string[] = [];
  for (let parent = dirname(path); parent !== root && isInside(root, parent); parent = dirname(parent)) {
    if (lstatSync(parent, { throwIfNoEntry: false })?.isDirectory()) parents.unshift(parent);
  }
  return parents.flatMap((parent) => ["--bind", parent, parent]);
}

function hide(path: string): string[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isSymbolicLink()) return [];
  return found.isDirectory() ? ["--tmpfs", path, "--remount-ro", path] : ["--ro-bind", "/dev/null", path];
}

/** Files in private places without which the system does not work: the name servers, the programs of NixOS. */
function shownInPrivatePlaces(places: readonly string[]): string[] {
  const nameServers = canonicalPath("/etc/resolv.conf");
  return [nameServers, ...SHOWN_IN_RUN].filter(
    (path) => places.some((place) => isInside(place, path)) && existsSync(path),
  );
}

/** Paths of unix sockets that programs of this machine listen on, outside the directories of `except`. */
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
