import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, relative, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { canonicalPath, errorMessage, withTimeout } from "@agent/internal";
import type { ToolPack } from "../tools/pack.js";
import { registerPack } from "../tools/registerPack.js";
import { ToolRegistry } from "../tools/registry.js";
import { HOOKS } from "../tools/services.js";
import { HostNetwork } from "./hostNetwork.js";
import { type IsolatedPackOptions, isolatedPack, loaderUrl, REGISTER_LIMIT_MS } from "./isolatedPack.js";
import { bubblewrapProblem, type Enclosure, launch, launchScript, runtimeFile } from "./launch.js";
import { ANY_HOST, type HookName, type PackGrants, type PackManifest, readManifest } from "./manifest.js";
import { packageRoot } from "./packageFiles.js";
import { PackProcess } from "./packProcess.js";
import { examinerPolicy, packPolicy } from "./policy.js";
import { manifestOf } from "./protocol.js";

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
  readonly hint?: string;
  readonly userNamespace: boolean;
}

/** For a pack that is only inspected. */
const NO_HOST = { options: {}, secrets: {}, data: {}, offers: [] };
const TYPESCRIPT = /\.[cm]?tsx?$/;
/** The time limit for late tools. */
const LATE_LIMIT_MS = 20_000;
const STARTS_AT_THE_SAME_TIME = 2;
const OPEN_WHERE_LIMITED = "the network, unix sockets and signals to other programs stay open";

/** Runs packs in separate processes. Create one per program: it tests the system once and limits concurrent starts. */
export class Isolation {
  #status: Promise<IsolationStatus> | undefined;
  #enclosing: Promise<Found> | undefined;
  #starting = 0;
  readonly #queue: (() => void)[] = [];
  readonly #typeScriptLoader: string | undefined;

  /** `typeScriptLoader` is the file of jiti, which loads packs that are not built. */
  constructor({ typeScriptLoader }: { readonly typeScriptLoader?: string } = {}) {
    this.#typeScriptLoader = typeScriptLoader;
  }

  /** The isolation level of this system, tested with a hostile pack. */
  status(): Promise<IsolationStatus> {
    this.#status ??= findStatus();
    return this.#status;
  }

  /** Creates a pack that runs in its own process. With `required`, it does not run if isolation is only limited. */
  pack(
    options: Omit<IsolatedPackOptions, "enclosure" | "inTurn" | "loader"> & {
      readonly required: IsolationLevel;
    },
  ): ToolPack {
    return isolatedPack({
      ...options,
      loader: this.#loader(options.entry),
      enclosure: () => this.#enclosure(options.required),
      inTurn: (start) => this.#inTurn(start),
    });
  }

  /**
   * Inspects what a pack registers, late tools included, in the tightest sandbox. With `trial` it gets what the user granted:
   * tools may come from a server. Rejects if it does not register there.
   */
  async inspect(
    entry: string,
    { grants = {}, options = {}, secrets = {} }: PackTrial = {},
  ): Promise<PackManifest> {
    const { program, userNamespace } = await this.status();
    const file = canonicalPath(entry);
    const loader = this.#loader(file);
    return await inTrial({ entry: file, loader, grants, program, userNamespace }, async (process, url) => {
      const host = { ...NO_HOST, options, secrets };
      const found = await process.init({ url, host, ...loaderUrl(loader) }, REGISTER_LIMIT_MS);
      const manifest = withPlaces(readManifest(found), file);
      const whole = manifest.late.length === 0 ? manifest : await withLateTools(manifest, process);
      await checkRegisters(whole, file);
      return whole;
    });
  }

