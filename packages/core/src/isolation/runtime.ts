// The process that an isolated pack runs in: it registers the pack and serves its calls over the channel.
import { AsyncLocalStorage } from "node:async_hooks";
import { Socket } from "node:net";
import { LONGEST_TIMER_MS } from "@agent/internal";
import type { CallHooks } from "../loop/hooks.js";
import type { ToolResult } from "../tools/execution.js";
import type {
  LoadTools,
  PackHost,
  PackPrompt,
  PackRegistry,
  PackServices,
  RegisterOptions,
  ToolPack,
} from "../tools/pack.js";
import { checkPack } from "../tools/registerPack.js";
import { checkServices, HOOKS } from "../tools/services.js";
import type { ChildAgentAnswer, ExecutableTool, ToolCall } from "../tools/tool.js";
import { FUNCTIONS, type ManifestTool, type PackManifest, PLAIN } from "./manifest.js";
import {
  CHANNEL_DESCRIPTOR,
  encodeFrame,
  FROM_PACK,
  type Frame,
  FrameReader,
  MAX_INLINE_CHARACTERS,
  MAX_MANIFEST_BYTES,
  type Message,
} from "./protocol.js";
import { createFetch, orAbortReason } from "./runtimeFetch.js";
import { writeThroughHost } from "./runtimeFiles.js";

const MAX_ERROR_CHARACTERS = 4000;
const MAX_STATE_BYTES = 64 * 1024;
const JOBS_CHECK_MS = 1000;
const MAX_JOBS = 64;
const MAX_TEXT = 1000;
/** More than core adds to the system prompt. */
const MAX_PROMPT_CHARACTERS = 16 * 1024;
const INHERITED = [
  "kind",
  "titleFrom",
  "pathArguments",
  "insteadOf",
  "freeform",
  "outputSchema",
  "repeatable",
  "describeLimitMs",
];

const NO_WRITES =
  ". In its own process a pack changes files of the project with the asynchronous writeFile, appendFile and mkdir, in a call of a tool that declares write, or with call.callTool.";

type Data = Record<string, unknown>;

interface Registered {
  readonly tool: ExecutableTool;
  readonly options: RegisterOptions;
}

const tools = new Map<string, Registered>();
const services: PackServices[] = [];
/** Tools that the pack announced for later. */
const later: { readonly description: string; readonly done: Promise<void>; problem?: string }[] = [];
const announced: { readonly description: string; readonly load: LoadTools }[] = [];
const refreshers: ((registry: PackRegistry) => void)[] = [];
const ended = new AbortController();
/** The number of the running call. Its file changes were approved with it. */
const currentCall = new AsyncLocalStorage<number>();
const running = new Map<number, AbortController>();
const asked = new Map<number, { resolve(frame: Frame): void; reject(error: Error): void }>();
let nextAsk = 1;
let isRegistered = false;
let state: unknown;
let model: PackHost["model"];
let manifest: Partial<Pick<PackManifest, "packName" | "secrets" | "needs">> = {};
let sentJobs = "[]";
let sentPrompts = "";
let jobsTimer: NodeJS.Timeout | undefined;

const channel = new Socket({ fd: CHANNEL_DESCRIPTOR, readable: true, writable: true });
const reader = new FrameReader({ jsonBytes: Number.POSITIVE_INFINITY, rawBytes: Number.POSITIVE_INFINITY });
channel.on("data", (chunk: Buffer) => {
  for (const frame of reader.read(chunk)) receive(frame);
});
// The host has exited or no longer needs this process.
channel.on("close", () => process.exit(0));
channel.on("error", () => process.exit(0));
// A late failure of a finished call must not stop the others.
process.on("unhandledRejection", (error) => process.stderr.write(`${String(error)}\n`));

function send(message: Message, raw?: Uint8Array): void {
  channel.write(encodeFrame(message, raw));
}

