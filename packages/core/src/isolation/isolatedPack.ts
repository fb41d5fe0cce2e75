import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";
import { canonicalPath, errorMessage, isInside, isRecord, quote } from "@agent/internal";
import type { HookCall } from "../loop/hooks.js";
import type { CallDescription, CallPreview, Match } from "../tools/callDescription.js";
import type {
  BackgroundJob,
  PackCommand,
  PackHost,
  PackPrompt,
  PackRegistry,
  PackServices,
  PackSkill,
  ToolPack,
} from "../tools/pack.js";
import type { ExecutableTool, ToolCall, ToolCapability } from "../tools/tool.js";
import { HostFiles } from "./hostFiles.js";
import { HostNetwork } from "./hostNetwork.js";
import { type Enclosure, type Launched, launch, runtimeFile } from "./launch.js";
import {
  MAX_TOOLS,
  type ManifestTool,
  type PackGrants,
  type PackManifest,
  readDiagnoses,
  readJobs,
  readManifest,
  readPrompts,
  readTool,
  toolDifference,
} from "./manifest.js";
import {
  attachedPart,
  checkedContent,
  readContent,
  readFields,
  readMentions,
  readRedirect,
} from "./messages.js";
import { packageFiles, packageRoot } from "./packageFiles.js";
import { hookProxies } from "./packHooks.js";
import { type Listener, PackProcess } from "./packProcess.js";
import { packPolicy } from "./policy.js";
import type { Frame } from "./protocol.js";

export const REGISTER_LIMIT_MS = 10_000;
const MAX_EVENTS = 100_000;
const MAX_OUTPUT_BYTES = 8 * 1024 * 1024;
const IDLE_MS = 10 * 60 * 1000;
const MAX_FAULTS = 4;
const FAULT_PERIOD_MS = 10 * 60 * 1000;
/** The maximum number of tools that a pack adds and removes before the next request to the model. */
const MAX_TOOL_CHANGES = 4 * MAX_TOOLS;
const MAX_NOTICE_CHARACTERS = 1000;
/** Limits of one process for what is shown to the user, and for what is stored with the session. */
const MAX_NOTICES = 200;
const MAX_STATE_BYTES = 64 * 1024 * 1024;
const MAX_QUESTIONS = 200;
/** The time limit for requests to the process that have no other limit. Its late tools may have to load first. */
const ANSWER_LIMIT_MS = 30_000;
/** Its tools ask like those of any third party, even if the pack declares one of our names. */
const FOREIGN = { foreign: true } as const;

/** The loader for a pack in TypeScript, in the form that its process expects. */
export function loaderUrl(loader: string | undefined): { readonly loader?: string } {
  return loader === undefined ? {} : { loader: pathToFileURL(loader).href };
}

/** A pack to run in its own process. */
export interface IsolatedPackOptions {
  /** The name shown to the user: the name of its package. */
  readonly name: string;
  /** The canonical path of its module. */
  readonly entry: string;
  /** The manifest, as the user approved it. */
  readonly manifest: PackManifest;
  readonly grants: PackGrants;
  /** Returns the policy of its processes. Called for each start. */
  readonly enclosure: () => Promise<{ readonly program: Enclosure; readonly userNamespace: boolean }>;
  /** Waits until a process may start, so that a host can limit concurrent starts. Default: immediately. */
  readonly inTurn?: <T>(start: () => Promise<T>) => Promise<T>;
  /** The time limit of registration. Default: ten seconds. */
  readonly registerLimitMs?: number;
  /** How long a call may take to return after it was stopped, before its process is killed. Default: one second. */
  readonly stopGraceMs?: number;
  /** The file of the loader for TypeScript (jiti), if the pack is not built. */
  readonly loader?: string | undefined;
  /** The command that approves a change: `agent pack update NAME`. */
  readonly review?: string;
}

/**
 * A pack that registers from its manifest and runs in its own process. The process starts while the model is asked for the
 * first time, or with the first call.
 */
