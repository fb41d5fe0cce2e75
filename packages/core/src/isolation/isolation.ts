import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { canonicalPath, errorMessage } from "@agent/internal";
import type { ToolPack } from "../tools/pack.js";
import { type IsolatedPackOptions, isolatedPack, REGISTER_LIMIT_MS } from "./isolatedPack.js";
import { bubblewrapProblem, type Enclosure, launch, runtimeFile } from "./launch.js";
import { ANY_HOST, type PackGrants, type PackManifest, readManifest } from "./manifest.js";
import { PackProcess } from "./packProcess.js";
import { packPolicy } from "./policy.js";

/**
 * `enforced`: the operating system restricts packs to what was granted. `limited`: only Node does, which hostile code
 * can bypass.
 */
export type IsolationLevel = "enforced" | "limited";

/** How packs can be isolated on this system. */
export interface IsolationStatus {
  readonly level: IsolationLevel;
  readonly program: Enclosure;
  /** One line for the user: `enforced (bubblewrap)`. */
  readonly detail: string;
  /** How to get enforced isolation. */
  readonly cure?: string;
  readonly userNamespace: boolean;
}

/** For a pack that is only inspected. */
const NO_HOST = { options: {}, secrets: {}, data: {}, offers: [] };
const STARTS_AT_THE_SAME_TIME = 2;
const OPEN_WHERE_LIMITED = "the network, unix sockets and signals to other programs stay open";

/** Runs packs in separate processes. Create one per program: it tests the system once and limits concurrent starts. */
export class Isolation {
  #status: Promise<IsolationStatus> | undefined;
  #enclosing: Promise<Found> | undefined;
  #starting = 0;
  readonly #queue: (() => void)[] = [];

  /** The isolation level of this system, tested with a hostile pack. */
  status(): Promise<IsolationStatus> {
    this.#status ??= findStatus();
    return this.#status;
  }

  /** Creates a pack that runs in its own process. With `required`, it does not run if isolation is only limited. */
  pack(
    options: Omit<IsolatedPackOptions, "enclosure" | "inTurn"> & { readonly required: IsolationLevel },
  ): ToolPack {
    return isolatedPack({
      ...options,
      enclosure: () => this.#enclosure(options.required),
      inTurn: (start) => this.#inTurn(start),
    });
  }

  /** Inspects what a pack registers, in the tightest sandbox. Rejects if it does not register there. */
  async inspect(entry: string): Promise<PackManifest> {
    const { program, userNamespace } = await this.status();
    return await inTrial(canonicalPath(entry), program, userNamespace, async (process, url) =>
      readManifest(await process.init({ url, host: NO_HOST }, REGISTER_LIMIT_MS)),
    );
  }

  async #enclosure(required: IsolationLevel) {
    this.#enclosing ??= findEnclosure();
    const found = await this.#enclosing;
    if (required === "enforced" && found.program === "node") {
      throw new Error(`isolation is only limited here (${found.problem}), and it was approved as enforced`);
    }
    return found;
  }

  async #inTurn<T>(start: () => Promise<T>): Promise<T> {
    if (this.#starting >= STARTS_AT_THE_SAME_TIME)
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    this.#starting++;
    try {
      return await start();
    } finally {
      this.#starting--;
      this.#queue.shift()?.();
    }
  }
}

/** The grants a pack gets if the user approves: what it declares, or what its tools' capabilities imply. */
export function grantsOf({ needs, tools }: PackManifest): PackGrants {
  const capabilities = new Set(Object.values(tools).flatMap((tool) => tool.capabilities));
  const connects = capabilities.has("network") || needs.hosts !== undefined;
  // A pack with network access could send files elsewhere, so it must request file access explicitly.
  const files = needs.files ?? (!connects && capabilities.size > 0 ? "read" : undefined);
  const hosts = needs.hosts ?? (connects ? [ANY_HOST] : undefined);
  return {
    ...(files && { files }),
    ...(hosts && { hosts }),
    ...(capabilities.has("execute") && { programs: true }),
  };
}

/** The grants as lines for a user: `may connect to api.acme.com`. */
export function describeGrants({ files, hosts = [], programs }: PackGrants): string[] {
  return [
    files ? "may read the files of the project" : "may read no files",
    hosts.length === 0
      ? "may not connect to any host"
      : hosts.includes(ANY_HOST)
        ? "may connect to every host of the public internet"
        : `may connect to ${hosts.join(", ")}`,
    ...(programs ? ["may start programs, in the same sandbox"] : []),
  ];
}

