/** What the host protects besides the well-known names. */
export interface HostFiles {
  /** Absolute paths. */
  readonly paths: readonly string[];
  /** Names directly in a writable directory. One of a key, `package.json#agent`, is passed over: a whole file would be covered. */
  readonly names: readonly string[];
}

/**
 * What a sandboxed command may do, whichever program enforces it: the mounts of bubblewrap and the profile of
 * `sandbox-exec` are made from this. All paths are canonical.
 */
export interface SandboxPolicy {
  /** Directories that can be written; none is inside another. Files in them that run later stay as they are. */
  readonly writable: readonly string[];
  /** What stays as it is besides those. */
  readonly guarded: HostFiles;
  /** Files and directories that can be read although they are in a private place, and not written. */
  readonly shown: readonly string[];
  /** Files and directories that cannot be read. */
  readonly hidden: readonly string[];
  /** All of it, none, or only a proxy on this port of the loopback interface. */
  readonly network: boolean | { readonly proxyPort: number };
  /** Whether commands may make unix sockets. */
  readonly unixSockets: boolean;
}