function receive(frame: Frame): void {
  const { id, ask, method, params } = frame.message;
  if (ask !== undefined) {
    const waiting = asked.get(ask);
    asked.delete(ask);
    const { error } = frame.message;
    if (error === undefined) waiting?.resolve(frame);
    else waiting?.reject(Object.assign(new Error(error.message), error.code && { code: error.code }));
    return;
  }
  if (method === "cancel") {
    running.get((params as { id: number }).id)?.abort();
    return;
  }
  if (method === "refresh") {
    refresh(params as Data);
    return;
  }
  if (id === undefined || method === undefined) return;
  const handler = HANDLERS[method];
  const controller = new AbortController();
  running.set(id, controller);
  Promise.resolve()
    .then(() => handler?.(params as Data, { id, signal: controller.signal }))
    .then(
      (result) => answer(id, result),
      (error: unknown) => fail(id, error),
    )
    .finally(() => {
      running.delete(id);
      if (isRegistered) pushJobs();
    });
}

/** What a pack registers. It may be too long for a message. */
class Manifest {
  constructor(readonly value: unknown) {}
}

/** A decision of a hook whose text is too long for a message. */
class LongDecision {
  constructor(
    readonly key: string,
    readonly text: string,
  ) {}
}

/** Long texts are sent as raw bytes. */
function answer(id: number, result: unknown): void {
  if (result instanceof Manifest) {
    answerManifest(id, result.value);
    return;
  }
  const [text, about] = result instanceof LongDecision ? [result.text, result.key] : [result, null];
  if (typeof text === "string" && text.length > MAX_INLINE_CHARACTERS) {
    const raw = Buffer.from(text);
    if (raw.byteLength > FROM_PACK.rawBytes) {
      fail(id, new Error(`the result has ${raw.byteLength} bytes, more than an isolated pack can return`));
    } else send({ id, result: about }, raw);
    return;
  }
  const message = { id, ...(result !== undefined && { result }) };
  let bytes: number;
  try {
    bytes = Buffer.byteLength(JSON.stringify(message));
  } catch (error) {
    fail(id, error);
    return;
  }
  if (bytes > FROM_PACK.jsonBytes)
    fail(id, new Error(`it returned ${bytes} bytes of JSON, which is too much`));
  else send(message);
}

function answerManifest(id: number, manifest: unknown): void {
  try {
    const raw = Buffer.from(JSON.stringify(manifest));
    if (raw.byteLength <= MAX_MANIFEST_BYTES) send({ id }, raw);
    else
      fail(
        id,
        new Error(
          `its tools and services have ${raw.byteLength} bytes of JSON, more than ${MAX_MANIFEST_BYTES}`,
        ),
      );
  } catch (error) {
    fail(id, error);
  }
}

function fail(id: number, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  const advice = code === "EROFS" ? NO_WRITES : "";
  send({
    id,
    error: {
      message: `${message.slice(0, MAX_ERROR_CHARACTERS)}${advice}`,
      ...(typeof code === "string" && { code: code.slice(0, 100) }),
    },
  });
}

/** Throws for a message for which the host would kill this process. */
function checkSize(method: string, params: unknown, raw: Uint8Array | undefined): void {
  const bytes = Buffer.byteLength(JSON.stringify(params) ?? "");
  const isTooLong = bytes > FROM_PACK.jsonBytes - 1024;
  if (!isTooLong && (raw?.byteLength ?? 0) <= FROM_PACK.rawBytes) return;
  const [got, most] = isTooLong ? [bytes, FROM_PACK.jsonBytes] : [raw?.byteLength, FROM_PACK.rawBytes];
  throw new Error(`${method} has ${got} bytes. An isolated pack can pass ${most} to the agent.`);
}

/** Sends a request to the host. An abort rejects and cancels it; an answer that comes later goes to `onLate`. */
async function request(
  method: string,
  params: unknown,
  {
    raw,
    signal,
    onLate,
  }: { raw?: Uint8Array | undefined; signal?: AbortSignal; onLate?(frame: Frame): void } = {},
): Promise<Frame> {
  signal?.throwIfAborted();
  checkSize(method, params, raw);
  const ask = nextAsk++;
  const answered = new Promise<Frame>((resolve, reject) => {
    asked.set(ask, { resolve, reject });
    send({ ask, method, params }, raw);
  });
  if (signal === undefined) return await answered;
  try {
    return await orAbortReason(answered, signal);
  } catch (error) {
    if (asked.has(ask)) {
      send({ method: "cancel", params: { ask } });
      answered.then(onLate, () => undefined);
    }
    throw error;
  }
}

interface Serving {
  readonly id: number;
  readonly signal: AbortSignal;
}

