// The process that an isolated pack runs in: it registers the pack and serves its calls over the channel.
import { Socket } from "node:net";
import type { ToolResult } from "../tools/execution.js";
import type { PackHost, PackRegistry, PackServices, RegisterOptions, ToolPack } from "../tools/pack.js";
import type { ChildAgentAnswer, ExecutableTool, ToolCall } from "../tools/tool.js";
import { type PackManifest, PLAIN } from "./manifest.js";
import {
  CHANNEL_DESCRIPTOR,
  encodeFrame,
  FROM_PACK,
  type Frame,
  FrameReader,
  MAX_INLINE_CHARACTERS,
  type Message,
} from "./protocol.js";

const MAX_ERROR_CHARACTERS = 4000;
const MAX_STATE_BYTES = 64 * 1024;
const LONGEST_DEADLINE_MS = 2 ** 31 - 1;
const FETCH_CHUNK_METHOD = "fetch/read";
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

type Data = Record<string, unknown>;

interface Registered {
  readonly tool: ExecutableTool;
  readonly options: RegisterOptions;
}

const tools = new Map<string, Registered>();
const services: PackServices[] = [];
const unsupported = new Set<string>();
const running = new Map<number, AbortController>();
const asked = new Map<number, { resolve(frame: Frame): void; reject(error: Error): void }>();
let nextAsk = 1;
let isRegistered = false;
let state: unknown;
let model: PackHost["model"];
let manifest: Partial<Pick<PackManifest, "packName" | "secrets" | "needs">> = {};

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
    .finally(() => running.delete(id));
}

/** Long texts are sent as raw bytes. */
function answer(id: number, result: unknown): void {
  if (typeof result === "string" && result.length > MAX_INLINE_CHARACTERS) {
    const raw = Buffer.from(result);
    if (raw.byteLength > FROM_PACK.rawBytes) {
      fail(id, new Error(`the result has ${raw.byteLength} bytes, more than an isolated pack can return`));
    } else send({ id, result: null }, raw);
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

function fail(id: number, error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  const code = (error as { code?: unknown } | null)?.code;
  send({
    id,
    error: {
      message: message.slice(0, MAX_ERROR_CHARACTERS),
      ...(typeof code === "string" && { code: code.slice(0, 100) }),
    },
  });
}

function request(method: string, params: unknown, raw?: Uint8Array): Promise<Frame> {
  const ask = nextAsk++;
  return new Promise((resolve, reject) => {
    asked.set(ask, { resolve, reject });
    send({ ask, method, params }, raw);
  });
}

interface Serving {
  readonly id: number;
  readonly signal: AbortSignal;
}

const HANDLERS: Readonly<Record<string, (params: Data, serving: Serving) => unknown>> = {
  init: async ({ url, host }) => {
    await register(String(url), host as Data);
    return describePack();
  },
  parse: async ({ tool, args }) => problemOnly((await toolOf(tool).parseArguments?.(args as Data)) ?? {}),
  describe: async ({ tool, args, ...rest }, { signal }) => {
    update(rest);
    const one = toolOf(tool);
    const input = await parsed(one, args as Data);
    if (one.describeCall) return await one.describeCall(input, { signal });
    return { needs: one.findAccessNeeds?.(input) ?? [] };
  },
  preview: async ({ tool, args }, { signal }) => {
    const one = toolOf(tool);
    return await one.previewCall?.(await parsed(one, args as Data), { signal });
  },
  checkPattern: async ({ tool, pattern }) => await toolOf(tool).permissions?.check(String(pattern)),
  matchPatterns: async ({ tool, patterns, targets }) =>
    await toolOf(tool).permissions?.match(patterns as never, targets as never),
  execute: async ({ tool, args, call, ...rest }, serving) => {
    update(rest);
    const one = toolOf(tool);
    const text: unknown = await one.execute(await parsed(one, args as Data), toolCall(call as Data, serving));
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
  diagnose: async () => (await Promise.all(services.map(({ diagnose }) => diagnose?.() ?? []))).flat(),
  dispose: async () => {
    await Promise.all(services.map(async ({ dispose }) => await dispose?.()));
    // After the answer is sent.
    setImmediate(() => channel.end());
  },
};

function toolOf(name: unknown): ExecutableTool {
  const found = tools.get(String(name));
  if (!found) throw new Error(`the pack has no tool ${String(name)} any more.`);
  return found.tool;
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
        (await request("startAgent", { id, request: wanted })).message.result as ChildAgentAnswer,
    }),
  };
}