  /**
   * Starts a program of Node that examines a pack, with messages as of `fork`. It may read its own packages and those of the
   * pack, and write `directory`. Rejects where isolation is not enforced. Resolves to a `ChildProcess`, typed so that a
   * program without the types of Node can use these declarations.
   */
  async startExaminer(options: Examiner): Promise<unknown> {
    const { level, program, userNamespace, detail } = await this.status();
    if (level !== "enforced") throw new Error(`isolation is ${detail}`);
    const [script = "", entry = "", directory = ""] = [options.script, options.entry, options.directory].map(
      (path) => canonicalPath(path),
    );
    const policy = examinerPolicy({ script, entry, directory, env: options.env });
    const { child } = await launchScript(script, {
      policy,
      enclosure: program,
      userNamespace,
      channel: "ipc",
    });
    return child;
  }

  #loader(entry: string): string | undefined {
    if (!TYPESCRIPT.test(entry)) return undefined;
    if (this.#typeScriptLoader === undefined) {
      throw new Error(`${entry} is TypeScript. Build the pack first.`);
    }
    return this.#typeScriptLoader;
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

/** A program that examines a pack. */
export interface Examiner {
  readonly script: string;
  /** The module of the pack. */
  readonly entry: string;
  /** Its working directory. */
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
}

/** What a pack gets while it is inspected. */
export interface PackTrial {
  readonly grants?: PackGrants;
  readonly options?: unknown;
  readonly secrets?: Readonly<Record<string, string>>;
}

/** A manifest that is valid wherever the package is installed: its file names are relative to the package. */
function withPlaces(manifest: PackManifest, entry: string): PackManifest {
  const root = packageRoot(entry);
  const place = (file: string): string => relative(root, canonicalPath(file)).split(sep).join("/");
  return { ...manifest, skills: manifest.skills.map((skill) => ({ ...skill, file: place(skill.file) })) };
}

/** Throws if a host could not register the pack from its manifest, so that no one approves such a pack. */
async function checkRegisters(manifest: PackManifest, entry: string): Promise<void> {
  const registry = new ToolRegistry();
  const enclosure = (): never => {
    throw new Error("nothing is called");
  };
  try {
    registerPack(registry, isolatedPack({ name: "pack", entry, manifest, grants: {}, enclosure }));
  } finally {
    await registry.dispose();
  }
}

/** Adds the late tools, or the reasons why they did not load. */
async function withLateTools(manifest: PackManifest, process: PackProcess): Promise<PackManifest> {
  const slow = `it took longer than ${LATE_LIMIT_MS} ms`;
  const asked = process.request("loaded", {}).then((answer) => Object(manifestOf(answer)));
  const found = await withTimeout(asked, LATE_LIMIT_MS, () => ({
    tools: {},
    late: manifest.late.map(({ description }) => ({ description, problem: slow })),
  }));
  const { tools, late } = readManifest({ ...manifest, ...found });
  const added = Object.entries(tools)
    .filter(([name]) => !Object.hasOwn(manifest.tools, name))
    .map(([name, tool]) => [name, { ...tool, late: true as const }]);
  return { ...manifest, late, tools: { ...manifest.tools, ...Object.fromEntries(added) } };
}

/** The grants a pack gets if the user approves: what it declares, or what its tools' capabilities imply. */
export function grantsOf({ needs, tools, hooks }: PackManifest): PackGrants {
  const methods = HOOKS.filter((hook) => hooks.some((one) => one.methods.includes(hook)));
  const capabilities = new Set(Object.values(tools).flatMap((tool) => tool.capabilities));
  const connects = capabilities.has("network") || needs.hosts !== undefined;
  // A pack with network access could send files elsewhere, so it must request file access explicitly.
  const usual = capabilities.has("write") ? "write" : "read";
  const files = needs.files ?? (!connects && capabilities.size > 0 ? usual : undefined);
  const hosts = needs.hosts ?? (connects ? [ANY_HOST] : undefined);
  return {
    ...(files && { files }),
    ...(hosts && { hosts }),
    ...(capabilities.has("execute") && { programs: true }),
    ...(needs.calls && { calls: true }),
    ...(methods.length > 0 && { hooks: methods }),
  };
}

/** The grants as lines for a user: `may connect to api.acme.com`. */
export function describeGrants({ files, hosts = [], programs, calls, hooks = [] }: PackGrants): string[] {
  return [
    files === undefined
      ? "may read no files"
      : `may read${files === "write" ? " and change" : ""} the files of the project`,
    hosts.length === 0
      ? "may not connect to any host"
      : `may connect to ${hosts.map((host) => (host === ANY_HOST ? "every host of the public internet" : host)).join(", ")}`,
    ...(programs ? ["may start programs, in the same sandbox"] : []),
    ...(calls ? ["may call other tools and start agents in its calls, and sees the results"] : []),
    ...HOOK_LINES.flatMap(([names, line]) => (names.some((name) => hooks.includes(name)) ? [line] : [])),
  ];
}

/** What each hook sees and may do, as lines for a user. */
const HOOK_LINES: readonly (readonly [names: readonly HookName[], line: string])[] = [
  [["beforeCall", "beforeRun"], "sees every call of every tool, and may refuse or change it"],
  [["afterCall"], "sees the result of every call of every tool, and may change its text"],
  [["onMessage"], "sees every message of yours, and may add to it or refuse it"],
  [["onStop"], "sees every answer, and may make the model continue"],
  [["onSessionStart", "onCompact"], "may add text to the conversation"],
];

/** Hooks that show a pack data of other tools, or messages. */
const SEEING_HOOKS: readonly HookName[] = ["beforeCall", "beforeRun", "afterCall", "onMessage", "onStop"];

/**
 * Whether a pack sees calls of other tools, their results, or messages, and could send them to a host. Not if the user accepted
 * each of these grants together with each of these hosts before.
 */
export function maySendOthers({ hosts = [], ...grants }: PackGrants, accepted: PackGrants = {}): boolean {
  const seeing = seeingGrants(grants);
  if (hosts.length === 0 || seeing.length === 0) return false;
  const isNew = (one: string, known: readonly string[] = []): boolean => !known.includes(one);
  return (
    seeing.some((one) => isNew(one, seeingGrants(accepted))) ||
    hosts.some((host) => isNew(host, accepted.hosts))
  );
}

/** The grants that show a pack data of other tools, or messages. */
function seeingGrants({ hooks = [], calls }: PackGrants): string[] {
  return [...hooks.filter((hook) => SEEING_HOOKS.includes(hook)), ...(calls ? ["calls"] : [])];
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
      hint: "Install bubblewrap with the system's package manager, and allow user namespaces.",
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
    return await inTrial({ entry, program, userNamespace }, async (process, url) => {
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

interface Trial {
  /** A canonical path. */
  readonly entry: string;
  readonly loader?: string | undefined;
  /** Default: nothing. */
  readonly grants?: PackGrants;
  readonly program: Enclosure;
  readonly userNamespace: boolean;
}

/** Runs a pack without the files of the project, then stops it. */
async function inTrial<T>(
  { entry, loader, grants: { hosts = [], programs = false } = {}, program, userNamespace }: Trial,
  use: (process: PackProcess, url: string) => Promise<T>,
): Promise<T> {
  const policy = packPolicy({
    ...{
      entry,
      loader,
      runtime: runtimeFile(),
      grants: { programs },
      workspace: process.cwd(),
      secretPaths: [],
    },
  });
  const launched = await launch(policy, program, { userNamespace });
  const network = new HostNetwork(hosts);
  const started = new PackProcess(
    "pack",
    launched,
    {
      notify: (method, params) => {
        if (method === "fetch/end") network.end(Object(params).stream);
      },
      serve: async (method, params, raw, signal) => {
        if (method === "fetch") return await network.fetch(params, raw, signal);
        if (method === "fetch/read") return await network.read(Object(params).stream);
        throw new Error("nothing is offered while a pack is looked at");
      },
      ended: () => network.close(),
    },
    policy,
  );
  try {
    return await use(started, pathToFileURL(entry).href);
  } finally {
    await started.dispose();
  }
}