const HANDLERS: Readonly<Record<string, (params: Data, serving: Serving) => unknown>> = {
  init: async ({ url, host, loader }) => {
    await register(String(url), host as Data, loader);
    setImmediate(loadLater);
    return new Manifest(describePack());
  },
  /** All late tools, once they have loaded. */
  loaded: async () => {
    await Promise.all(later.map(({ done }) => done));
    return new Manifest({
      tools: Object.fromEntries([...tools].map(([name, entry]) => [name, describeTool(entry)])),
      late: later.map(({ description, problem }) => ({ description, ...(problem && { problem }) })),
    });
  },
  /** One late tool, once it has loaded. */
  tool: async ({ tool }) => {
    await toolOf(tool);
    const entry = tools.get(String(tool));
    return entry && describeTool(entry);
  },
  parse: async ({ tool, args }) => {
    const one = await toolOf(tool);
    return problemOnly((await one.parseArguments?.(args as Data)) ?? {});
  },
  redirect: async ({ tool, args }) => {
    const one = await toolOf(tool);
    return await one.redirect?.(args as Data);
  },
  describe: async ({ tool, args, ...rest }, { signal }) => {
    update(rest);
    const one = await toolOf(tool);
    const input = await parsed(one, args as Data);
    if (one.describeCall) return await one.describeCall(input, { signal });
    return { needs: one.findAccessNeeds?.(input) ?? [] };
  },
  preview: async ({ tool, args }, { signal }) => {
    const one = await toolOf(tool);
    return await one.previewCall?.(await parsed(one, args as Data), { signal });
  },
  checkPattern: async ({ tool, pattern }) => {
    const { permissions } = await toolOf(tool);
    return await permissions?.check(String(pattern));
  },
  matchPatterns: async ({ tool, patterns, targets }) => {
    const { permissions } = await toolOf(tool);
    return await permissions?.match(patterns as never, targets as never);
  },
  execute: async ({ tool, args, call, ...rest }, serving) => {
    update(rest);
    const one = await toolOf(tool);
    const text: unknown = await currentCall.run(serving.id, async () =>
      one.execute(await parsed(one, args as Data), toolCall(call as Data, serving)),
    );
    if (typeof text !== "string") throw new Error(`it returned ${typeof text} instead of a string.`);
    return text;
  },
  command: async ({ name, input }, { signal }) => {
    const command = services.flatMap(({ commands = [] }) => commands).find((one) => one.name === name);
    return await command?.run(String(input), signal);
  },
  "mentions/list": async ({ source, query }, { signal }) =>
    await mentionSource(source)?.list(String(query), signal),
  "mentions/read": async ({ source, id }, { signal }) =>
    await mentionSource(source)?.read(String(id), signal),
  hook: async ({ hook, method, event, result, ...rest }, serving) => {
    update(rest);
    return await askHook(Number(hook), String(method), event as Data, result, serving);
  },
  "jobs/end": async ({ id }) => {
    for (const { jobs } of services) if (await jobs?.end(String(id))) return true;
    return false;
  },
  diagnose: async () => (await Promise.all(services.map(({ diagnose }) => diagnose?.() ?? []))).flat(),
  dispose: async () => {
    ended.abort();
    await Promise.all(services.map(async ({ dispose }) => await dispose?.()));
    // After the answer is sent.
    setImmediate(() => channel.end());
  },
};

/** A tool by its name. Waits for it if it is still loading. */
async function toolOf(name: unknown): Promise<ExecutableTool> {
  if (!tools.has(String(name))) await Promise.all(later.map(({ done }) => done));
  const found = tools.get(String(name));
  if (found) return found.tool;
  const failed = later.flatMap(({ description, problem }) => (problem ? [`${description}: ${problem}`] : []));
  const reason = failed.length === 0 ? "" : ` Not everything could be loaded: ${failed.join("; ")}`;
  throw new Error(`the pack has no tool ${String(name)} now.${reason}`);
}

/** Loads the tools that the pack announced with `registerLater`, and reports each when it has loaded. */
function loadLater(): void {
  for (const { description, load } of announced.splice(0)) {
    const one: (typeof later)[number] = {
      description,
      done: Promise.resolve()
        .then(() => load(lateRegistry, ended.signal))
        .catch((error: unknown) => {
          one.problem = (error instanceof Error ? error.message : String(error)).slice(0, MAX_TEXT);
          send({ method: "later/failed", params: { description, problem: one.problem } });
        }),
    };
    later.push(one);
  }
}

