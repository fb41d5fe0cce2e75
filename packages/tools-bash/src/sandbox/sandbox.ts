import { existsSync, statSync } from "node:fs";
import { type Mount, mountArguments, type RefusedFile, seccompFilter } from "@agent/core/sandbox";
import {
  canonicalPath,
  canonicalPaths,
  errorMessage,
  HELPER_ENVIRONMENT,
  isInside,
  quotePath,
} from "@agent/core/toolkit";
import { FIRST_INPUT } from "../helpers/inputs.js";
import { FileGuard, type Guard } from "./guard.js";
import { listeningSockets, planMounts, privatePlaces } from "./mounts.js";
import type { CommandNetwork } from "./network/commandNetwork.js";
import type { AccessOptions } from "./network/hostAccess.js";
import type { PlaceholderUse } from "./placeholders.js";
import type { SandboxPolicy } from "./policy.js";
import { withPrivateCaches } from "./policy.js";
import { startSeatbelt } from "./seatbelt.js";
import type { SandboxMode, SandboxSettings } from "./settings.js";
import { findSandbox, type SandboxLevel, type SandboxStatus } from "./status.js";

/** The settings of a sandbox from the host and the pack's other options. */
export interface SandboxSurroundings {
  /** The agent's working directory, if it is not that of the process. */
  readonly directory?: string | undefined;
  /** Absolute paths that no command may change. */
  readonly protectedPaths?: readonly string[] | undefined;
  /**
   * Names that no command may change in a writable directory. An entry for one key, `package.json#agent`, is not a file
   * and is skipped.
   */
  readonly protectedNames?: readonly string[] | undefined;
  /** Absolute paths that no command may read. */
  readonly secretPaths?: readonly string[] | undefined;
  /** The maximum size of a private file system; infinite for the system's own limit. */
  readonly memoryMb?: number | undefined;
  /** Asks the user about hosts that `network.hosts` does not name. */
  readonly permit?: AccessOptions["permit"];
  /** The network outside. Default: that of this process. */
  readonly outside?: AccessOptions["outside"] | undefined;
}

/** A command to put into a sandbox. */
export interface SandboxedCommand {
  readonly argv: readonly string[];
  /** The command as the model wrote it, for questions to the user. */
  readonly text: string;
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly workspace: string;
  /** A directory of the agent to show, read-only. */
  readonly readable: string | undefined;
  /** The variable by which processes of the command are identified. */
  readonly tag: Readonly<Record<string, string>>;
}

/** How to start a command in its sandbox, and how to clean up afterwards. */
export interface SandboxedStart {
  readonly argv: readonly string[];
  /** The environment of bubblewrap itself, which runs outside. */
  readonly env: Readonly<Record<string, string>>;
  /** Input for file descriptors 3, 4… of bubblewrap. Two more follow: its `--info-fd` and its `--block-fd`, see `passGate`. */
  readonly inputs: readonly Uint8Array[];
  /** The directory to start it in. bubblewrap itself changes to the command's directory. */
  readonly cwd: string;
  /** With bubblewrap, the mounts to verify before the command may start. */
  readonly mounts: readonly Mount[] | undefined;
  /**
   * The proxy of the command, if it may connect to some hosts only: then its standard input must be an IPC channel, unless
   * `isProxyOpen`.
   */
  readonly network?: CommandNetwork | undefined;
  readonly isProxyOpen?: true;
  /** The empty files and directories that bubblewrap creates as mount points. `finish` removes them. */
  readonly placeholders: readonly PlaceholderUse[];
  /** Returns what the command created under protected names. */
  finish(): RefusedFile[];
}

/** bubblewrap refuses more arguments than this, and an `--args` file counts. */
const MAX_ARGUMENTS = 9000;
const MIB = 1024 * 1024;
/** In the private `/tmp` of a command: nothing in it outlives the command, and other commands do not see it. */
const PRIVATE_CACHES = "/tmp/.caches";

/**
 * Runs commands in bubblewrap: the file system is read-only except the workspace; processes, /tmp and /run are private.
 */
export class Sandbox {
  readonly mode: SandboxMode;
  readonly #network: SandboxSettings["network"];
  readonly #unixSockets: boolean;
  readonly #writable: readonly string[];
  readonly #surroundings: SandboxSurroundings;
  readonly #secret: readonly string[];
  readonly #guard = new FileGuard();
  #status: Promise<SandboxStatus> | undefined;

  constructor(settings: SandboxSettings, surroundings: SandboxSurroundings = {}) {
    this.mode = settings.mode;
    this.#network = settings.network;
    this.#unixSockets = settings.unixSockets;
    this.#writable = settings.writable;
    this.#surroundings = surroundings;
    this.#secret = canonicalPaths(surroundings.secretPaths ?? []);
  }