export function isolatedPack(options: IsolatedPackOptions): ToolPack {
  const { manifest, name } = options;
  return {
    packName: manifest.packName ?? name,
    secrets: manifest.secrets,
    // Its process starts in the directory.
    followsDirectory: true,
    register: (registry, host) => {
      const runner = new Runner(options, registry, host);
      for (const [tool, described] of Object.entries(manifest.tools)) {
        const { enabled, deferred } = described;
        registry.register(runner.tool(tool, described), {
          ...FOREIGN,
          enabled,
          ...(deferred && { deferred }),
        });
      }
      for (const services of runner.services()) registry.provide?.(services);
      registry.onRefresh?.((late) => runner.refresh(late));
    },
  };
}

/** A call that is running in the process. */
interface OpenCall {
  readonly tool: string;
  /** The capabilities that it was approved with: the pack may replace the tool meanwhile. */
  readonly capabilities: readonly ToolCapability[];
  readonly call: ToolCall;
  outputBytes: number;
  events: number;
}

/** The process of one registration: started on demand, stopped when idle, restarted after a failure. */
class Runner {
  readonly #options: IsolatedPackOptions;
  readonly #registry: PackRegistry;
  readonly #host: PackHost | undefined;
  readonly #calls = new Map<number, OpenCall>();
  readonly #network: HostNetwork;
  readonly #files: HostFiles;
  /** Tools that differ from what the user approved, with the reason: the pack cannot release those. */
  readonly #refused = new Map<string, string>();
  /** The tools that are registered. */
  readonly #tools = new Map<string, ManifestTool>();
  /** What the process registered and removed since the last request to the model. */
  readonly #toolChanges: { readonly name: string; readonly tool?: ManifestTool }[] = [];
  /** The late tools of this process that were compared with the approved ones. */
  readonly #compared = new Set<string>();
  readonly #hookCalls = new Map<number, HookCall>();
  #prompts: readonly (PackPrompt | null)[];
  #jobs: readonly BackgroundJob[] = [];
  #process: Promise<PackProcess> | undefined;
  #current: PackProcess | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  /** The times of its failures. */
  #faults: number[] = [];
  /** What the running process has used of its limits. */
  #notices = 0;
  #stateBytes = 0;
  #questions = 0;
  #sentState: string | undefined;
  #sentModel: string | undefined;
  #isDisposed = false;

  constructor(options: IsolatedPackOptions, registry: PackRegistry, host: PackHost | undefined) {
    this.#options = options;
    this.#registry = registry;
    this.#host = host;
    this.#network = new HostNetwork(options.grants.hosts ?? []);
    this.#files = new HostFiles(host);
    this.#prompts = options.manifest.prompts;
  }