/** Updates tools and prompt text. The host calls it before a request to the model. */
function refresh(news: Data): void {
  update(news);
  for (const one of refreshers) {
    try {
      one(lateRegistry);
    } catch {
      // Its tools are unchanged, as for packs in the process of the host.
    }
  }
  const prompts = promptTexts();
  const text = JSON.stringify(prompts);
  if (text === sentPrompts) return;
  sentPrompts = text;
  send({ method: "prompts", params: { prompts } });
}

/** The texts for the system prompt, one per function; `null` if it returns none now. */
function promptTexts(): (PackPrompt | null)[] {
  return services.flatMap(({ prompt }) => {
    if (prompt === undefined) return [];
    try {
      const given = prompt();
      if (given === undefined) return [null];
      const { title, text } = given;
      return [
        { title: String(title).slice(0, MAX_TEXT), text: String(text).slice(0, MAX_PROMPT_CHARACTERS) },
      ];
    } catch {
      return [null];
    }
  });
}

/** Reports the background work if it changed, and repeats that while some of it runs. */
function pushJobs(): void {
  const all = services.flatMap(({ jobs }) => jobs?.list() ?? []);
  const list = all.slice(-MAX_JOBS).map(({ id, command, startedAt, ended: how }) => ({
    ...{ id: String(id).slice(0, MAX_TEXT), command: String(command).slice(0, MAX_TEXT), startedAt },
    ...(how !== undefined && { ended: String(how).slice(0, MAX_TEXT) }),
  }));
  const text = JSON.stringify(list);
  if (text !== sentJobs) {
    sentJobs = text;
    send({ method: "jobs", params: { jobs: list } });
  }
  const isRunning = list.some((job) => !("ended" in job));
  if (!isRunning) {
    clearInterval(jobsTimer);
    jobsTimer = undefined;
  } else jobsTimer ??= setInterval(pushJobs, JOBS_CHECK_MS).unref();
}

function hooksOf(): readonly CallHooks[] {
  return services.flatMap(({ hooks }) => hooks ?? []);
}

async function askHook(
  index: number,
  method: string,
  event: Data,
  result: unknown,
  { id, signal }: Serving,
): Promise<unknown> {
  const hooks = hooksOf()[index] as Record<string, unknown> | undefined;
  const run = hooks?.[method];
  if (typeof run !== "function") throw new Error(`the pack has no hook ${method} any more.`);
  const given = {
    ...event,
    signal,
    ...(method.endsWith("Call") || method === "beforeRun"
      ? { describe: async () => (await request("hook/describe", { id }, { signal })).message.result }
      : {}),
  };
  const decision: unknown = await run.call(hooks, given, result);
  for (const [key, text] of Object.entries(Object(decision) as Data)) {
    if (typeof text === "string" && text.length > MAX_INLINE_CHARACTERS) return new LongDecision(key, text);
  }
  return decision;
}

function mentionSource(name: unknown) {
  return services.flatMap(({ mentions = [] }) => mentions).find((one) => one.name === name);
}

/** Parsed values may be dates or class instances: they stay here, and `execute` parses again. */
async function parsed(tool: ExecutableTool, args: Data): Promise<Data> {
  const found = (await tool.parseArguments?.(args)) ?? { value: args };
  if ("problem" in found) throw new Error(found.problem);
  return found.value;
}

function problemOnly(found: object): unknown {
  return "problem" in found ? { problem: found.problem } : {};
}

/** Host state that has changed since the last call. */
function update(news: Data): void {
  if ("state" in news) state = news.state ?? undefined;
  if ("model" in news) model = (news.model as PackHost["model"]) ?? undefined;
}