/** The sandbox program used here. `node` with the problem if there is no other. */
interface Found {
  readonly program: Enclosure;
  readonly userNamespace: boolean;
  readonly problem?: string;
}

/** Looks for a sandbox program that starts, without testing what it blocks. Takes a few milliseconds. */
async function findEnclosure(): Promise<Found> {
  const none = { program: "node" as const, userNamespace: false };
  if (process.platform === "darwin") return { program: "sandbox-exec", userNamespace: false };
  if (process.platform !== "linux")
    return { ...none, problem: `there is no sandbox for ${process.platform}` };
  const problem = await bubblewrapProblem(true);
  if (problem === undefined) return { program: "bubblewrap", userNamespace: true };
  // Root may need to run without a user namespace: it has no capabilities in the sandbox either.
  const isRoot = process.getuid?.() === 0;
  if (isRoot && (await bubblewrapProblem(false)) === undefined) {
    return { program: "bubblewrap", userNamespace: false };
  }
  return { ...none, problem: `bubblewrap: ${problem}` };
}

async function findStatus(): Promise<IsolationStatus> {
  const found = await findEnclosure();
  const { program, userNamespace } = found;
  let { problem } = found;
  if (program !== "node") {
    problem = await attack(program, userNamespace).catch(errorMessage);
    if (problem === undefined) {
      return { level: "enforced", program, userNamespace, detail: `enforced (${program})` };
    }
    problem = `${program}: ${problem}`;
  }
  return {
    level: "limited",
    program: "node",
    userNamespace: false,
    detail: `limited: ${OPEN_WHERE_LIMITED} (${problem})`,
    ...(process.platform === "linux" && {
      cure: "Install bubblewrap with the system's package manager, and allow user namespaces.",
    }),
  };
}

/** A pack that tries to escape and reports what it reached. */
const HOSTILE = (secret: string, port: number) => `
import { readFileSync, writeFileSync } from "node:fs";
import { spawnSync } from "node:child_process";
import { connect } from "node:net";
const got = [];
try { readFileSync(${JSON.stringify(secret)}); got.push("it read a file"); } catch {}
try { writeFileSync(${JSON.stringify(secret)}, "x"); } catch {}
try { process.kill(${process.pid}, 0); if (process.pid !== ${process.pid}) got.push("it reached the agent's process"); } catch {}
try { if (spawnSync(process.execPath, ["-e", "0"]).status === 0) got.push("it started a program"); } catch {}
await new Promise((done) => {
  try {
    const socket = connect(${port}, "127.0.0.1");
    socket.on("connect", () => { got.push("it connected to this machine"); done(); });
    socket.on("error", done);
  } catch { done(); }
});
export const packName = got.join(", ");
export const register = () => undefined;
`;

/** Returns what a hostile pack reached inside a sandbox; `undefined` if nothing. */
async function attack(program: Enclosure, userNamespace: boolean): Promise<string | undefined> {
  const base = canonicalPath(mkdtempSync(join(tmpdir(), "agent-isolation-")));
  const server = createServer((socket) => socket.destroy());
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as { port: number };
    const entry = join(base, "pack.mjs");
    const secret = join(base, "secret");
    writeFileSync(secret, "secret");
    writeFileSync(entry, HOSTILE(secret, port));
    return await inTrial(entry, program, userNamespace, async (process, url) => {
      const { packName = "" } = readManifest(await process.init({ url, host: NO_HOST }, REGISTER_LIMIT_MS));
      // The write may have gone to its private file system.
      const wrote = readFileSync(secret, "utf8") !== "secret" ? ["it wrote a file"] : [];
      return [...packName.split(", ").filter(Boolean), ...wrote].join(", ") || undefined;
    });
  } finally {
    server.close();
    rmSync(base, { recursive: true, force: true });
  }
}

/** Runs a pack without any grants, then stops it. */
async function inTrial<T>(
  entry: string,
  program: Enclosure,
  userNamespace: boolean,
  use: (process: PackProcess, url: string) => Promise<T>,
): Promise<T> {
  const policy = packPolicy({
    ...{ entry, runtime: runtimeFile(), grants: {}, workspace: "/", secretPaths: [] },
  });
  const launched = await launch(policy, program, { userNamespace });
  const refuse = async (): Promise<never> => {
    throw new Error("nothing is offered while a pack is looked at");
  };
  const started = new PackProcess(
    "pack",
    launched,
    { notify: () => undefined, serve: refuse },
    policy.memoryMb,
  );
  try {
    return await use(started, pathToFileURL(entry).href);
  } finally {
    await started.dispose();
  }
}
