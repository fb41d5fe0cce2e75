import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Writable } from "node:stream";
import type {
  AccessNeed,
  ContentPart,
  DescribedCall,
  JsonSchema,
  ToolCapability,
  ToolInfo,
  ToolRegistry,
  ToolResult,
} from "@agent/core";
import type { PreparedCall } from "@agent/core/host";
import {
  check,
  checkOptions,
  escapeInvisible,
  invalidArgument,
  isRecord,
  type OptionChecks,
  truncateMiddle,
} from "@agent/core/toolkit";
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ContentBlock,
  type InputRequiredResult,
  inputRequired,
  type McpServerFactory,
  Server,
  type ServerContext,
  type Tool,
} from "@modelcontextprotocol/server";
import { readVersion } from "../version.js";
import { type HttpOptions, type HttpServerHandle, listenHttp } from "./http.js";

const DEFAULT_CONFIRM_MS = 60_000;
const OPEN: readonly ToolCapability[] = ["execute", "network"];
const NO_VALUE = {
  type: "text",
  text: "[The result is too long to be sent as data. Ask for less.]",
} as const;

export interface McpServerOptions {
  /** The server's name for clients. Default `agent`. */
  readonly name?: string;
  /** Instructions about the tools for the client's model. */
  readonly instructions?: string;
  /** Decides about a call. Default: all are allowed. Access beyond the access rules is asked about in any case. */
  readonly decide?: (
    call: PreparedCall & { readonly description: DescribedCall },
  ) => CallDecision | Promise<CallDecision>;
  /** Milliseconds for the approval. Default 60,000. */
  readonly confirmTimeoutMs?: number;
  /** Which enabled tools are offered. Default: all but core's own. */
  readonly offer?: (tool: ToolInfo) => boolean;
}

/** `ask`: the call runs only after the client's user approved it. `deny` is the reason, which is sent to the client. */
export type CallDecision = "allow" | "ask" | { readonly deny: string };

const OPTIONS: OptionChecks<McpServerOptions> = {
  name: check.text,
  instructions: check.text,
  decide: check.function,
  confirmTimeoutMs: check.positive,
  offer: check.function,
};

/** A writable stream of Node, declared structurally, so that users need no Node types. */
interface StreamOutput {
  write(chunk: string | Uint8Array): boolean;
}

/** Tools served over MCP. */
export interface McpToolServer {
  /**
   * Serves the client on this process's standard input and output. Resolves when it has disconnected. `output` is for a
   * program that reserves standard output.
   */
  serveStdio(output?: StreamOutput): Promise<void>;
  /** Serves clients on HTTP: by default on loopback and with a token. */
  listen(options?: HttpOptions): Promise<HttpServerHandle>;
  /** Creates a server of the SDK, for your own transport. */
  readonly factory: McpServerFactory;
}

/**
 * Serves the enabled tools of a registry as an MCP server, in both eras of the protocol. A disabled tool is neither
 * listed nor run. Calls that need approval ask the client's user; if that is not possible, or takes too long, they are
 * denied.
 */
