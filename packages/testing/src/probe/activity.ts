import childProcess from "node:child_process";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isInside } from "@agent/core/toolkit";

const READS = ["readFile", "readdir", "opendir", "createReadStream", "open", "openAsBlob"];
const WRITES = [
  "appendFile",
  "copyFile",
  "cp",
  "createWriteStream",
  "link",
  "mkdir",
  "mkdtemp",
  "rename",
  "rm",
  "rmdir",
  "symlink",
  "truncate",
  "unlink",
  "writeFile",
];
const MOST_NAMED = 20;
const LOADER = /node:internal\/modules\//;

type Patched = Record<string, unknown>;

/** Access of this process to files outside of its folder, processes and the network, one phrase each. */
export class Activity {
  readonly #phrases = new Set<string>();
  readonly #connections = new Set<string>();
  readonly #root: string;
  #isOn = false;

  /** Intercepts Node's functions from now on. `module` is the URL of the pack. */
  constructor(module: string) {
    this.#root = packageRoot(fileURLToPath(module));
    for (const library of [fs, fs.promises] as unknown as Patched[]) {
      for (const name of READS) this.#watchFiles(library, name, "read");
      for (const name of WRITES) this.#watchFiles(library, name, "wrote");
    }
    this.#watch(net.Socket.prototype as unknown as Patched, "connect", (args) => {
      const address = destination(args);
      if (address === undefined) return;
      this.#connections.add(address);
      this.#add(`connected to ${address}`);
    });
    const starts = [
      [childProcess.ChildProcess.prototype, ["spawn"]],
      [childProcess, ["spawnSync", "execSync", "execFileSync"]],
    ] as const;
    for (const [owner, names] of starts) {
      for (const name of names) {
        this.#watch(owner as unknown as Patched, name, () => this.#add("started a process"));
      }
    }
    syncBuiltinESMExports();
  }

  /** Records what happens while `work` runs. */
  async during(work: () => Promise<unknown>): Promise<void> {
    this.#phrases.clear();
    this.#connections.clear();
    this.#isOn = true;
    try {
      await work();
    } finally {
      this.#isOn = false;
    }
  }

  /** What the last work did or tried, one phrase each. */
  get phrases(): readonly string[] {
    return [...this.#phrases];
  }

  /** The addresses that were connected to during the last work. */
  get connections(): readonly string[] {
    return [...this.#connections];
  }

  #watchFiles(library: Patched, name: string, verb: "read" | "wrote"): void {
    for (const method of [name, `${name}Sync`]) {
      this.#watch(library, method, ([path, flags]) => {
        const file = pathOf(path);
        if (file === undefined || this.#isOwn(file)) return;
        const isWrite =
          verb === "wrote" || (name === "open" && typeof flags === "string" && /[wa+]/.test(flags));
        this.#add(`${isWrite ? "wrote" : "read"} ${JSON.stringify(file)}`);
      });
    }
  }

  /** Files of the pack, of packages, and of the empty directory that the pack runs in, which another check examines. */
  #isOwn(file: string): boolean {
    return (
      isInside(this.#root, file) ||
      isInside(process.cwd(), file) ||
      file.split(/[\\/]/).includes("node_modules") ||
      file === "/dev/null"
    );
  }

  #watch(owner: Patched, name: string, note: (args: readonly unknown[]) => void): void {
    const original = owner[name];
    if (typeof original !== "function") return;
    const activity = this;
    owner[name] = function watched(this: unknown, ...args: unknown[]): unknown {
      // Node's loader reads modules with the same functions.
      if (activity.#isOn && !LOADER.test(new Error().stack?.split("\n")[2] ?? "")) note(args);
      return Reflect.apply(original, this, args);
    };
  }

  #add(phrase: string): void {
    if (this.#phrases.size < MOST_NAMED) this.#phrases.add(phrase);
  }
}

function pathOf(path: unknown): string | undefined {
  if (path instanceof URL) return path.protocol === "file:" ? fileURLToPath(path) : undefined;
  return typeof path === "string" || Buffer.isBuffer(path) ? resolve(String(path)) : undefined;
}

/** `host:port` of a connection; `undefined` for one that cannot leave this machine. */
function destination(args: readonly unknown[]): string | undefined {
  const [first] = Array.isArray(args[0]) ? (args[0] as unknown[]) : args;
  if (typeof first === "number") return `${typeof args[1] === "string" ? args[1] : "localhost"}:${first}`;
  if (typeof first !== "object" || first === null) return undefined;
  const { host = "localhost", port } = first as { host?: unknown; port?: unknown };
  return port === undefined ? undefined : `${host}:${port}`;
}

/** The folder of the nearest package.json, or of the file itself. */
function packageRoot(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    if (fs.existsSync(join(folder, "package.json"))) return folder;
    if (dirname(folder) === folder) return dirname(file);
  }
}
