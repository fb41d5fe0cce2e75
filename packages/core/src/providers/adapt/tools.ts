import { quote } from "@agent/internal";
import type { ChatTool, JsonSchema } from "../../tools/interface.js";
import type { ChatRequest } from "../interface.js";
import type { AdaptedSchema } from "./keywords.js";
import type { Notices } from "./notices.js";

/** A tool with its parameters in the form a server takes. */
export interface AdaptedTool {
  readonly name: string;
  readonly description: string | undefined;
  readonly parameters: JsonSchema;
  readonly strict: boolean;
}

/**
 * Adapts the tools of each request to a server, once a tool, and says what a schema lost. `server` names it in the
 * notice.
 */
export class ToolAdapter {
  readonly #server: string;
  readonly #adapt: (parameters: JsonSchema | undefined) => AdaptedSchema;
  readonly #notices: Notices;
  // Requests share the tools of a registry, and adapting a large schema takes longer than the rest of a request.
  readonly #adapted = new WeakMap<ChatTool, AdaptedTool>();

  constructor(
    server: string,
    adapt: (parameters: JsonSchema | undefined) => AdaptedSchema,
    notices: Notices,
  ) {
    this.#server = server;
    this.#adapt = adapt;
    this.#notices = notices;
  }

  all(request: Pick<ChatRequest, "tools" | "onNotice">): AdaptedTool[] {
    return request.tools.map((tool) => {
      const known = this.#adapted.get(tool);
      if (known) return known;
      const { name, description, parameters, strict } = tool.function;
      const { schema, leftOut } = this.#adapt(parameters);
      if (leftOut.length > 0) {
        this.#notices.say(
          request,
          `${this.#server} does not take ${leftOut.join(", ")} in the parameters of the tool ${quote(name)}: the model is not told about it. Calls are still checked against the whole schema.`,
        );
      }
      const adapted = { name, description, parameters: schema, strict: strict === true };
      this.#adapted.set(tool, adapted);
      return adapted;
    });
  }
}