async function register(url: string, given: Data): Promise<void> {
  update(given);
  globalThis.fetch = hostFetch as typeof fetch;
  const imported: Data = await import(url);
  // Node does not detect the named exports of every CommonJS module; the default export then has all of them.
  const pack = (typeof imported.register === "function" ? imported : imported.default) as
    | ToolPack
    | undefined;
  if (typeof pack?.register !== "function") throw new Error("it has no named export register(registry).");
  const { packName, secrets = [], needs = {} } = pack;
  manifest = { ...(typeof packName === "string" && { packName }), secrets, needs };
  const returned: unknown = pack.register(registry, hostData(given));
  if (returned instanceof Promise) {
    throw new Error("register() returned a promise. It must register synchronously.");
  }
  isRegistered = true;
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
      ask: async ({ signal: _signal, ...question }) =>
        (await request("ask", question)).message.result as never,
    }),
  } as PackHost;
}

const registry: PackRegistry = {
  register(tool, options = {}) {
    if (isRegistered) {
      throw new Error("it registered a tool after register() returned, which an isolated pack cannot.");
    }
    if (tools.has(tool.name)) throw new Error(`it registered ${tool.name} twice.`);
    tools.set(tool.name, { tool, options });
    if (tool.redirect) unsupported.add("tools that stand for others");
  },
  unregister: (name) => void tools.delete(name),
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
  provide(given) {
    services.push(given);
    for (const name of ["hooks", "prompt", "jobs"] as const) {
      if (given[name] !== undefined) unsupported.add(UNSUPPORTED[name]);
    }
  },
  registerLater: () => void unsupported.add("tools that come later"),
  onRefresh: () => void unsupported.add("tools that change"),
};

const UNSUPPORTED = { hooks: "hooks", prompt: "prompt text", jobs: "background jobs" };

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
    unsupported: [...unsupported],
  };
}

function describeTool({ tool, options }: Registered): PackManifest["tools"][string] {
  const plain = Object.keys(PLAIN).filter((key) => INHERITED.includes(key));
  const { deadlineMs } = tool;
  const functions = [
    "parseArguments",
    "describeCall",
    "previewCall",
    "findAccessNeeds",
    "permissions",
  ] as const;
  return {
    ...Object.fromEntries(
      plain.flatMap((key) => {
        const value = tool[key as keyof ExecutableTool];
        return value === undefined ? [] : [[key, value]];
      }),
    ),
    ...(deadlineMs !== undefined && { deadlineMs: Math.min(deadlineMs, LONGEST_DEADLINE_MS) }),
    schema: tool.getSchema(),
    enabled: options.enabled !== false,
    capabilities: tool.capabilities ?? [],
    ...(options.deferred && { deferred: true as const }),
    functions: functions.filter((name) => tool[name] !== undefined),
  };
}

/** `fetch` through the host: this process has no network. */
async function hostFetch(input: string | URL | Request, init?: RequestInit): Promise<Response> {
  const wanted = new Request(input, init);
  wanted.signal.throwIfAborted();
  const body = wanted.body === null ? undefined : new Uint8Array(await wanted.arrayBuffer());
  const params = {
    url: wanted.url,
    method: wanted.method,
    headers: [...wanted.headers],
    redirect: wanted.redirect,
  };
  let frame: Frame;
  try {
    frame = await orAborted(request("fetch", params, body), wanted.signal);
  } catch (error) {
    if (wanted.signal.aborted) throw error;
    throw new TypeError(`fetch failed: ${(error as Error).message}`, { cause: error });
  }
  const found = frame.message.result as {
    status: number;
    statusText: string;
    headers: [string, string][];
    url: string;
    redirected: boolean;
    stream: number;
  };
  const end = (): void => send({ method: "fetch/end", params: { stream: found.stream } });
  const isEmpty = [101, 204, 205, 304].includes(found.status);
  if (isEmpty) end();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const chunk = await orAborted(request(FETCH_CHUNK_METHOD, { stream: found.stream }), wanted.signal);
        if (chunk.raw === undefined) controller.close();
        else controller.enqueue(new Uint8Array(chunk.raw));
      } catch (error) {
        end();
        controller.error(error);
      }
    },
    cancel: end,
  });
  const response = new Response(isEmpty ? null : stream, {
    status: found.status,
    statusText: found.statusText,
    headers: found.headers,
  });
  Object.defineProperties(response, { url: { value: found.url }, redirected: { value: found.redirected } });
  return response;
}

async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return await new Promise<T>((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
