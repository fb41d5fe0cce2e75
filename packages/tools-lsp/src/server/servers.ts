import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { delimiter, dirname, extname, isAbsolute, join, resolve, sep } from "node:path";
import type { AccessRules } from "@agent/core";
import { createPathGuard, errorMessage, findOnWindows, type PathGuard } from "@agent/core/toolkit";
import type { CheckedOptions, LspSettings } from "../options.js";
import { type FileText, readText } from "./documents.js";
import { LanguageServer } from "./languageServer.js";
import type { Candidate, Language } from "./languages.js";

/** A server that exited unexpectedly is restarted once. */
const MAX_FAILURES = 2;
/** How long a directory without a server is not searched again: one may be installed in the meantime. */
const LOOK_AGAIN_MS = 30_000;

export interface ServersHost {
  /** Where the agent works. Default: the working directory of the process. */
  readonly directory?: string | undefined;
  readonly access?: AccessRules | undefined;
  /** Variables that no server may see. A live list. */
  readonly secretVariables?: readonly string[] | undefined;
}

interface Lookup {
  readonly slot: Slot | undefined;
  readonly until: number;
}

/** All servers of one registration: one for each language and root, started on demand. */
export class Servers {
  readonly settings: LspSettings;
  readonly languages: readonly Language[];
  readonly guard: PathGuard;
  readonly root: string;
  readonly #host: ServersHost;
  readonly #byExtension = new Map<string, Language>();
  readonly #lookups = new Map<string, Lookup>();
  readonly #slots = new Map<string, Slot>();
  #disposed = false;

  constructor({ root, languages, settings }: CheckedOptions, host: ServersHost) {
    this.settings = settings;
    this.languages = languages;
    const { directory = process.cwd() } = host;
    this.guard = createPathGuard(root ?? directory, host.directory);
    this.root = this.guard.root ?? directory;
    this.#host = host;
    for (const language of [...languages].reverse())
      for (const extension of Object.keys(language.extensions)) this.#byExtension.set(extension, language);
  }

  /** The language of a file by its extension, if a server for it is known. */
  languageOf(path: string): Language | undefined {
    return this.#byExtension.get(extname(path).toLowerCase());
  }

