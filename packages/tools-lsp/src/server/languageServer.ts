import { fileURLToPath, pathToFileURL } from "node:url";
import { errorMessage, isRecord } from "@agent/core/toolkit";
import { encodeMessage, MessageReader } from "../protocol/framing.js";
import { type Diagnostic, readDiagnostics, readTsserverDiagnostics } from "../protocol/messages.js";
import { RpcClient, ServerError } from "../protocol/rpc.js";
import { type FileText, readStamp, readText } from "./documents.js";
import { type ServerCommand, ServerProcess } from "./process.js";

const MAX_OPEN_DOCUMENTS = 64;
const MAX_DIAGNOSTICS = 1000;
const MAX_REGISTRATIONS = 100;
const MAX_FILE_CHANGES = 1000;
const SHUTDOWN_MS = 500;
const RETRY_MS = 50;
/** How long to wait for further pushes before the last one is used. Some servers push syntax errors first. */
const QUIET_MS = 30;
/** The same for pushes without a version. */
const QUIET_UNVERSIONED_MS = 150;
/** How long a push may take. Some servers push nothing if nothing has changed. */
const PUSH_MS = 10_000;
/**
 * The command by which typescript-language-server, which does not support pull diagnostics, passes a request to
 * tsserver.
 */
const TSSERVER_REQUEST = "typescript.tsserverRequest";
/** RequestCancelled, ContentModified and ServerCancelled: the request should be retried. */
const ASK_AGAIN = new Set([-32800, -32801, -32802]);

const CREATED = 1;
const CHANGED = 2;
const DELETED = 3;

const CLIENT_CAPABILITIES = {
  general: { positionEncodings: ["utf-16"] },
  textDocument: {
    synchronization: { didSave: true },
    publishDiagnostics: { versionSupport: true },
    diagnostic: { dynamicRegistration: true },
    definition: { linkSupport: true },
    references: {},
    documentSymbol: { hierarchicalDocumentSymbolSupport: true },
    rename: {},
  },
  workspace: {
    configuration: true,
    workspaceFolders: true,
    workspaceEdit: { documentChanges: true },
    symbol: {},
    didChangeWatchedFiles: { dynamicRegistration: false },
  },
  window: { workDoneProgress: true },
  // rust-analyzer's extension: it answers requests with empty results until it has loaded the project.
  experimental: { serverStatusNotification: true },
};

export interface ServerStart extends ServerCommand {
  /** Sent with `initialize`. */
  readonly initialization: unknown;
  /** The configuration the server can request, by section. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly startMs: number;
}

interface OpenDocument {
  readonly path: string;
  version: number;
  text: string;
  stamp: string | undefined;
  /** The count of pushes when this version was sent. */
  pushesBefore: number;
}

interface Push {
  readonly version: number | undefined;
  readonly items: readonly Diagnostic[];
  /** The count of pushes of the server when it came. */
  readonly number: number;
}

/** A server that pushes diagnostics has sent none for the last text. */
export class NoPush extends Error {
  constructor() {
    super(`The language server has reported nothing about the file within ${PUSH_MS} ms.`);
  }
}

/** A running language server: its documents, its diagnostics and its answers. */
export class LanguageServer {
  /** Resolves to the reason once the server has exited. */
  readonly ended: Promise<string>;
  /** Resolves when the server answers requests. */
  readonly ready: Promise<void>;
  readonly #process: ServerProcess;
  readonly #rpc: RpcClient;
  readonly #start: ServerStart;
  readonly #documents = new Map<string, OpenDocument>();
  /** The kind of change of each file that the server does not know about yet. */
  readonly #fileChanges = new Map<string, number>();
  readonly #pushes = new Map<string, Push>();
  readonly #listeners = new Set<() => void>();
  readonly #pullRegistrations = new Set<string>();
  #pulls = false;
  #asksTsserver = false;
  #pushCount = 0;
  #hasEnded = false;
  #isLoading = false;
  /** How often the server has reported that it loads the project. */
  #loads = 0;
  #queued = 0;
  #queue: Promise<unknown> = Promise.resolve();

