import { lstatSync, readlinkSync } from "node:fs";
import { canonicalPath, isInside } from "@agent/internal";
import { identify } from "../sandbox/inspect.js";
import { bindMount, hideMounts, type Mount, mountArguments } from "../sandbox/mounts.js";
import { seccompFilter } from "../sandbox/seccomp.js";
import type { PackPolicy } from "./policy.js";

const MIB = 1024 * 1024;
const DEVICES = ["/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"];
/** The shared libraries that Node is linked with. */
const LIBRARIES = ["/lib", "/lib32", "/lib64", "/usr/lib", "/usr/lib32", "/usr/lib64", "/usr/local/lib"];
const LIBRARY_FILES = ["/etc/ld.so.cache"];
/** Shown to packs that may start programs. */
const PROGRAMS = ["/bin", "/sbin", "/usr", "/etc/alternatives", "/etc/ssl"];
/** Systems that keep every package, including Node and its libraries, in one directory. */
const STORES = ["/nix/store", "/gnu/store"];

/** The bubblewrap command line of a pack. */
export interface BubblewrapStart {
  /** The content for `--args`. */
  readonly options: readonly string[];
  readonly filter: Uint8Array;
  readonly mounts: readonly Mount[];
}

/**
 * Builds the sandbox of a pack. Throws on an architecture without a system-call filter, and if a directory was replaced
 * meanwhile.
 */
export function bubblewrapStart(policy: PackPolicy, node: string, userNamespace: boolean): BubblewrapStart {
  const filter = seccompFilter({
    ...{ unixSockets: false, sockets: false, memoryFiles: false },
    processes: policy.programs,
  });
  if (filter === undefined) throw new Error(`there is no system-call filter for ${process.arch}`);
  const { mounts, links } = plan(policy, node);
  return {
    mounts,
    filter,
    options: [
      ...mountArguments(mounts),
      ...links.flatMap(({ path, target }) => ["--symlink", target, path]),
      ...["--remount-ro", "/"],
      ...(userNamespace ? ["--unshare-user"] : []),
      ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--unshare-cgroup-try"],
      // The process runs as the first of its PID namespace: a separate init process would have no limits, and the pack
      // could write its memory.
      ...["--die-with-parent", "--as-pid-1", "--cap-drop", "ALL", "--clearenv"],
      ...Object.entries(policy.env).flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", policy.cwd],
    ],
  };
}

interface Plan {
  readonly mounts: readonly Mount[];
  readonly links: PackPolicy["links"];
}

function plan(policy: PackPolicy, node: string): Plan {
  const { readable, writable = [], links, hidden, programs, temporaryMb } = policy;
  const systemLinks: { path: string; target: string }[] = [];
  const wanted = new Map<string, Mount>();
  const show = (path: string): void => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || [...wanted.keys()].some((other) => isInside(other, path))) return;
    if (found.isSymbolicLink()) systemLinks.push({ path, target: readlinkSync(path) });
    else wanted.set(path, bindMount(path, false));
  };
  for (const path of programs ? [...PROGRAMS, ...LIBRARIES] : LIBRARIES) show(path);
  for (const path of LIBRARY_FILES) if (lstatSync(path, { throwIfNoEntry: false })?.isFile()) show(path);
  for (const store of STORES) if (isInside(store, node)) show(store);
  for (const path of [canonicalPath(node), ...readable]) show(path);
  const temporary: Mount = { kind: "tmpfs", path: "/tmp", isWritable: true, bytes: temporaryMb * MIB };
  const binds = [...wanted.values(), ...writable.map((path) => bindMount(path, true))];
  return {
    links: [...systemLinks, ...links],
    // Mount a directory before its content: a later mount on the parent would cover an earlier one below it.
    mounts: [temporary, ...binds, ...hidden.flatMap(hideMounts)]
      .sort((one, other) => depth(one.path) - depth(other.path))
      .concat(DEVICES.flatMap(device)),
  };
}

function device(path: string): Mount[] {
  const found = identify("/", path);
  return found === undefined ? [] : [{ kind: "device", path, identity: found.identity }];
}

function depth(path: string): number {
  return path.split("/").length;
}