export function toMcpServer(registry: ToolRegistry, options: McpServerOptions = {}): McpToolServer {
  if (typeof registry?.prepare !== "function") throw invalidArgument("registry", "a ToolRegistry", registry);
  checkOptions("toMcpServer", options, OPTIONS);
  const confirmations = new Confirmations(options.confirmTimeoutMs ?? DEFAULT_CONFIRM_MS);
  const offer = options.offer ?? (({ source }) => source !== "@agent/core");
  const factory: McpServerFactory = () => {
    const server = new Server(
      { name: options.name ?? "agent", version: readVersion() },
      {
        capabilities: { tools: {} },
        ...(options.instructions !== undefined && { instructions: options.instructions }),
      },
    );
    server.setRequestHandler("tools/list", () => {
      registry.services.refresh();
      return { tools: listTools(registry, offer) };
    });
    server.setRequestHandler("tools/call", async ({ params }, context) => {
      const info = registry.describeTools().find(({ name }) => name === params.name);
      if (info !== undefined && !offer(info)) return failure(`Tool not available: ${params.name}`);
      const prepared = await registry.prepare(params.name, params.arguments ?? {});
      if ("outcome" in prepared) return failure(prepared.text);
      const schema = registry.describeTool(prepared.name)?.outputSchema;
      const described = await prepared.describe(context.mcpReq.signal);
      if (described.refusal !== undefined)
        return failure(`Error executing ${prepared.name}: ${described.refusal}`);
      const decision = (await options.decide?.({ ...prepared, description: described })) ?? "allow";
      if (typeof decision === "object") return failure(`Tool call denied: ${decision.deny}`);
      if (decision === "allow" && described.needs.length === 0)
        return await run(prepared, [], schema, context);
      const answer = canAsk(server, context) ? ask(prepared, confirmations, context) : "no";
      if (answer === "no") return failure("Tool call denied: no one approved it.");
      return answer === "yes" ? await run(prepared, described.needs, schema, context) : answer;
    });
    return server;
  };
  return {
    factory,
    serveStdio: async (given = process.stdout) => {
      const output = given as Writable;
      const { serveStdio, StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
      const transport = new StdioServerTransport(process.stdin, output, {
        maxBufferSize: 64 * 1024 * 1024,
      });
      const ended = new Promise<void>((resolve) => process.stdin.once("end", resolve).once("close", resolve));
      const handle = serveStdio(factory, { transport });
      await ended;
      await handle.close();
    },
    listen: (http = {}) => listenHttp(factory, http),
  };
}

function listTools(registry: ToolRegistry, offer: (tool: ToolInfo) => boolean): Tool[] {
  const offered = new Map(
    registry
      .describeTools()
      .filter((tool) => tool.enabled && offer(tool))
      .map((tool) => [tool.name, tool]),
  );
  return registry.getEnabledSchemas().flatMap(({ function: { name, description, parameters } }) => {
    const tool = offered.get(name);
    if (tool === undefined) return [];
    const { capabilities } = tool;
    const { outputSchema } = registry.describeTool(name) ?? {};
    const reads =
      capabilities.includes("read") && capabilities.every((one) => one === "read" || one === "network");
    return [
      {
        name,
        ...(description !== undefined && { description }),
        inputSchema: { properties: {}, ...parameters, type: "object" as const },
        ...(isObjectSchema(outputSchema) && { outputSchema }),
        // A tool that writes may overwrite: only one that reads destroys nothing.
        annotations: {
          readOnlyHint: reads,
          destructiveHint: !reads,
          openWorldHint: capabilities.length === 0 || capabilities.some((one) => OPEN.includes(one)),
        },
      },
    ];
  });
}

/** MCP has only objects as structured content. */
function isObjectSchema(schema: JsonSchema | undefined): schema is JsonSchema & { type: "object" } {
  return schema?.type === "object";
}

function ask(prepared: PreparedCall, confirmations: Confirmations, { mcpReq }: ServerContext) {
  const state: unknown = mcpReq.requestState();
  return confirmations.check(prepared, mcpReq.inputResponses, typeof state === "string" ? state : undefined);
}

/** Whether the client can ask its user a question. */
function canAsk(server: Server, { mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = { ...mcpReq.envelope };
  const capabilities = envelope[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  return typeof capabilities === "object" && capabilities !== null && "elicitation" in capabilities;
}

async function run(
  prepared: PreparedCall,
  granted: readonly AccessNeed[],
  outputSchema: JsonSchema | undefined,
  { mcpReq }: ServerContext,
): Promise<CallToolResult | InputRequiredResult> {
  const progressToken = mcpReq._meta?.progressToken;
  let progress = 0;
  const tell = ({ message, total }: { message?: string | undefined; total?: number | undefined }): void => {
    if (progressToken === undefined) return;
    const told = { ...(message !== undefined && { message }), ...(total !== undefined && { total }) };
    const params = { progressToken, progress: ++progress, ...told };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  const result = await prepared.run({
    signal: mcpReq.signal,
    granted,
    onOutput: (message) => tell({ message }),
    progress: ({ message, total }) => tell({ message, total }),
  });
  return toResult(result, outputSchema);
}

function toResult(
  { text, parts = [], outcome, value }: ToolResult,
  outputSchema: JsonSchema | undefined,
): CallToolResult {
  const content = [{ type: "text" as const, text }, ...parts.map(toBlock)];
  if (outcome !== "ok") return { content, isError: true };
  if (isRecord(value)) return { content, structuredContent: value };
  // A client refuses a result without the data that the tool's schema promises.
  if (isObjectSchema(outputSchema)) return { content: [...content, NO_VALUE], isError: true };
  return { content };
}

function toBlock(part: ContentPart, index: number): ContentBlock {
  if (part.type === "text") return { type: "text", text: part.text };
  const { mediaType, data, name } = part;
  if (part.type === "image") return { type: "image", data, mimeType: mediaType };
  if (mediaType.startsWith("audio/")) return { type: "audio", data, mimeType: mediaType };
  return {
    type: "resource",
    resource: { uri: `attachment:${index}/${name ?? "file"}`, blob: data, mimeType: mediaType },
  };
}

function failure(text: string): CallToolResult {
  return { content: [{ type: "text", text }], isError: true };
}

const KEY = "confirm";
const MAX_SHOWN_BYTES = 16 * 1024;

/** The answer of the client's user, or the question to ask them. */
type Confirmation = "yes" | "no" | InputRequiredResult;

/**
 * Asks the client's user before a call. The question contains a signed state with the call and its expiry, so that an
 * approval is valid for this call only, once and in time: revision 2026-07-28 has no connection that could remember it.
 */
export class Confirmations {
  readonly #secret = randomBytes(32);
  readonly #timeoutMs: number;
  /** The answered states that have not expired, each with its expiry. */
  readonly #answered = new Map<string, number>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  check(
    call: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
    responses: Record<string, unknown> | undefined,
    state: string | undefined,
  ): Confirmation {
    const subject = JSON.stringify([call.name, call.args]);
    if (responses === undefined) return this.#ask(subject, call);
    if (state === undefined || !this.#isValid(subject, state) || !this.#isFirst(state)) return "no";
    return acceptedContent(responses, KEY)?.allow === true ? "yes" : "no";
  }

  #ask(
    subject: string,
    { name, args }: { readonly name: string; readonly args: Readonly<Record<string, unknown>> },
  ) {
    const shown = truncateMiddle(escapeInvisible(JSON.stringify(args, undefined, 2)), MAX_SHOWN_BYTES);
    return inputRequired({
      requestState: this.#state(subject, Date.now() + this.#timeoutMs, randomBytes(8).toString("hex")),
      inputRequests: {
        [KEY]: inputRequired.elicit({
          mode: "form",
          message: `Allow ${name}?\n${shown}`,
          requestedSchema: {
            type: "object",
            properties: { allow: { type: "boolean", title: `Allow ${name}`, default: false } },
            required: ["allow"],
          },
        }),
      },
    });
  }

  #state(subject: string, end: number, question: string): string {
    const signature = createHmac("sha256", this.#secret)
      .update(`${end}\0${question}\0${subject}`)
      .digest("hex");
    return `${end}.${question}.${signature}`;
  }

  #isValid(subject: string, state: string): boolean {
    const [end, question = ""] = state.split(".");
    if (!(Number(end) > Date.now())) return false;
    const [given, wanted] = [Buffer.from(state), Buffer.from(this.#state(subject, Number(end), question))];
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  }

  /** Whether the question was not answered before: a request that is sent twice runs the call once. */
  #isFirst(state: string): boolean {
    for (const [answered, end] of this.#answered) {
      if (end > Date.now()) break;
      this.#answered.delete(answered);
    }
    if (this.#answered.has(state)) return false;
    this.#answered.set(state, Number(state.split(".")[0]));
    return true;
  }
}