  /** The server of a file by its canonical path; `undefined` if there is none. Starts nothing. */
  find(path: string): Slot | undefined {
    const language = this.languageOf(path);
    if (!language || this.#disposed || !this.guard.contains(path) || this.isSecret(path)) return undefined;
    const directory = dirname(path);
    const key = `${language.name}\0${directory}`;
    const known = this.#lookups.get(key);
    if (known && (known.slot !== undefined || known.until > Date.now())) return known.slot;
    const slot = this.#look(language, directory);
    this.#lookups.set(key, { slot, until: Date.now() + LOOK_AGAIN_MS });
    return slot;
  }

  /** Like `find`, but throws with the reason if there is no server. */
  require(path: string, shown: string): Slot {
    const language = this.languageOf(path);
    if (!language) {
      const known = this.languages.map(({ name }) => name).join(", ");
      throw new Error(
        `No language server is configured for files like ${JSON.stringify(shown)}. Known: ${known}.`,
      );
    }
    const slot = this.find(path);
    if (slot) return slot;
    if (this.isSecret(path)) throw new Error(`${JSON.stringify(shown)} is in a place of secrets.`);
    throw new Error(`There is no ${language.name} language server here. Install one: ${language.hint}.`);
  }

  isSecret(path: string): boolean {
    return this.#host.access?.secret?.some((place) => isBelow(place, path)) === true;
  }

  /** All servers that have run, for reports. */
  list(): readonly Slot[] {
    return [...this.#slots.values()];
  }

  /** The program of a language for a file in the root. */
  programFor(name: string): string | undefined {
    const language = this.languages.find((one) => one.name === name);
    return language && findProgram(language, this.root, this.root)?.program;
  }

  #look(language: Language, directory: string): Slot | undefined {
    const program = findProgram(language, directory, this.root);
    if (!program) return undefined;
    const root = findRoot(language, directory, this.root);
    const key = `${language.name}\0${root}`;
    const existing = this.#slots.get(key);
    if (existing) return existing;
    const slot = new Slot(language, root, program, this.settings, {
      env: () => this.#environment(language),
      beforeStart: () => this.#makeRoom(),
    });
    this.#slots.set(key, slot);
    return slot;
  }

  #environment({ env }: Language): NodeJS.ProcessEnv {
    const secret = new Set(this.#host.secretVariables);
    const kept = Object.entries(process.env).filter(([name]) => !secret.has(name));
    return { ...Object.fromEntries(kept), ...env };
  }

  #makeRoom(): void {
    const running = [...this.#slots.values()].filter((slot) => slot.running);
    running.sort((a, b) => a.usedAt - b.usedAt);
    for (const slot of running.slice(0, Math.max(0, running.length + 1 - this.settings.maxServers)))
      void slot.stop("it made room for another server");
  }

  async dispose(): Promise<void> {
    this.#disposed = true;
    await Promise.all([...this.#slots.values()].map((slot) => slot.stop("the agent ended")));
  }

  terminate(): void {
    this.#disposed = true;
    for (const slot of this.#slots.values()) slot.running?.kill("the agent ended");
  }
}

interface SlotHost {
  readonly env: () => NodeJS.ProcessEnv;
  readonly beforeStart: () => void;
}

/** The slot of one server: started by its first use, stopped when idle, restarted once if it fails. */
export class Slot {
  readonly language: Language;
  readonly root: string;
  readonly program: FoundProgram;
  /** The running server, if there is one. */
  running: LanguageServer | undefined;
  usedAt = 0;
  /** Edits whose errors arrived too late to be reported. */
  timeouts = 0;
  /** A check that the result of an edit no longer waits for. */
  late: Promise<unknown> | undefined;
  readonly #settings: LspSettings;
  readonly #host: SlotHost;
  readonly #stopping = new WeakSet<LanguageServer>();
  #failures: string[] = [];
  #idle: NodeJS.Timeout | undefined;

  constructor(
    language: Language,
    root: string,
    program: FoundProgram,
    settings: LspSettings,
    host: SlotHost,
  ) {
    this.language = language;
    this.root = root;
    this.program = program;
    this.#settings = settings;
    this.#host = host;
  }

  /** Why the server is no longer started; `undefined` if it may be. */
  get broken(): string | undefined {
    return this.#failures.length >= MAX_FAILURES ? this.#failures.at(-1) : undefined;
  }

  get failures(): readonly string[] {
    return this.#failures;
  }

  /** The running server. Starts it if needed; throws if it has failed too often. */
  use(): LanguageServer {
    if (this.broken !== undefined) {
      throw new Error(
        `The ${this.language.name} language server (${this.program.program}) ended twice and is not started again: ${this.broken}`,
      );
    }
    this.usedAt = Date.now();
    this.#stopWhenIdle();
    this.running ??= this.#start();
    return this.running;
  }

  #stopWhenIdle(): void {
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.running?.isBusy) this.#stopWhenIdle();
      else void this.stop("it was idle");
    }, this.#settings.idleMs);
    this.#idle.unref();
  }

  languageId(path: string): string {
    return this.language.extensions[extname(path).toLowerCase()] ?? this.language.name;
  }

  /** Syncs a file with the server as it is on disk, and all other open files that have changed. */
  async show(path: string, file?: FileText): Promise<LanguageServer> {
    const server = this.use();
    await server.refresh();
    const current = file ?? (await readText(path));
    if (!current) throw new Error(`${JSON.stringify(path)} is not a UTF-8 text file of at most 2 MB.`);
    await server.show(path, this.languageId(path), current);
    return server;
  }

  async stop(reason: string): Promise<void> {
    clearTimeout(this.#idle);
    const server = this.running;
    if (!server) return;
    this.#stopping.add(server);
    this.running = undefined;
    await server.end(reason);
  }

  /** Kills a server that does not answer. Counts as a failure. */
  fail(reason: string): void {
    this.running?.kill(reason);
  }

  #start(): LanguageServer {
    this.#host.beforeStart();
    const { memoryMb, startMs } = this.#settings;
    const server = new LanguageServer({
      ...this.program,
      cwd: this.root,
      env: this.#host.env(),
      memoryBytes: memoryMb * 1024 * 1024,
      initialization: this.language.initialization,
      settings: this.language.settings ?? {},
      startMs,
    });
    void server.ended.then((reason) => {
      if (this.running === server) this.running = undefined;
      if (!this.#stopping.has(server)) this.#failures.push(errorMessage(reason));
    });
    return server;
  }
}

/** Whether a path is a directory or below it. */
export function isBelow(directory: string, path: string): boolean {
  return path === directory || path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/** Where a project keeps programs that it installed for itself. */
const PROJECT_FOLDERS = ["node_modules/.bin", ".venv/bin", "venv/bin", ".venv/Scripts", "venv/Scripts"];

interface FoundProgram {
  readonly program: string;
  readonly args: readonly string[];
}

/** Finds a server: in the project from the directory of the file up to the root, then on the search path. */
function findProgram({ candidates }: Language, directory: string, root: string): FoundProgram | undefined {
  const inProject = upwards(directory, root).flatMap((one) => PROJECT_FOLDERS.map((name) => join(one, name)));
  // A relative entry of PATH would depend on the agent's working directory.
  const onMachine = (process.env.PATH ?? "").split(delimiter).filter((one) => isAbsolute(one));
  for (const folders of [inProject, onMachine]) {
    for (const candidate of candidates) {
      const program = isAbsolute(candidate.program)
        ? usable(candidate.program, candidate)
        : first(folders, (folder) => usable(join(folder, candidate.program), candidate));
      if (program !== undefined) return { program, args: candidate.args };
    }
  }
  return undefined;
}

/** The root of the project that a file belongs to. */
function findRoot({ markers = [], outermost = false }: Language, directory: string, root: string): string {
  const marked = upwards(directory, root).filter((one) =>
    markers.some((name) => existsSync(join(one, name))),
  );
  return (outermost ? marked.at(-1) : marked[0]) ?? root;
}

/** A directory and its parents, up to the root. */
function upwards(directory: string, root: string): string[] {
  const found: string[] = [];
  for (let one = directory; one.startsWith(root); one = dirname(one)) {
    found.push(one);
    if (one === root || dirname(one) === one) break;
  }
  return found;
}

function usable(given: string, candidate: Candidate): string | undefined {
  // Windows has the programs of npm as batch files, next to a script for shells that has no extension.
  const path = process.platform === "win32" ? findOnWindows(given) : given;
  if (path === undefined) return undefined;
  try {
    if (!statSync(path).isFile()) return undefined;
    accessSync(path, constants.X_OK);
  } catch {
    return undefined;
  }
  return candidate.package === undefined || hasMajor(path, candidate.package) ? path : undefined;
}

/** Whether a program of an npm package has at least a major version. */
function hasMajor(path: string, { name, major }: { readonly name: string; readonly major: number }): boolean {
  try {
    const file = realpathSync(path);
    // bin/tsc of the package, or the shim of a package manager next to the package.
    const manifests = [
      resolve(dirname(file), "../package.json"),
      resolve(dirname(path), "..", name, "package.json"),
    ];
    return manifests.some((manifest) => {
      if (!existsSync(manifest)) return false;
      const { name: found, version } = JSON.parse(readFileSync(manifest, "utf8"));
      return found === name && Number.parseInt(String(version), 10) >= major;
    });
  } catch {
    return false;
  }
}

function first<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
