import type { Content, ContentPart, MentionItem, ToolCall, ToolProgress } from "@agent/core";
import { compileSchema, escapeToLine, isRecord, truncateUtf8 } from "@agent/core/toolkit";
import type { LockedTool } from "../lock/lock.js";
import type { SpillDirectory } from "../results/spill.js";
import { blockParts, boundedParts, resourceText, resultText } from "../results/toolResult.js";
import type { Progress } from "./protocolClient.js";
import type { ServerConnection } from "./serverConnection.js";

// One resource may return several contents, such as those of a directory.
const MAX_CONTENTS = 100;

/** The operations of a server, in the form the agent needs: results as text, prompts and resources as content. */
export class ServerUse {
  readonly #connection: ServerConnection;
  readonly #spill: SpillDirectory;

  constructor(connection: ServerConnection, spill: SpillDirectory) {
    this.#connection = connection;
    this.#spill = spill;
  }

  get differing(): readonly string[] {
    return this.#connection.differing;
  }

  /** Applies a new approval. */
  reconsider(): void {
    // It never rejects.
    void this.#connection.reconsider();
  }

  /** Calls a tool; resolves to its result as text, with images and files attached to the call. */
  async callTool(tool: LockedTool, args: Record<string, unknown>, call?: ToolCall): Promise<string> {
    const result = await this.#connection.callTool(tool, args, {
      signal: call?.signal,
      onProgress: (progress) => call?.progress?.(toProgress(progress)),
    });
    if (result.isError) call?.report?.({ ok: false, summary: "the server reported an error" });
    const { structuredContent: value } = result;
    const problem = result.isError || value === undefined ? undefined : valueProblem(tool, value);
    if (value !== undefined && problem === undefined) call?.report?.({ value });
    const text = resultText(tool.name, result, call?.attach, this.#spill);
    return problem === undefined
      ? text
      : `${text}\n\n[The data of the result is not as its schema says: ${problem}]`;
  }

  /** The messages of a prompt as one content. */
  async getPrompt(
    prompt: string,
    args: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Content> {
    const messages = await this.#connection.use(signal, (session, timeoutMs) =>
      session.getPrompt(prompt, args, { timeoutMs, signal }),
    );
    const parts = messages.filter(isRecord).flatMap(({ role, content }) => {
      const own = blockParts([content]);
      return role === "user" || messages.length === 1
        ? own
        : [{ type: "text" as const, text: `[${escapeToLine(String(role))}]` }, ...own];
    });
    return parts.length > 0 ? boundedParts(parts) : "(the prompt is empty)";
  }

  async listResources(signal: AbortSignal): Promise<MentionItem[]> {
    const resources = await this.#connection.use(signal, (session) => session.listResources(signal));
    return resources.flatMap(toItem);
  }

  async readResource(uri: string, signal: AbortSignal): Promise<Content> {
    const contents = await this.#connection.use(signal, (session, timeoutMs) =>
      session.readResource(uri, { timeoutMs, signal }),
    );
    const resources = contents.slice(0, MAX_CONTENTS).filter(isRecord);
    const parts = resources.flatMap((resource): ContentPart[] => {
      const attached: ContentPart[] = [];
      const text = resourceText(resource, (part) => attached.push(part));
      return [{ type: "text", text }, ...attached];
    });
    return boundedParts(parts);
  }

  async dispose(): Promise<void> {
    await this.#connection.dispose();
  }
}

function toProgress({ progress, total, message }: Progress): ToolProgress {
  return {
    ...(Number.isFinite(progress) && { done: progress }),
    ...(total !== undefined && Number.isFinite(total) && { total }),
    ...(typeof message === "string" && { message: escapeToLine(truncateUtf8(message, 500)) }),
  };
}

/** The problem with the data of a result, by the approved schema. */
function valueProblem({ outputSchema }: LockedTool, value: unknown): string | undefined {
  if (!isRecord(value)) return "it is not an object";
  return outputSchema && compileSchema(outputSchema, "outputSchema")(value);
}

function toItem(resource: unknown): MentionItem[] {
  if (!isRecord(resource) || typeof resource.uri !== "string") return [];
  // What cannot be displayed cannot be typed either.
  if (escapeToLine(resource.uri) !== resource.uri) return [];
  const label = [resource.title, resource.name, resource.description].find((one) => typeof one === "string");
  return [
    {
      id: resource.uri,
      ...(typeof label === "string" && { description: escapeToLine(truncateUtf8(label, 200)) }),
    },
  ];
}