function toolCall(given: Data, { id, signal }: Serving): ToolCall {
  const event = (type: string, data: unknown, raw?: Uint8Array): void =>
    send({ method: "event", params: { id, type, data } }, raw);
  const { granted, contained, basis, wantsView, offers } = given as Partial<ToolCall> & { offers: string[] };
  return {
    signal,
    ...(granted && { granted }),
    ...(contained !== undefined && { contained }),
    ...(basis !== undefined && { basis }),
    ...(wantsView !== undefined && { wantsView }),
    onOutput: (chunk) => event("output", null, Buffer.from(String(chunk))),
    onProcess: () => undefined,
    progress: (progress) => event("progress", progress),
    report: (status) => {
      const bytes = Buffer.byteLength(JSON.stringify(status));
      // Core drops such a value as well.
      event(
        "report",
        bytes > FROM_PACK.jsonBytes - 1024 ? { ...status, value: undefined, view: undefined } : status,
      );
    },
    ...(offers.includes("attach") && {
      attach: (part) => {
        const { type } = part;
        const raw = type === "text" ? Buffer.from(part.text) : Buffer.from(part.data, "base64");
        if (raw.byteLength > FROM_PACK.rawBytes) {
          throw new Error(`an isolated pack can attach ${FROM_PACK.rawBytes} bytes, got ${raw.byteLength}.`);
        }
        const { data: _data, text: _text, ...about } = part as unknown as Data;
        event("attach", about, raw);
      },
    }),
    ...(offers.includes("callTool") && {
      callTool: async (name, args) =>
        (await request("callTool", { id, name, args })).message.result as ToolResult,
    }),
    ...(offers.includes("startAgent") && {
      startAgent: async (wanted) =>
        (await request("startAgent", { id, request: wanted })).message.result as ChildAgentAnswer<never>,
    }),
  };
}

async function register(url: string, given: Data, loader: unknown): Promise<void> {
  update(given);
  globalThis.fetch = createFetch(request, send);
  if (given.writes === true) {
    writeThroughHost((method, params, raw) => {
      const id = currentCall.getStore();
      if (id === undefined) return undefined;
      return request(method, { id, ...params }, { raw }).then(({ message }) => message.result ?? undefined);
    });
  }
  const imported: Data = await importModule(url, loader);
  // Node does not detect the named exports of every CommonJS module; the default export then has all of them.
  const pack = (typeof imported.register === "function" ? imported : imported.default) as
    | ToolPack
    | undefined;
  if (typeof pack?.register !== "function") throw new Error("it has no named export register(registry).");
  checkPack(pack);
  const { packName, secrets = [], needs = {} } = pack;
  manifest = { ...(typeof packName === "string" && { packName }), secrets, needs };
  const returned: unknown = pack.register(registry, hostData(given));
  if (returned instanceof Promise) {
    throw new Error("register() returned a promise. It must register synchronously.");
  }
  isRegistered = true;
}

interface Jiti {
  createJiti(url: string, options: { fsCache: boolean }): { import(url: string): Promise<Data> };
}

/** Imports a module. `loader` is the URL of jiti, for a pack in TypeScript. */
async function importModule(url: string, loader: unknown): Promise<Data> {
  if (typeof loader !== "string") return await import(url);
  const { createJiti } = (await import(loader)) as Jiti;
  return await createJiti(url, { fsCache: false }).import(url);
}

function hostData({ options, secrets, data, offers }: Data): PackHost {
  const can = offers as string[];
  return {
    ...(data as Partial<PackHost>),
    // The conversation is not sent to the pack.
    context: { systemPrompt: "", sessionContext: [] } as unknown as PackHost["context"],
    options,
    secrets: secrets as Readonly<Record<string, string>>,
    get model() {
      return model;
    },
    state: {
      get: () => (state === undefined ? undefined : structuredClone(state)),
      set: (value) => {
        const json = JSON.stringify(value);
        if (value !== undefined && json === undefined) {
          throw new Error(`The state was not changed: it must be a JSON value, got ${typeof value}.`);
        }
        if (json !== undefined && Buffer.byteLength(json) > MAX_STATE_BYTES) {
          throw new Error(`The state was not changed: at most ${MAX_STATE_BYTES} bytes of JSON are kept.`);
        }
        state = json === undefined ? undefined : JSON.parse(json);
        send({ method: "state", params: { value: state ?? null } });
      },
    },
    ...(can.includes("notice") && {
      notice: (message) => send({ method: "notice", params: { message: String(message).slice(0, 1000) } }),
    }),
    ...(can.includes("ask") && {
      ask: async ({ signal, ...question }) =>
        (await request("ask", question, { signal })).message.result as never,
    }),
  } as PackHost;
}