  constructor(start: ServerStart) {
    this.#start = start;
    const reader = new MessageReader(
      (text) => this.#rpc.receive(text),
      (reason) => this.#process.kill(reason),
    );
    this.#rpc = new RpcClient({
      send: (message) => this.#process.write(encodeMessage(message)),
      onNotification: (method, params) => this.#onNotification(method, params),
      onRequest: (method, params) => this.#onRequest(method, params),
    });
    this.#process = new ServerProcess(start, (chunk) => reader.push(chunk));
    this.ended = this.#process.ended.then((reason) => {
      this.#hasEnded = true;
      this.#rpc.close(new Error(`the language server ended: ${reason}`));
      this.#announce();
      return reason;
    });
    this.ready = this.#initialize();
    this.ready.catch(() => undefined);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  async #initialize(): Promise<void> {
    const { cwd, initialization, startMs } = this.#start;
    const uri = pathToFileURL(cwd).href;
    try {
      const result = await this.#rpc.request(
        "initialize",
        {
          processId: process.pid,
          clientInfo: { name: "agent" },
          rootPath: cwd,
          rootUri: uri,
          workspaceFolders: [{ uri, name: "project" }],
          initializationOptions: initialization,
          capabilities: CLIENT_CAPABILITIES,
        },
        AbortSignal.timeout(startMs),
      );
      const capabilities = isRecord(result) && isRecord(result.capabilities) ? result.capabilities : {};
      const encoding = capabilities.positionEncoding ?? "utf-16";
      if (encoding !== "utf-16")
        throw new Error(`it counts characters in ${String(encoding)}, not in UTF-16`);
      this.#pulls = isRecord(capabilities.diagnosticProvider);
      const { executeCommandProvider: provider } = capabilities;
      const commands: unknown = isRecord(provider) ? provider.commands : undefined;
      this.#asksTsserver = Array.isArray(commands) && commands.includes(TSSERVER_REQUEST);
      this.#rpc.notify("initialized", {});
    } catch (error) {
      const isLate = isRecord(error) && error.name === "TimeoutError";
      const reason = isLate ? `it did not start within ${startMs} ms` : errorMessage(error);
      this.#process.kill(reason);
      throw isLate ? new Error(`the language server ended: ${reason}`) : error;
    }
  }

  /** Whether the server reports that it still loads the project. */
  get isLoading(): boolean {
    return this.#isLoading;
  }

  /** Whether work is in progress. */
  get isBusy(): boolean {
    return this.#queued > 0 || this.#rpc.isBusy;
  }

  /** Runs work that changes documents and asks about them, one after the other. */
  inOrder<T>(work: () => Promise<T>): Promise<T> {
    this.#queued++;
    const next = this.#queue.then(work, work).finally(() => {
      this.#queued--;
    });
    this.#queue = next.catch(() => undefined);
    return next;
  }

  async request(method: string, params: unknown, signal?: AbortSignal): Promise<unknown> {
    await this.ready;
    this.#sendFileChanges();
    for (;;) {
      while (this.#isLoading && !this.#hasEnded) await this.#nextAnnouncement(signal);
      const loads = this.#loads;
      try {
        const answer = await this.#rpc.request(method, params, signal);
        if (loads === this.#loads) return answer;
      } catch (error) {
        if (!(error instanceof ServerError) || !ASK_AGAIN.has(error.code)) throw error;
        await pause(RETRY_MS, signal);
      }
    }
  }

  /** Shows the server a file: opens it, or sends its new text. */
  async show(path: string, languageId: string, file: FileText): Promise<void> {
    await this.ready;
    this.#sendFileChanges();
    const uri = uriOf(path);
    const document = this.#documents.get(uri);
    if (document?.text === file.text) {
      document.stamp = file.stamp;
      return;
    }
    if (document) {
      document.version++;
      document.text = file.text;
      document.stamp = file.stamp;
      document.pushesBefore = this.#pushCount;
      const textDocument = { uri, version: document.version };
      this.#rpc.notify("textDocument/didChange", { textDocument, contentChanges: [{ text: file.text }] });
      this.#rpc.notify("textDocument/didSave", { textDocument: { uri } });
      // The most recently used document is closed last.
      this.#documents.delete(uri);
      this.#documents.set(uri, document);
      return;
    }
    const opened = { path, version: 1, ...file, pushesBefore: this.#pushCount };
    this.#documents.set(uri, opened);
    this.#rpc.notify("textDocument/didOpen", {
      textDocument: { uri, languageId, version: 1, text: file.text },
    });
    const [oldest] = this.#documents.keys();
    if (this.#documents.size > MAX_OPEN_DOCUMENTS && oldest !== undefined) this.#close(oldest);
  }

  /** The version of a document that is open; `undefined` for others. */
  versionOf(uri: string): number | undefined {
    const known = this.#knownUri(uri);
    return known === undefined ? undefined : this.#documents.get(known)?.version;
  }

  get hasDocuments(): boolean {
    return this.#documents.size > 0;
  }

  /** The paths of the open documents. */
  openPaths(): string[] {
    return [...this.#documents.values()].map(({ path }) => path);
  }

  /** Sends the text of open documents that other programs have changed, and closes those that are gone. */
  async refresh(): Promise<void> {
    for (const [uri, document] of [...this.#documents]) {
      const stamp = await readStamp(document.path);
      if (stamp === document.stamp) continue;
      const file = stamp === undefined ? undefined : await readText(document.path);
      if (file) await this.show(document.path, "", file);
      else this.#close(uri);
    }
  }

  /**
   * Takes note of files that were written or removed, for the server's index beyond open documents. The server is notified
   * before the next request, so that edits of other languages cost nothing.
   */
  announceFiles(written: readonly string[], created: readonly string[], removed: readonly string[]): void {
    for (const path of written)
      if (this.#fileChanges.get(path) !== CREATED) this.#fileChanges.set(path, CHANGED);
    for (const path of created) this.#fileChanges.set(path, CREATED);
    for (const path of removed) {
      this.#fileChanges.set(path, DELETED);
      this.#close(uriOf(path));
    }
    if (this.#fileChanges.size >= MAX_FILE_CHANGES) this.#sendFileChanges();
  }

  #sendFileChanges(): void {
    if (this.#fileChanges.size === 0) return;
    const changes = Array.from(this.#fileChanges, ([path, type]) => ({ uri: uriOf(path), type }));
    this.#fileChanges.clear();
    this.#rpc.notify("workspace/didChangeWatchedFiles", { changes });
  }

  /** The diagnostics of the last sent text. Rejects with `NoPush` if the server has not sent any. */
  async diagnostics(path: string, signal: AbortSignal): Promise<readonly Diagnostic[]> {
    await this.ready;
    const uri = uriOf(path);
    if (this.#asksTsserver) return await this.#tsserverDiagnostics(uri, signal);
    if (!this.#isPulled) return await this.#pushed(uri, AbortSignal.any([signal, this.#noPush()]));
    return await this.#pulled(uri, signal);
  }

  get #isPulled(): boolean {
    return this.#pulls || this.#pullRegistrations.size > 0;
  }

  async #pulled(uri: string, signal: AbortSignal): Promise<Diagnostic[]> {
    const report = await this.request("textDocument/diagnostic", { textDocument: { uri } }, signal);
    return readDiagnostics(isRecord(report) ? report.items : undefined, MAX_DIAGNOSTICS);
  }

  async #tsserverDiagnostics(uri: string, signal: AbortSignal): Promise<Diagnostic[]> {
    const ask = async (command: string): Promise<Diagnostic[]> => {
      const params = { command: TSSERVER_REQUEST, arguments: [command, { file: uri }] };
      return readTsserverDiagnostics(
        await this.request("workspace/executeCommand", params, signal),
        MAX_DIAGNOSTICS,
      );
    };
    return [...(await ask("syntacticDiagnosticsSync")), ...(await ask("semanticDiagnosticsSync"))];
  }

  #noPush(): AbortSignal {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new NoPush()), PUSH_MS).unref();
    return controller.signal;
  }

  async end(reason: string): Promise<void> {
    if (this.#hasEnded) return;
    // Not `AbortSignal.timeout`: its timer lets the process exit before the server has.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), SHUTDOWN_MS);
    try {
      await this.#rpc.request("shutdown", undefined, late.signal);
      this.#rpc.notify("exit", undefined);
    } catch {
      // It is killed if it does not exit by itself.
    } finally {
      clearTimeout(timer);
    }
    await this.#process.end(reason);
  }

  kill(reason: string): void {
    this.#process.kill(reason);
  }

  #close(uri: string): void {
    if (!this.#documents.delete(uri)) return;
    this.#pushes.delete(uri);
    this.#rpc.notify("textDocument/didClose", { textDocument: { uri } });
  }

  /** Waits for a push about the last sent version, and a moment longer for further ones. */
  async #pushed(uri: string, signal: AbortSignal): Promise<readonly Diagnostic[]> {
    for (;;) {
      const push = this.#currentPush(uri);
      if (push) {
        await pause(push.version === undefined ? QUIET_UNVERSIONED_MS : QUIET_MS, signal);
        const last = this.#currentPush(uri);
        if (last === push) return push.items;
        continue;
      }
      if (this.#hasEnded) throw new Error("the language server ended");
      if (!this.#documents.has(uri)) throw new Error("the document is not open");
      // A server that is asked for pushes may register for pulls while it starts.
      if (this.#isPulled) return await this.#pulled(uri, signal);
      await this.#nextAnnouncement(signal);
    }
  }

  #currentPush(uri: string): Push | undefined {
    const document = this.#documents.get(uri);
    const push = this.#pushes.get(uri);
    if (!document || !push) return undefined;
    const isCurrent =
      push.version === undefined ? push.number > document.pushesBefore : push.version === document.version;
    return isCurrent ? push : undefined;
  }

  #nextAnnouncement(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        this.#listeners.delete(done);
        signal?.removeEventListener("abort", onAborted);
        resolve();
      };
      const onAborted = (): void => {
        this.#listeners.delete(done);
        reject(signal?.reason);
      };
      if (signal?.aborted) return reject(signal.reason);
      signal?.addEventListener("abort", onAborted, { once: true });
      this.#listeners.add(done);
    });
  }

  #announce(): void {
    for (const listener of [...this.#listeners]) listener();
  }

  #onNotification(method: string, params: unknown): void {
    if (method === "experimental/serverStatus" && isRecord(params)) {
      this.#isLoading = params.quiescent === false;
      if (this.#isLoading) this.#loads++;
      this.#announce();
    }
    if (method !== "textDocument/publishDiagnostics" || !isRecord(params)) return;
    const uri = this.#knownUri(params.uri);
    if (uri === undefined) return;
    this.#pushes.set(uri, {
      version: typeof params.version === "number" ? params.version : undefined,
      items: readDiagnostics(params.diagnostics, MAX_DIAGNOSTICS),
      number: ++this.#pushCount,
    });
    this.#announce();
  }

  /** The URI of an open document. Servers spell the same one differently: `file:///c%3A/x`. */
  #knownUri(uri: unknown): string | undefined {
    if (typeof uri !== "string") return undefined;
    if (this.#documents.has(uri)) return uri;
    const path = pathOf(uri);
    const own = path === undefined ? undefined : uriOf(path);
    return own !== undefined && this.#documents.has(own) ? own : undefined;
  }

  #onRequest(method: string, params: unknown): { readonly result: unknown } | undefined {
    const given = isRecord(params) ? params : {};
    switch (method) {
      case "workspace/configuration": {
        const items: readonly unknown[] = Array.isArray(given.items) ? given.items.slice(0, 100) : [];
        return { result: items.map((item) => this.#setting(isRecord(item) ? item.section : undefined)) };
      }
      case "client/registerCapability":
        for (const id of idsOf(given.registrations))
          if (this.#pullRegistrations.size < MAX_REGISTRATIONS) this.#pullRegistrations.add(id);
        this.#announce();
        return { result: null };
      case "client/unregisterCapability":
        // The protocol itself misspells the name.
        for (const id of idsOf(given.unregisterations)) this.#pullRegistrations.delete(id);
        return { result: null };
      case "workspace/applyEdit":
        return { result: { applied: false, failureReason: "Edits are made by tools only." } };
      case "workspace/workspaceFolders":
        return { result: [{ uri: uriOf(this.#start.cwd), name: "project" }] };
      case "window/showMessageRequest":
      case "window/workDoneProgress/create":
      case "workspace/diagnostic/refresh":
        return { result: null };
      default:
        return undefined;
    }
  }

  #setting(section: unknown): unknown {
    const { settings } = this.#start;
    if (typeof section !== "string") return settings;
    return Object.hasOwn(settings, section) ? settings[section] : {};
  }
}

export function uriOf(path: string): string {
  return pathToFileURL(path).href;
}

/** The path of a `file:` address; `undefined` for other addresses. */
export function pathOf(uri: string): string | undefined {
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined;
  }
}

function idsOf(registrations: unknown): string[] {
  if (!Array.isArray(registrations)) return [];
  return (registrations as unknown[])
    .slice(0, 100)
    .flatMap((one) =>
      isRecord(one) && one.method === "textDocument/diagnostic" && typeof one.id === "string" ? [one.id] : [],
    );
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAborted = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAborted);
      resolve();
    }, ms);
    signal?.addEventListener("abort", onAborted, { once: true });
  });
}