  /** The features that work on this system, probed once with a real sandbox. */
  status(): Promise<SandboxStatus> {
    this.#status ??= findSandbox([...workingDirectory(this.#surroundings.directory), ...this.#writable]);
    return this.#status;
  }

  /** The level for the next command. Throws in `require` mode if there is no sandbox. */
  async level(): Promise<SandboxLevel> {
    if (this.mode === "off") return "none";
    const status = await this.status();
    if (status.level === "none" && this.mode === "require") {
      throw new Error(
        `A sandbox is required (sandbox: "require") and there is none: ${status.problem} Nothing was run.`,
      );
    }
    return status.level;
  }

  /** Prepares the start of a command. Throws if its directories cannot be provided in a sandbox. */
  async start(command: SandboxedCommand): Promise<SandboxedStart> {
    const { level, program = "", userNamespace, sizes } = await this.status();
    const workspace = canonicalPath(command.workspace);
    const cwd = canonicalPath(command.cwd);
    const roots = this.#roots(workspace);
    // The agent may have changed its directory since bubblewrap was found.
    if (roots.some((root) => isInside(root, program))) {
      throw new Error(`Commands may write ${quotePath(workspace)}, which holds bubblewrap. Nothing was run.`);
    }
    const filter = seccompFilter({ unixSockets: this.#unixSockets });
    const policy = this.#policy(roots, command, filter === undefined);
    if (level === "sandbox-exec") {
      checkWorkspace(command.workspace, identityOf(workspace));
      return await this.#startSeatbelt(policy, command, cwd);
    }
    this.#checkDirectory(cwd, roots);
    const memoryMb = this.#surroundings.memoryMb ?? Number.POSITIVE_INFINITY;
    const variables = withPrivateCaches(command.env, PRIVATE_CACHES, roots);
    const network = await this.#openNetwork(command, variables);
    // With a proxy, the command gets its variables once the proxy's listener is open.
    const env = network ? { ...HELPER_ENVIRONMENT, ...command.tag } : variables;
    let guard: Guard | undefined;
    let mounts: readonly Mount[];
    try {
      guard = this.#guard.protect(roots, policy.guarded);
      const memoryBytes = sizes && Number.isFinite(memoryMb) ? Math.ceil(memoryMb) * MIB : undefined;
      mounts = planMounts(policy, guard.mounts, memoryBytes);
      const mount = mounts.find(({ path }) => path === workspace);
      if (mount?.kind === "bind") checkWorkspace(command.workspace, mount.identity);
    } catch (error) {
      guard?.finish();
      if ((error as NodeJS.ErrnoException).syscall === undefined) throw error;
      throw new Error(
        `A directory changed while the sandbox was being prepared (${errorMessage(error)}). Nothing was run. Try again.`,
      );
    }
    const inputs = filter ? 2 : 1;
    const options = [
      ...mountArguments(mounts),
      ...(userNamespace ? ["--unshare-user"] : []),
      ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"],
      ...(this.#network === true ? [] : ["--unshare-net"]),
      ...["--cap-drop", "ALL", "--clearenv"],
      ...Object.entries(env).flatMap(([name, value]) => ["--setenv", name, value]),
      ...["--chdir", cwd],
      ...(filter === undefined ? [] : ["--seccomp", "4"]),
      ...["--info-fd", String(FIRST_INPUT + inputs), "--block-fd", String(FIRST_INPUT + inputs + 1)],
    ];
    if (options.length > MAX_ARGUMENTS) {
      guard.finish();
      throw new Error(
        `The environment has ${Object.keys(command.env).length} variables, more than bubblewrap takes. Nothing was run.`,
      );
    }
    return {
      argv: [program, "--args", "3", "--", ...(network?.wrap(command.argv) ?? command.argv)],
      env: { ...HELPER_ENVIRONMENT, ...command.tag },
      inputs: [Buffer.from(options.map((option) => `${option}\0`).join("")), ...(filter ? [filter] : [])],
      cwd: "/",
      mounts,
      network,
      placeholders: guard.placeholders,
      finish: () => {
        network?.close();
        return guard.finish();
      },
    };
  }

  #policy(roots: readonly string[], { readable }: SandboxedCommand, isUnfiltered: boolean): SandboxPolicy {
    const { protectedPaths = [], protectedNames = [] } = this.#surroundings;
    return {
      writable: roots,
      guarded: { paths: protectedPaths, names: protectedNames },
      shown: [
        ...(readable === undefined ? [] : [canonicalPath(readable)]),
        ...(typeof this.#network === "object" ? this.#nodeToShow(roots) : []),
      ],
      hidden: this.#hidden(roots, isUnfiltered),
      network: this.#network === true,
      unixSockets: this.#unixSockets,
    };
  }

  async #startSeatbelt(
    policy: SandboxPolicy,
    command: SandboxedCommand,
    cwd: string,
  ): Promise<SandboxedStart> {
    const network = await this.#openNetwork(command, command.env);
    try {
      const proxy = await network?.listen();
      const { argv, finish } = startSeatbelt(
        { ...policy, ...(proxy && { network: { proxyPort: proxy.port } }) },
        this.#guard.list(policy.writable, policy.guarded),
        { ...command, ...(proxy && { env: proxy.env }) },
      );
      return {
        ...{ argv, cwd, inputs: [], mounts: undefined, placeholders: [] },
        env: { ...HELPER_ENVIRONMENT, ...command.tag },
        ...(network && { network, isProxyOpen: true }),
        finish: () => {
          network?.close();
          finish();
          return [];
        },
      };
    } catch (error) {
      network?.close();
      throw error;
    }
  }

  async #openNetwork(
    { text }: SandboxedCommand,
    env: Readonly<Record<string, string>>,
  ): Promise<CommandNetwork | undefined> {
    if (typeof this.#network !== "object") return undefined;
    // Loaded on demand: most sandboxes have the full network or none.
    const { CommandNetwork } = await import("./network/commandNetwork.js");
    const { permit, outside } = this.#surroundings;
    return new CommandNetwork({ patterns: this.#network, permit, command: text, env, outside });
  }

  /**
   * The program that opens the proxy's listener, if it is in a private directory. Throws if commands could change it.
   */
  #nodeToShow(roots: readonly string[]): string[] {
    const node = canonicalPath(process.execPath);
    if (roots.some((root) => isInside(root, node))) {
      throw new Error(
        `sandbox.network.hosts needs ${quotePath(node)}, which commands may write. Use a Node.js outside the workspace. Nothing was run.`,
      );
    }
    return privatePlaces().some((place) => isInside(place, node)) ? [node] : [];
  }

  /** The writable directories, none inside another. Throws for the private directories themselves. */
  #roots(workspace: string): string[] {
    const places = privatePlaces();
    const all = [...new Set([workspace, ...this.#writable.filter((path) => existsSync(path))])];
    const covered = all.find((root) => places.some((place) => isInside(root, place)));
    if (covered !== undefined) {
      throw new Error(
        `${quotePath(covered)} cannot be written from a sandbox: it is or holds ${quotePath(places.find((place) => isInside(covered, place)) ?? "")}, which every sandbox has empty and to itself. Start the agent in its own directory. Nothing was run.`,
      );
    }
    return all.filter((root) => !all.some((other) => other !== root && isInside(other, root)));
  }

  /** Throws for a directory inside a private one: it does not exist in the sandbox. */
  #checkDirectory(cwd: string, roots: readonly string[]): void {
    const place = privatePlaces().find((path) => cwd !== path && isInside(path, cwd));
    if (place === undefined || roots.some((root) => isInside(root, cwd))) return;
    throw new Error(
      `"cwd" ${quotePath(cwd)} is not in the sandbox: every sandbox has ${quotePath(place)} empty and to itself. Name the directory in sandbox.writable if commands should work there. Nothing was run.`,
    );
  }

  #hidden(roots: readonly string[], isUnfiltered: boolean): string[] {
    // Includes the paths from before the first command: a command may replace a symlink on the way to a secret.
    const now = canonicalPaths(this.#surroundings.secretPaths ?? []);
    const secret = [...new Set([...this.#secret, ...now])];
    // If the filter blocks Unix sockets, they do not need to be hidden.
    const sockets =
      this.#unixSockets || isUnfiltered ? listeningSockets([...roots, ...privatePlaces(), ...secret]) : [];
    return [...secret.filter((path) => !roots.some((root) => isInside(path, root))), ...sockets];
  }
}

/**
 * Throws if the agent's working directory was moved. A command whose workspace contains it may have moved it, and put a
 * symlink to any directory in its place.
 */
function checkWorkspace(given: string, identity: string): void {
  if (given !== process.cwd()) return;
  if (identity !== identityOf(".")) {
    throw new Error(
      `${quotePath(given)} is no longer the agent's working directory: it was moved, and something else is in its place. Nothing was run. Start the agent again in the right directory.`,
    );
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}

function workingDirectory(directory = "."): string[] {
  try {
    return [canonicalPath("."), canonicalPath(directory)];
  } catch {
    return []; // it was removed; the run reports it
  }
}