const registry: PackRegistry = {
  register(tool, options = {}) {
    if (isRegistered) {
      throw new Error(
        "it registered a tool after register() returned. Use registerLater for tools that take time.",
      );
    }
    addTool(tool, options);
  },
  unregister(name) {
    if (tools.delete(name) && isRegistered) send({ method: "tools/remove", params: { name } });
  },
  enable: (name) => {
    throw new Error(`It tried to enable ${name}. Only the user enables a tool that is off.`);
  },
  disable: (name) => registry.withhold?.(name, "its pack turned it off") ?? false,
  withhold(name, reason) {
    if (tools.has(name)) send({ method: "withhold", params: { name, reason } });
    return tools.has(name);
  },
  release(name) {
    if (tools.has(name)) send({ method: "withhold", params: { name } });
    return tools.has(name);
  },
  hasTool: (name) => tools.has(name),
  isToolEnabled: (name) => tools.get(name)?.options.enabled !== false && tools.has(name),
  getToolNames: () => [...tools.keys()],
  claimSecrets: () => ({}),
  hostFor: () => ({}),
  provide: (given) => {
    // The host sees only a part of it: a hook with a misspelt name would let every call pass.
    checkServices(given);
    services.push(given);
  },
  registerLater(description, load) {
    announced.push({ description: String(description).slice(0, MAX_TEXT), load });
    if (isRegistered) loadLater();
  },
  onRefresh: (update) => void refreshers.push(update),
};

/** The registry for tools that are registered after `register` has returned. */
const lateRegistry: PackRegistry = {
  ...registry,
  register(tool, options = {}) {
    const described = addTool(tool, options);
    const params = { name: tool.name, tool: described };
    if (Buffer.byteLength(JSON.stringify(params)) > FROM_PACK.jsonBytes - 1024) {
      tools.delete(tool.name);
      throw new Error(`the schema of ${tool.name} is too large for an isolated pack.`);
    }
    send({ method: "tools/add", params });
  },
};

function addTool(tool: ExecutableTool, options: RegisterOptions): ManifestTool {
  if (tools.has(tool.name)) throw new Error(`it registered ${tool.name} twice.`);
  const entry = { tool, options };
  const described = describeTool(entry);
  tools.set(tool.name, entry);
  return described;
}

function describePack(): PackManifest {
  return {
    ...(manifest.packName !== undefined && { packName: manifest.packName }),
    secrets: manifest.secrets ?? [],
    needs: manifest.needs ?? {},
    tools: Object.fromEntries([...tools].map(([name, entry]) => [name, describeTool(entry)])),
    commands: services.flatMap(({ commands = [] }) =>
      commands.map(({ name, description }) => ({ name, description })),
    ),
    mentions: services.flatMap(({ mentions = [] }) => mentions.map(({ name }) => name)),
    skills: services.flatMap(({ skills = [] }) => skills),
    agents: services.flatMap(({ agents = [] }) => agents),
    diagnoses: services.some(({ diagnose }) => diagnose !== undefined),
    prompts: firstPrompts(),
    hooks: hooksOf().map((hooks) => ({
      ...(hooks.timeoutMs !== undefined && { timeoutMs: Math.min(hooks.timeoutMs, LONGEST_TIMER_MS) }),
      methods: HOOKS.filter((method) => typeof hooks[method] === "function"),
    })),
    jobs: services.some(({ jobs }) => jobs !== undefined),
    late: announced.map(({ description }) => ({ description })),
  };
}

function firstPrompts(): (PackPrompt | null)[] {
  const prompts = promptTexts();
  sentPrompts = JSON.stringify(prompts);
  return prompts;
}

function describeTool({ tool, options }: Registered): PackManifest["tools"][string] {
  const plain = Object.keys(PLAIN).filter((key) => INHERITED.includes(key));
  const { deadlineMs } = tool;
  return {
    ...Object.fromEntries(
      plain.flatMap((key) => {
        const value = tool[key as keyof ExecutableTool];
        return value === undefined ? [] : [[key, value]];
      }),
    ),
    ...(deadlineMs !== undefined && { deadlineMs: Math.min(deadlineMs, LONGEST_TIMER_MS) }),
    schema: tool.getSchema(),
    enabled: options.enabled !== false,
    capabilities: tool.capabilities ?? [],
    ...(options.deferred && { deferred: true as const }),
    functions: FUNCTIONS.filter((name) => tool[name] !== undefined),
  };
}