  tool(name: string, described: ManifestTool): ExecutableTool {
    const { schema, enabled: _, deferred: __, late: ___, functions, ...plain } = described;
    this.#tools.set(name, described);
    const has = new Set(functions);
    return {
      ...plain,
      name,
      getSchema: () => schema,
      ...(has.has("parseArguments") && {
        parseArguments: async (args) => {
          const { message } = await this.#request("parse", { tool: name, args });
          const { problem } = Object(message.result) as { problem?: unknown };
          return typeof problem === "string" ? { problem } : { value: { ...args } };
        },
      }),
      ...(has.has("redirect") && {
        redirect: async (args) => {
          const { message } = await this.#request("redirect", { tool: name, args });
          const target = readRedirect(message.result);
          if (target !== undefined && !this.#tools.has(target.name)) this.#checkCalls(target.name);
          return target;
        },
      }),
      ...((has.has("describeCall") || has.has("findAccessNeeds")) && {
        describeCall: async (args, { signal }) => {
          const { message } = await this.#request("describe", { tool: name, args, ...this.#news() }, signal);
          // `contained` would skip a question to the user because an untrusted pack claims it.
          const { contained: _contained, ...description } = Object(message.result) as CallDescription;
          return description;
        },
      }),
      ...(has.has("previewCall") && {
        previewCall: async (args, { signal }) => {
          const { message } = await this.#request("preview", { tool: name, args }, signal);
          return (message.result ?? undefined) as CallPreview | undefined;
        },
      }),
      ...(has.has("permissions") && {
        permissions: {
          check: async (pattern) => {
            const { message } = await this.#request("checkPattern", { tool: name, pattern });
            return typeof message.result === "string" ? message.result : undefined;
          },
          match: async (patterns, targets) => {
            const { message } = await this.#request("matchPatterns", { tool: name, patterns, targets });
            return message.result as Match[][];
          },
        },
      }),
      execute: (args, call) => this.#execute(name, described.capabilities, args, call),
    };
  }

  /** Its services: the main part, and one part for each prompt text and each set of hooks. */
  services(): PackServices[] {
    const { prompts, hooks } = this.#options.manifest;
    const { name, grants } = this.#options;
    const proxies = hookProxies(name, hooks, grants.hooks ?? [], async (question, signal, call) => {
      let sent: number | undefined;
      try {
        return await this.#request("hook", { ...question, ...this.#news() }, signal, (id) => {
          sent = id;
          if (call) this.#hookCalls.set(id, call);
        });
      } finally {
        if (sent !== undefined) this.#hookCalls.delete(sent);
      }
    });
    return [
      this.#mainServices(),
      ...prompts.map((_, index) => ({ prompt: () => this.#prompts[index] ?? undefined })),
      ...proxies.map((one) => ({ hooks: one })),
    ];
  }

  #mainServices(): PackServices {
    const { commands, mentions, skills, agents, diagnoses, jobs } = this.#options.manifest;
    return {
      warmUp: () => void this.#start().catch(() => undefined), // the first call reports it
      dispose: () => this.#dispose(),
      terminate: () => this.#current?.end("the agent ended"),
      ...(commands.length > 0 && { commands: commands.map((one) => this.#command(one)) }),
      ...(mentions.length > 0 && {
        mentions: mentions.map((source) => ({
          name: source,
          list: async (query, signal) => {
            const { message } = await this.#request("mentions/list", { source, query }, signal);
            return readMentions(message.result);
          },
          read: async (id, signal) =>
            readContent(await this.#request("mentions/read", { source, id }, signal), "a mention"),
        })),
      }),
      ...(jobs && {
        jobs: {
          list: () => this.#jobs,
          end: async (id) => {
            // The job may belong to another pack, and a process is not started for a job that no longer exists.
            if (!this.#jobs.some((job) => job.id === id && job.ended === undefined)) return false;
            const { message } = await this.#request("jobs/end", { id });
            return message.result === true;
          },
        },
      }),
      ...(skills.length > 0 && { skills: ownFiles(this.#options.entry, skills) }),
      ...(agents.length > 0 && { agents }),
      ...(diagnoses && {
        diagnose: async () => {
          const { message } = await this.#request("diagnose", {});
          return readDiagnoses(message.result, this.#options.name);
        },
      }),
    };
  }

  #command({ name, description }: { readonly name: string; readonly description: string }): PackCommand {
    return {
      name,
      description,
      run: async (input, signal) => {
        const frame = await this.#request("command", { name, input }, signal);
        const result = frame.raw?.toString() ?? frame.message.result;
        const { send, show } = Object(result) as { send?: unknown; show?: unknown };
        if (typeof show === "string") return { show };
        return { send: checkedContent(send, `the command /${name}`) };
      },
    };
  }

  /** Applies the changes of tools since the last request to the model, and asks the process for new ones. */
  refresh(late: PackRegistry): void {
    for (const { name, tool } of this.#toolChanges.splice(0)) this.#applyChange(late, name, tool);
    if (this.#current?.problem === undefined) this.#current?.notify("refresh", this.#news());
  }

  #applyChange(late: PackRegistry, name: string, found: ManifestTool | undefined): void {
    const known = this.#tools.get(name);
    const approved = this.#approved(name);
    // The description and the schema stay as they were approved: the model reads them as instructions.
    const isApproved = found && approved && toolDifference(approved, found) === undefined;
    const tool = isApproved ? approved : found;
    const isBack = isApproved && this.#refused.has(name);
    if (tool !== undefined && known !== undefined && isSameTool(known, tool) && !isBack) return;
    if (known !== undefined) {
      late.unregister(name);
      this.#tools.delete(name);
      this.#refused.delete(name);
    }
    if (tool === undefined) return;
    const { enabled, deferred } = tool;
    try {
      late.register(this.tool(name, tool), { ...FOREIGN, enabled, ...(deferred && { deferred }) });
    } catch (error) {
      this.#tools.delete(name);
      const text = `${name} could not be added: ${errorMessage(error)}`;
      if (this.#notices < MAX_NOTICES) this.#notice(text);
      return;
    }
    this.#withholdIfChanged(name, tool);
  }

  async #execute(
    tool: string,
    capabilities: readonly ToolCapability[],
    args: Record<string, unknown>,
    given: ToolCall | undefined,
  ): Promise<string> {
    const call = given ?? { signal: new AbortController().signal, onOutput: () => undefined };
    const { granted, contained, basis, wantsView } = call;
    const { calls } = this.#options.grants;
    const offers = ["attach", ...(calls ? ["callTool", "startAgent"] : [])].filter(
      (name) => call[name as "attach"] !== undefined,
    );
    let sent: number | undefined;
    const params = {
      ...{ tool, args, ...this.#news() },
      call: { granted, contained, basis, wantsView, offers },
    };
    try {
      const { message, raw } = await this.#request("execute", params, call.signal, (id) => {
        sent = id;
        this.#calls.set(id, { tool, capabilities, call, outputBytes: 0, events: 0 });
      });
      const text = raw?.toString() ?? message.result;
      if (typeof text !== "string") throw new Error(`The pack ${this.#options.name} returned no text.`);
      return text;
    } finally {
      if (sent !== undefined) this.#calls.delete(sent);
    }
  }

  async #request(
    method: string,
    params: Record<string, unknown>,
    signal?: AbortSignal,
    onSent?: (id: number) => void,
  ): Promise<Frame> {
    const process = await this.#start();
    clearTimeout(this.#idleTimer);
    if (method === "execute") await this.#checkApproved(process, String(params.tool), signal);
    const limit = signal ?? AbortSignal.timeout(ANSWER_LIMIT_MS);
    try {
      return await process.request(method, params, { signal: limit, ...(onSent && { onSent }) });
    } finally {
      this.#endWhenIdle(process);
    }
  }

  /** Throws if a tool is withheld: the call that started the process must not run it either. */
  async #checkApproved(process: PackProcess, tool: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#approved(tool)?.late && !this.#compared.has(tool)) {
      const { message } = await process.request("tool", { tool }, { signal });
      this.#withholdIfChanged(tool, readTool(tool, message.result));
      this.#compared.add(tool);
    }
    const refusal = this.#refused.get(tool);
    if (refusal !== undefined) throw new Error(refusal);
  }

  #endWhenIdle(process: PackProcess): void {
    if (!process.isIdle || this.#isDisposed) return;
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      if (!process.isIdle) return;
      if (this.#isWorking) {
        this.#endWhenIdle(process);
        return;
      }
      this.#process = undefined;
      void process.dispose();
    }, IDLE_MS);
    this.#idleTimer.unref();
  }

  /** Returns the running process, or starts one. */
  async #start(): Promise<PackProcess> {
    if (this.#isDisposed) throw new Error(`The pack ${this.#options.name} was stopped.`);
    const known = this.#process;
    if (known !== undefined) {
      const running = await known.catch(() => undefined);
      if (running !== undefined && running.problem === undefined) return running;
      // Another call may have started one in the meantime.
      if (this.#process !== known) return await this.#start();
    }
    const { inTurn = (start) => start() } = this.#options;
    this.#process = inTurn(() => this.#launch());
    return await this.#process;
  }

  async #launch(): Promise<PackProcess> {
    const { name, entry, grants, enclosure, loader, registerLimitMs = REGISTER_LIMIT_MS } = this.#options;
    const now = Date.now();
    this.#faults = this.#faults.filter((at) => now - at < FAULT_PERIOD_MS);
    if (this.#faults.length >= MAX_FAULTS) {
      throw new Error(
        `The pack ${name} failed ${MAX_FAULTS} times in ten minutes, the last time because ${this.#current?.problem ?? "it did not start"}. It is not started again for now.`,
      );
    }
    let launched: Launched;
    const policy = packPolicy({
      ...{ entry, runtime: runtimeFile(), loader, grants, workspace: this.#host?.directory ?? process.cwd() },
      projects: this.#host?.access?.writable ?? [],
      secretPaths: this.#host?.access?.secret ?? [],
    });
    try {
      const { program, userNamespace } = await enclosure();
      launched = await launch(policy, program, { userNamespace });
    } catch (error) {
      this.#faults.push(now);
      throw new Error(`The pack ${name} could not be isolated, so it does not run: ${errorMessage(error)}`);
    }
    const { stopGraceMs } = this.#options;
    const { memoryMb, programs } = policy;
    const limits = { memoryMb, programs, stopGraceMs };
    const isCurrent = (): boolean => this.#current === started;
    const started = new PackProcess(name, launched, this.#listener(isCurrent), limits);
    this.#current = started;
    this.#notices = 0;
    this.#stateBytes = 0;
    this.#questions = 0;
    this.#sentState = undefined;
    this.#sentModel = undefined;
    this.#compared.clear();
    if (this.#isDisposed) started.end("the agent ended");
    try {
      const found = readManifest(
        await started.init(
          { url: pathToFileURL(entry).href, host: this.#hostData(), ...loaderUrl(loader) },
          registerLimitMs,
        ),
      );
      this.#compare(found);
    } catch (error) {
      started.end("it did not register");
      throw new Error(`The pack ${name} did not register: ${errorMessage(error)}`);
    }
    return started;
  }

  /** Withholds tools that differ from what the user approved. New secrets and services are not registered at all. */
  #compare(found: PackManifest): void {
    const { manifest } = this.#options;
    for (const [tool, approved] of Object.entries(manifest.tools)) {
      // A late tool is compared when it is registered.
      if (this.#tools.has(tool) && !approved.late) this.#withholdIfChanged(tool, found.tools[tool]);
    }
    for (const [tool, described] of Object.entries(found.tools)) {
      const known = this.#tools.get(tool);
      // The tool is new, or an earlier process removed it. The schemas of all others stay as approved.
      if (known === undefined) this.#changeTool(tool, described);
    }
    this.#prompts = manifest.prompts.map((_, index) => found.prompts[index] ?? null);
  }

  #withholdIfChanged(tool: string, found: ManifestTool | undefined): void {
    const { name, review } = this.#options;
    const approved = this.#approved(tool);
    const difference = approved === undefined ? "it is new" : toolDifference(approved, found);
    if (difference === undefined) return;
    const hint = review === undefined ? "" : ` Review the change with: ${review}`;
    const reason = `The pack ${quote(name)} changed since you approved it: ${difference}.${hint}`;
    this.#refused.set(tool, reason);
    this.#registry.withhold?.(tool, reason);
  }

  /** A tool as the user approved it. Names that every object has, such as `constructor`, are not tools. */
  #approved(tool: string): ManifestTool | undefined {
    const { tools } = this.#options.manifest;
    return Object.hasOwn(tools, tool) ? tools[tool] : undefined;
  }

  #changeTool(name: string, tool?: ManifestTool): void {
    if (this.#toolChanges.length >= MAX_TOOL_CHANGES || this.#tools.size > MAX_TOOLS) {
      throw new Error(
        `it changed its tools more than ${MAX_TOOL_CHANGES} times, or has more than ${MAX_TOOLS}`,
      );
    }
    this.#toolChanges.push({ name, ...(tool && { tool }) });
  }

  #hostData(): Record<string, unknown> {
    const host = this.#host;
    const { protectedPaths, protectedNames, secretVariables, access, trusted, baseDirectory, directory } =
      host ?? {};
    return {
      ...this.#news(),
      writes: this.#options.grants.files === "write",
      options: host?.options,
      secrets: host?.secrets ?? {},
      data: { protectedPaths, protectedNames, secretVariables, access, trusted, baseDirectory, directory },
      offers: ["notice", "ask"].filter((name) => host?.[name as "notice"] !== undefined),
    };
  }

  /** Host state that has changed since the process was last notified. */
  #news(): { state?: unknown; model?: unknown } {
    const { state, model } = this.#host ?? {};
    const value = state?.get() ?? null;
    const stateText = JSON.stringify(value);
    const about = model
      ? { provider: model.provider, id: model.id, contextTokens: model.contextTokens }
      : null;
    const modelText = JSON.stringify(about);
    const news = {
      ...(stateText !== this.#sentState && { state: value }),
      ...(modelText !== this.#sentModel && { model: about }),
    };
    this.#sentState = stateText;
    this.#sentModel = modelText;
    return news;
  }

  /** Handles the messages of a process. One that is idle and still ending must not act for the next one. */
  #listener(isCurrent: () => boolean): Listener {
    return {
      notify: (method, params, raw) => {
        if (isCurrent()) this.#notified(method, Object(params), raw);
      },
      serve: async (method, params, raw, signal) => {
        if (!isCurrent()) throw new Error("the process is ending");
        return await this.#serve(method, Object(params), raw, signal);
      },
      isWorking: () => this.#isWorking,
      ended: (isFault) => {
        if (isFault) this.#faults.push(Date.now());
        if (!isCurrent()) return;
        this.#network.close();
        this.#jobs = this.#jobs.map((job) => ({ ended: "its process ended", ...job }));
      },
    };
  }

  get #isWorking(): boolean {
    return this.#jobs.some(({ ended }) => ended === undefined);
  }

  #notified(method: string, params: Record<string, unknown>, raw: Buffer | undefined): void {
    if (method === "event") this.#event(params, raw);
    else if (method === "state") this.#setState(params.value);
    else if (method === "fetch/end") this.#network.end(params.stream);
    else if (method === "notice") {
      const { message } = params;
      if (typeof message !== "string") throw new Error("it sent a notice without text");
      this.#notice(message);
    } else if (method === "withhold") this.#withhold(params);
    else if (method === "tools/add") {
      const name = String(params.name);
      this.#changeTool(name, readTool(name, params.tool));
    } else if (method === "tools/remove") this.#changeTool(String(params.name));
    else if (method === "prompts") this.#prompts = readPrompts(params.prompts);
    else if (method === "jobs") this.#jobs = readJobs(params.jobs);
    else if (method === "later/failed") {
      this.#notice(`${String(params.description)}: ${String(params.problem)}`);
    } else throw new Error(`it sent an unknown message ${quote(method.slice(0, 50))}`);
  }

  #notice(text: string): void {
    if (++this.#notices > MAX_NOTICES) throw new Error(`it sent more than ${MAX_NOTICES} notices`);
    this.#host?.notice?.(`${this.#options.name}: ${text.slice(0, MAX_NOTICE_CHARACTERS)}`);
  }

  #withhold({ name, reason }: Record<string, unknown>): void {
    if (typeof name !== "string" || !this.#tools.has(name)) return;
    if (this.#refused.has(name)) return;
    if (typeof reason === "string" && reason !== "") this.#registry.withhold?.(name, reason.slice(0, 500));
    else this.#registry.release?.(name);
  }

  #setState(value: unknown): void {
    this.#stateBytes += JSON.stringify(value ?? null).length;
    // Each change is written to the file of the session.
    if (this.#stateBytes > MAX_STATE_BYTES)
      throw new Error(`it set its state to ${MAX_STATE_BYTES} bytes in all`);
    try {
      this.#host?.state?.set(value ?? undefined);
      this.#sentState = JSON.stringify(value ?? null);
    } catch {
      // The request is too large. The runtime checks that, so this process is no longer running our runtime.
      throw new Error("it set a state that is too large");
    }
  }

  /** Handles an event of a call. Drops events that arrive after the call has finished. */
  #event({ id, type, data }: Record<string, unknown>, raw: Buffer | undefined): void {
    const open = typeof id === "number" ? this.#calls.get(id) : undefined;
    if (open === undefined) return;
    if (++open.events > MAX_EVENTS) throw new Error(`it sent more than ${MAX_EVENTS} events of one call`);
    const { call } = open;
    if (type === "output" && raw !== undefined) {
      open.outputBytes += raw.byteLength;
      if (open.outputBytes <= MAX_OUTPUT_BYTES) call.onOutput(raw.toString());
    } else if (type === "progress") call.progress?.(Object(data));
    else if (type === "report") call.report?.(Object(data));
    else if (type === "attach" && isRecord(data)) call.attach?.(attachedPart(data, raw ?? Buffer.alloc(0)));
  }

  async #serve(
    method: string,
    params: Record<string, unknown>,
    raw: Buffer | undefined,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (method === "fetch") return await this.#network.fetch(params, raw, signal);
    if (method === "fetch/read") return await this.#network.read(params.stream);
    if (method === "ask") return await this.#ask(params, signal);
    if (method === "hook/describe") return await this.#hookCalls.get(Number(params.id))?.describe();
    const open = typeof params.id === "number" ? this.#calls.get(params.id) : undefined;
    const { call } = open ?? {};
    if (open && call && (method === "files/write" || method === "files/mkdir")) {
      if (!this.#mayWrite(open)) throw new Error(`${open.tool} does not declare that it writes`);
      call.signal.throwIfAborted();
      if (method === "files/mkdir") return this.#files.makeDirectory(params, call);
      return await this.#files.write(params, raw ?? Buffer.alloc(0), call);
    }
    if (method === "callTool" && call?.callTool) {
      if (typeof params.name !== "string" || !isRecord(params.args))
        throw new Error("callTool takes (name, args)");
      this.#checkCalls(params.name);
      return await call.callTool(params.name, params.args);
    }
    if (method === "startAgent" && call?.startAgent && isRecord(params.request)) {
      this.#checkCalls("startAgent");
      return await call.startAgent(params.request as never);
    }
    throw new Error(`the host does not offer ${quote(method.slice(0, 50))} here`);
  }

  /** Whether a call may change files: the pack has that grant, and its approved tool declares it. */
  #mayWrite({ capabilities }: OpenCall): boolean {
    return this.#options.grants.files === "write" && capabilities.includes("write");
  }

  /** Other tools read and change what the user did not grant to this pack. */
  #checkCalls(what: string): void {
    if (this.#options.grants.calls) return;
    throw new Error(
      `the pack may not call ${quote(what)}. It must declare needs.calls, and you must approve that with agent pack update`,
    );
  }

  async #ask(question: Record<string, unknown>, signal: AbortSignal): Promise<unknown> {
    const { ask } = this.#host ?? {};
    const { message, fields = [], url } = question;
    if (!ask || typeof message !== "string" || !Array.isArray(fields)) throw new Error("no one can be asked");
    if (++this.#questions > MAX_QUESTIONS) throw new Error(`it asked more than ${MAX_QUESTIONS} questions`);
    return await ask({
      // Set by the host: a pack cannot impersonate another pack or the agent.
      source: `the pack ${this.#options.name}`,
      message: message.slice(0, 4000),
      fields: readFields(fields),
      ...(typeof url === "string" && { url }),
      signal,
    });
  }

  async #dispose(): Promise<void> {
    this.#isDisposed = true;
    clearTimeout(this.#idleTimer);
    this.#network.close();
    const started = await this.#process?.catch(() => undefined);
    await (started ?? this.#current)?.dispose();
  }
}

function isSameTool(one: ManifestTool, other: ManifestTool): boolean {
  const { late: _, ...left } = one;
  const { late: __, ...right } = other;
  return isDeepStrictEqual(left, right);
}

/** Skills with absolute paths. Prevents one from exposing another file of the user to the model. */
function ownFiles(entry: string, skills: readonly PackSkill[]): PackSkill[] {
  const root = packageRoot(entry);
  const { directories } = packageFiles(entry);
  return skills
    .map((skill) => ({ ...skill, file: resolve(root, skill.file) }))
    .filter(({ file }) => directories.some((directory) => isInside(directory, canonicalPath(file))));
}
