import { countOf, isRecord } from "@agent/internal";
import { saveSession } from "../conversation/session.js";
import { invalidArgument } from "../toolkit/hostOptions/checks.js";
import { functionTool } from "../toolkit/jsonSchema/functionTool.js";
import { requireString } from "../toolkit/modelArguments/arguments.js";
import type { ChatTool, ExecutableTool } from "./interface.js";
import type { ToolContext } from "./types.js";

// Frozen, so that all instances and their registries share it.
const CAPABILITIES = Object.freeze(["write"] as const);
const CONTEXT_KEYS = ["systemPrompt", "sessionContext", "sessionContextFilePath"];

/** Saves the conversation so far, so that it can be loaded and resumed later. */
export class SaveSessionContextTool implements ExecutableTool {
  readonly name = "save_session_context";
  readonly capabilities = CAPABILITIES;
  readonly #context: ToolContext;

  /** Throws unless the context has everything a session holds. */
  constructor(context: ToolContext) {
    checkContext(context);
    this.#context = context;
  }

  getSchema(): ChatTool {
    return functionTool(
      this.name,
      "Save the conversation so far to the session file, so that it can be resumed.",
      {
        reason: { type: "string", description: "Why it is saved now; kept in the file" },
      },
    );
  }

  async execute(args: Record<string, unknown>): Promise<string> {
    const reason = requireString(args, "reason");
    return await saveConversation(this.#context, reason);
  }
}

/** Saves the conversation where it is recorded, or to its own file. Resolves to the tool's text. */
export async function saveConversation(context: ToolContext, reason: string): Promise<string> {
  const { sessionContext: messages, sessionContextFilePath: path, systemPrompt, pending } = context;
  if (context.save) await context.save(reason);
  else await saveSession(path, { reason, systemPrompt, messages, ...(pending && { pending }) });
  return `Saved ${countOf(messages.length, "message")} to ${path}`;
}

function checkContext(context: ToolContext): void {
  const complete = isRecord(context) && CONTEXT_KEYS.every((key) => key in context);
  if (!complete) throw invalidArgument("context", `a ToolContext with ${CONTEXT_KEYS.join(", ")}`, context);
}
