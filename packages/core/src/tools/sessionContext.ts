import { saveSession } from "../session.js";
import { requireString } from "../toolkit/arguments.js";
import { functionTool } from "../toolkit/functionTool.js";
import { countOf } from "../toolkit/words.js";
import type { ChatTool, ExecutableTool } from "./interface.js";
import type { ToolContext } from "./types.js";

/** Saves the conversation so far, so that it can be loaded and resumed later. */
export class SaveSessionContextTool implements ExecutableTool {
  readonly name = "save_session_context";
  readonly capabilities = ["write"] as const;
  readonly #context: ToolContext;

  constructor(context: ToolContext) {
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
    const { sessionContext, sessionContextFilePath, systemPrompt } = this.#context;
    await saveSession(sessionContextFilePath, { reason, systemPrompt, messages: sessionContext });
    return `Saved ${countOf(sessionContext.length, "message")} to ${sessionContextFilePath}`;
  }
}
